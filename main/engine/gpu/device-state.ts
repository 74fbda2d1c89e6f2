// Training with the state on a device: weights and moments stay in its buffers from step to step, and the whole step, AdamW
// included, is one graph. Several micro-batches add their gradients and reports up there first: nothing of them comes back, so the host
// prepares the next one while the device works. Only the report of the whole step comes back. Each part of the state
// has two buffers: a step reads one and writes the other. They belong to no training session, so any of those may be given up at any time
// (a buffer that outlives the session that made it takes the process down).

import { DeviceBuffers } from './device-buffers.ts';
import { DeviceParameters } from './device-parameters.ts';
import { SCALARS, stepScalars } from '../runtime/optimizer.ts';
import type { AdamWSettings } from '../runtime/optimizer.ts';
import type { Flat, Group, ParameterLayout } from '../graph/parameters.ts';
import type { ProgramCache } from '../runtime/program-cache.ts';
import { float, floats, scalarValue } from '../runtime/session.ts';
import type { Feeds, Fetches, Session, SessionOptions, Value } from '../runtime/session.ts';
import { applyGraph, readGraph, reportsGraph, stepGraph, sumGraph } from '../graph/training-graphs.ts';
import { readReport } from '../runtime/training-report.ts';
import type { MicroBatch, StateKeeper, StepReport, TrainingState } from '../runtime/training-report.ts';

type Kind = 'values' | 'first' | 'second' | 'sum';
type Slot = `${Kind}.${Group}`;
const KEPT = ['values', 'first', 'second'] as const;

interface Pair {
  current: Value;
  spare: Value;
}

function swap(pair: Pair): void {
  [pair.current, pair.spare] = [pair.spare, pair.current];
}

export class DeviceState implements StateKeeper {
  readonly parameters: DeviceParameters;
  readonly #layout: ParameterLayout;
  readonly #state: TrainingState;
  readonly #settings: AdamWSettings;
  readonly #programs: ProgramCache;
  readonly #buffers: DeviceBuffers;
  readonly #slots = new Map<Slot, Pair>();
  readonly #reportPairs = new Map<number, Pair>();
  /** Whether the arrays in plain memory are those of before. */
  #changed = false;
  #disposed = false;

  constructor(
    layout: ParameterLayout,
    state: TrainingState,
    settings: AdamWSettings,
    programs: ProgramCache,
    session: SessionOptions = {},
  ) {
    this.#layout = layout;
    this.#state = state;
    this.#settings = settings;
    this.#programs = programs;
    this.#buffers = new DeviceBuffers(session);
    this.parameters = new DeviceParameters(layout, session, async () => {
      await this.#begin(['values']);
      return this.#inputs(['values']);
    });
  }

