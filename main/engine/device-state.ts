// Training with the state on a device: weights and moments stay in its buffers from step to step, and the whole step, AdamW
// included, is one graph. Several micro-batches add their gradients up there first. Only the report comes back.

import { SCALARS, stepScalars } from './optimizer.ts';
import type { AdamWSettings } from './optimizer.ts';
import type { Flat, Group, ParameterLayout } from './parameters.ts';
import type { ProgramCache } from './program-cache.ts';
import { float, floats, scalarValue } from './session.ts';
import type { Feeds, Session, Value } from './session.ts';
import { applyGraph, readGraph, stepGraph, sumGraph } from './training-graphs.ts';
import { readReport } from './training-report.ts';
import type { MicroBatch, Poll, StateKeeper, StepReport, TrainingState } from './training-report.ts';

type Kind = 'values' | 'first' | 'second' | 'sum';
const KEPT = ['values', 'first', 'second'] as const;

export class DeviceState implements StateKeeper {
  readonly #layout: ParameterLayout;
  readonly #state: TrainingState;
  readonly #settings: AdamWSettings;
  readonly #programs: ProgramCache;
  /** The state as the sessions see it. */
  readonly #slots = new Map<`${Kind}.${Group}`, Value>();

  constructor(layout: ParameterLayout, state: TrainingState, settings: AdamWSettings, programs: ProgramCache) {
    this.#layout = layout;
    this.#state = state;
    this.#settings = settings;
    this.#programs = programs;
    for (const kind of KEPT) this.#upload(kind, state[kind]);
  }

  async step(batches: readonly MicroBatch[], learningRate: number, poll?: Poll): Promise<StepReport> {
    const scalars = stepScalars(this.#settings, learningRate, this.#state.step + 1);
    const feeds = Object.fromEntries(SCALARS.map((name) => [name, scalarValue(scalars[name])]));
    const [only] = batches;
    if (only && batches.length === 1) {
      await poll?.();
      const { session, metrics } = await this.#programs.get(`step ${only.key}`, () => stepGraph(only, this.#layout, this.#settings));
      return readReport(await this.#run(session, KEPT, { ...only.feeds, ...feeds }), metrics);
    }
    const report = await this.#sum(batches, poll);
    const { session } = await this.#programs.get('apply', () => applyGraph(this.#layout, this.#settings));
    const applied = await this.#run(session, KEPT, { ...feeds, ...this.#inputs(['sum']), loss: scalarValue(report.loss) });
    return { ...report, gradientNorm: readReport(applied, []).gradientNorm };
  }

  async gradients(batches: readonly MicroBatch[]): Promise<{ report: StepReport; gradients: Flat }> {
    const report = await this.#sum(batches);
    const sums = await this.#read('sum');
    const squares = this.#layout.groups.reduce((total, group) => sums[group].reduce((sum, x) => sum + x * x, total), 0);
    return { report: { ...report, gradientNorm: Math.sqrt(squares) }, gradients: sums };
  }

  async download(): Promise<void> {
    for (const kind of KEPT) {
      const current = await this.#read(kind);
      for (const group of this.#layout.groups) this.#state[kind][group].set(current[group]);
    }
  }

  dispose(): void {
    for (const value of this.#slots.values()) value.dispose();
    this.#slots.clear();
  }

  /** Adds the gradients of all micro-batches up in `sum`; losses and metrics add up as well. */
  async #sum(batches: readonly MicroBatch[], poll?: Poll): Promise<StepReport> {
    this.#upload('sum', this.#layout.zeros());
    let loss = 0;
    const totals: Record<string, number> = {};
    for (const batch of batches) {
      await poll?.();
      const { session, metrics } = await this.#programs.get(`sum ${batch.key}`, () => sumGraph(batch, this.#layout));
      const report = readReport(await this.#run(session, ['sum'], { ...batch.feeds, ...this.#inputs(['values']) }), metrics);
      loss += report.loss;
      for (const [name, number] of Object.entries(report.metrics)) totals[name] = (totals[name] ?? 0) + number;
    }
    return { loss, gradientNorm: 0, metrics: totals };
  }

  /** Runs a session that replaces the named parts of the state; returns its report. */
  async #run(session: Session, changed: readonly Kind[], feeds: Feeds): Promise<Float32Array> {
    const results = await session.run({ ...feeds, ...this.#inputs(changed) });
    for (const kind of changed) for (const group of this.#layout.groups) this.#replace(kind, group, results[`next.${kind}.${group}`]);
    const { report } = results;
    if (!report) throw new Error('The step gave no report');
    return floats(report);
  }

  #inputs(kinds: readonly Kind[]): Record<string, Value> {
    const inputs: Record<string, Value> = {};
    for (const kind of kinds) {
      for (const group of this.#layout.groups) {
        const value = this.#slots.get(`${kind}.${group}`);
        if (!value) throw new Error('The trainer was disposed and cannot step');
        inputs[`${kind}.${group}`] = value;
      }
    }
    return inputs;
  }

  #upload(kind: Kind, flat: Flat): void {
    for (const group of this.#layout.groups) this.#replace(kind, group, float(flat[group], [flat[group].length]));
  }

  #replace(kind: Kind, group: Group, value: Value | undefined): void {
    if (!value) throw new Error(`The step gave no next ${kind}`);
    const slot = `${kind}.${group}` as const;
    const old = this.#slots.get(slot);
    if (old && old.location !== 'cpu') old.dispose();
    this.#slots.set(slot, value);
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
