// Training with the state on a device: weights and moments stay in its buffers from step to step, and the whole step, AdamW
// included, is one graph. Several micro-batches add their gradients up there first. Only the report comes back. Each part of the state
// has two buffers: a step reads one and writes the other. They belong to no training session, so any of those may be given up at any time
// (a buffer that outlives the session that made it takes the process down).

import { DeviceBuffers } from './device-buffers.ts';
import { DeviceParameters } from './device-parameters.ts';
import { SCALARS, stepScalars } from './optimizer.ts';
import type { AdamWSettings } from './optimizer.ts';
import type { Flat, Group, ParameterLayout } from './parameters.ts';
import type { ProgramCache } from './program-cache.ts';
import { float, floats, scalarValue } from './session.ts';
import type { Feeds, Session, SessionOptions, Value } from './session.ts';
import { applyGraph, readGraph, stepGraph, sumGraph } from './training-graphs.ts';
import { readReport } from './training-report.ts';
import type { MicroBatch, Poll, StateKeeper, StepReport, TrainingState } from './training-report.ts';

type Kind = 'values' | 'first' | 'second' | 'sum';
type Slot = `${Kind}.${Group}`;
const KEPT = ['values', 'first', 'second'] as const;

interface Pair {
  current: Value;
  spare: Value;
}

export class DeviceState implements StateKeeper {
  readonly parameters: DeviceParameters;
  readonly #layout: ParameterLayout;
  readonly #state: TrainingState;
  readonly #settings: AdamWSettings;
  readonly #programs: ProgramCache;
  readonly #buffers: DeviceBuffers;
  readonly #slots = new Map<Slot, Pair>();
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

  async step(batches: readonly MicroBatch[], learningRate: number, poll?: Poll): Promise<StepReport> {
    await this.#begin(KEPT);
    this.parameters.changed();
    this.#changed = true;
    const scalars = stepScalars(this.#settings, learningRate, this.#state.step + 1);
    const feeds = Object.fromEntries(SCALARS.map((name) => [name, scalarValue(scalars[name])]));
    const [only] = batches;
    if (only && batches.length === 1) {
      const { session, metrics } = await this.#programs.get(`step ${only.key}`, () => stepGraph(only, this.#layout, this.#settings));
      await poll?.();
      return readReport(await this.#run(session, KEPT, { ...only.feeds, ...feeds }), metrics);
    }
    const report = await this.#sum(batches, poll);
    const { session } = await this.#programs.get('apply', () => applyGraph(this.#layout, this.#settings));
    const applied = await this.#run(session, KEPT, { ...feeds, ...this.#inputs(['sum']), loss: scalarValue(report.loss) });
    return { ...report, gradientNorm: readReport(applied, []).gradientNorm };
  }

  async gradients(batches: readonly MicroBatch[]): Promise<{ report: StepReport; gradients: Flat }> {
    await this.#begin(KEPT);
    const report = await this.#sum(batches);
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

  /** Adds the gradients of all micro-batches up in `sum`; losses and metrics add up as well. */
  async #sum(batches: readonly MicroBatch[], poll?: Poll): Promise<StepReport> {
    await this.#begin(['sum']);
    let loss = 0;
    const totals: Record<string, number> = {};
    for (const [index, batch] of batches.entries()) {
      const { session, metrics } = await this.#programs.get(`sum ${batch.key}`, () => sumGraph(batch, this.#layout));
      await poll?.();
      const feeds = { ...batch.feeds, ...this.#inputs(['values']), fresh: scalarValue(Number(index === 0)) };
      const report = readReport(await this.#run(session, ['sum'], feeds), metrics);
      loss += report.loss;
      for (const [name, number] of Object.entries(report.metrics)) totals[name] = (totals[name] ?? 0) + number;
    }
    return { loss, gradientNorm: 0, metrics: totals };
  }

  /** Runs a session that replaces the named parts of the state; returns its report. */
  async #run(session: Session, changed: readonly Kind[], feeds: Feeds): Promise<Float32Array> {
    const slots = changed.flatMap((kind) => this.#layout.groups.map((group): Slot => `${kind}.${group}`));
    const fetches = Object.fromEntries(slots.map((slot) => [`next.${slot}`, this.#pair(slot).spare]));
    const { report } = await session.run({ ...feeds, ...this.#inputs(changed) }, { ...fetches, report: null });
    if (!report) throw new Error('The step gave no report');
    for (const slot of slots) {
      const pair = this.#pair(slot);
      [pair.current, pair.spare] = [pair.spare, pair.current];
    }
    return floats(report);
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