  async step(batches: readonly MicroBatch[], learningRate: number, signal?: AbortSignal): Promise<StepReport> {
    await this.#begin(KEPT);
    this.parameters.changed();
    this.#changed = true;
    const scalars = stepScalars(this.#settings, learningRate, this.#state.step + 1);
    const feeds = Object.fromEntries(SCALARS.map((name) => [name, scalarValue(scalars[name])]));
    const [only] = batches;
    if (only && batches.length === 1) {
      const { session, metrics } = await this.#programs.get(`step ${only.key}`, () => stepGraph(only, this.#layout, this.#settings));
      signal?.throwIfAborted();
      return readReport(await this.#run(session, KEPT, { ...only.feeds, ...feeds }), metrics);
    }
    const { reports, metrics } = await this.#sum(batches, signal);
    const length = metrics.length + 2;
    const { session } = await this.#programs.get(`apply ${length}`, () => applyGraph(this.#layout, this.#settings, length));
    return readReport(await this.#run(session, KEPT, { ...feeds, ...this.#inputs(['sum']), reports: reports.current }), metrics);
  }

  async gradients(batches: readonly MicroBatch[]): Promise<{ report: StepReport; gradients: Flat }> {
    await this.#begin(KEPT);
    const { reports, metrics } = await this.#sum(batches);
    const length = metrics.length + 2;
    const { session } = await this.#programs.get(`read reports ${length}`, () => reportsGraph(length));
    const { report: numbers } = await session.run({ reports: reports.current });
    if (!numbers) throw new Error('The step gave no report');
    const report = readReport(floats(numbers), metrics);
    const sums = await this.#read('sum');
    const squares = this.#layout.groups.reduce((total, group) => sums[group].reduce((sum, x) => sum + x * x, total), 0);
    return { report: { ...report, gradientNorm: Math.sqrt(squares) }, gradients: sums };
  }

  async download(): Promise<void> {
    if (!this.#changed) return;
    for (const kind of KEPT) {
      const current = await this.#read(kind);
      for (const group of this.#layout.groups) this.#state[kind][group].set(current[group]);
    }
    this.#changed = false;
  }

  async dispose(): Promise<void> {
    this.#disposed = true;
    this.#slots.clear();
    this.#reportPairs.clear();
    await this.parameters.dispose();
    await this.#buffers.dispose();
  }

  /** Takes the named parts of the state to the device, where they are not there yet. */
  async #begin(kinds: readonly Kind[]): Promise<void> {
    if (this.#disposed) throw new Error('The trainer was disposed and cannot step');
    for (const kind of kinds) {
      for (const group of this.#layout.groups) {
        const slot: Slot = `${kind}.${group}`;
        if (this.#slots.has(slot)) continue;
        const numbers = kind === 'sum' ? new Float32Array(this.#layout.lengths[group]) : this.#state[kind][group];
        const current = await this.#buffers.upload(float(numbers, [numbers.length]));
        this.#slots.set(slot, { current, spare: await this.#buffers.upload(current) });
      }
    }
  }

  /** Adds the gradients of all micro-batches up in `sum`; losses and metrics add up as well, in `reports`. */
  async #sum(batches: readonly MicroBatch[], signal?: AbortSignal): Promise<{ reports: Pair; metrics: readonly string[] }> {
    await this.#begin(['sum']);
    let summed: { reports: Pair; metrics: readonly string[] } | undefined;
    for (const [index, batch] of batches.entries()) {
      const { session, metrics } = await this.#programs.get(`sum ${batch.key}`, () => sumGraph(batch, this.#layout));
      summed ??= { reports: await this.#reports(metrics.length + 2), metrics };
      signal?.throwIfAborted();
      const { reports } = summed;
      const feeds = { ...batch.feeds, ...this.#inputs(['values']), fresh: scalarValue(Number(index === 0)), reports: reports.current };
      await this.#replace(session, ['sum'], feeds, { 'next.reports': reports.spare });
      swap(reports);
    }
    if (!summed) throw new RangeError('A step needs at least one micro-batch, found none');
    return summed;
  }

  /** Where reports of so many numbers are summed. */
  async #reports(length: number): Promise<Pair> {
    let pair = this.#reportPairs.get(length);
    if (!pair) {
      const current = await this.#buffers.upload(float(new Float32Array(length), [length]));
      pair = { current, spare: await this.#buffers.upload(current) };
      this.#reportPairs.set(length, pair);
    }
    return pair;
  }

  /** Runs a session that replaces the named parts of the state; returns its report. */
  async #run(session: Session, changed: readonly Kind[], feeds: Feeds): Promise<Float32Array> {
    const { report } = await this.#replace(session, changed, feeds, { report: null });
    if (!report) throw new Error('The step gave no report');
    return floats(report);
  }

  async #replace(session: Session, changed: readonly Kind[], feeds: Feeds, more: Fetches): Promise<Feeds> {
    const slots = changed.flatMap((kind) => this.#layout.groups.map((group): Slot => `${kind}.${group}`));
    const fetches = Object.fromEntries(slots.map((slot) => [`next.${slot}`, this.#pair(slot).spare]));
    const results = await session.run({ ...feeds, ...this.#inputs(changed) }, { ...fetches, ...more });
    for (const slot of slots) swap(this.#pair(slot));
    return results;
  }

  #inputs(kinds: readonly Kind[]): Record<string, Value> {
    const slots = kinds.flatMap((kind) => this.#layout.groups.map((group): Slot => `${kind}.${group}`));
    return Object.fromEntries(slots.map((slot) => [slot, this.#pair(slot).current]));
  }

  #pair(slot: Slot): Pair {
    const pair = this.#slots.get(slot);
    if (!pair) throw new Error('The training state is not on the device');
    return pair;
  }

  /** A copy on the CPU. A device buffer must not be read directly (that aborts the process), but through a session. */
  async #read(kind: Kind): Promise<Flat> {
    const { session } = await this.#programs.get(`read ${kind}`, () => readGraph(this.#layout, kind));
    const results = await session.run(this.#inputs([kind]));
    const flat = this.#layout.zeros();
    for (const group of this.#layout.groups) {
      const result = results[`read.${group}`];
      if (result) flat[group].set(floats(result));
    }
    return flat;
  }
}
