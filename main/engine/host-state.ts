// Training with the state in plain memory: the session computes loss and gradients, AdamW runs here. Measured inside Electron, the
// runtime copies every result into fresh memory at about 1 ms per megabyte; handing back gradients alone instead of weights and
// two moments saves two thirds of that, and one loop over all parameters beats a dozen operators that each go through memory.

import { at } from '../indexed.ts';
import { sideBySide } from './lane-shares.ts';
import { sharedNumbers } from './lanes.ts';
import { adamWInPlace } from './optimizer.ts';
import type { AdamWSettings } from './optimizer.ts';
import type { Flat, ParameterLayout } from './parameters.ts';
import type { ProgramCache } from './program-cache.ts';
import { float, floats, release } from './session.ts';
import type { Feeds, Value } from './session.ts';
import { type StepGraph, gradientGraph } from './training-graphs.ts';
import { addTo, sumOfSquares } from './vector-loops.ts';
import { readReport } from './training-report.ts';
import type { MicroBatch, Poll, StateKeeper, StepReport, TrainingState } from './training-report.ts';

export class HostState implements StateKeeper {
  readonly #layout: ParameterLayout;
  readonly #state: TrainingState;
  readonly #settings: AdamWSettings;
  readonly #programs: ProgramCache;
  readonly #weights: Feeds;
  #shared: Feeds | undefined;

  constructor(layout: ParameterLayout, state: TrainingState, settings: AdamWSettings, programs: ProgramCache) {
    this.#layout = layout;
    this.#state = state;
    this.#settings = settings;
    this.#programs = programs;
    this.#weights = Object.fromEntries(
      layout.groups.map((group) => [`values.${group}`, float(state.values[group], [layout.lengths[group]])]),
    );
  }

  async step(batches: readonly MicroBatch[], learningRate: number, poll?: Poll): Promise<StepReport> {
    const { report, sums } = await this.#gradients(batches, poll);
    if (Number.isFinite(report.loss) && Number.isFinite(report.gradientNorm)) {
      for (const group of this.#layout.groups) {
        const { values, first, second, step } = this.#state;
        const part = { values: values[group], first: first[group], second: second[group], gradient: floats(lookupValue(sums, group)) };
        adamWInPlace(part, this.#settings, { learningRate, step: step + 1, norm: report.gradientNorm, decay: group === 'decay' });
      }
    }
    for (const sum of Object.values(sums)) release(sum);
    return report;
  }

  async gradients(batches: readonly MicroBatch[]): Promise<{ report: StepReport; gradients: Flat }> {
    const { report, sums } = await this.#gradients(batches);
    const gradients = this.#layout.zeros();
    for (const group of this.#layout.groups) gradients[group].set(floats(lookupValue(sums, group)));
    for (const sum of Object.values(sums)) release(sum);
    return { report, gradients };
  }

  /** The state is always here. */
  async download(): Promise<void> {}

  async dispose(): Promise<void> {}

  /** The gradients of all micro-batches, added up in their order; losses and metrics add up as well. */
  async #gradients(batches: readonly MicroBatch[], poll?: Poll): Promise<{ report: StepReport; sums: Record<string, Value> }> {
    const sums: Record<string, Value> = {};
    const metrics: Record<string, number> = {};
    let loss = 0;
    const add = ({ report, gradients }: Part): void => {
      loss += report.loss;
      for (const [name, number] of Object.entries(report.metrics)) metrics[name] = (metrics[name] ?? 0) + number;
      for (const [group, gradient] of Object.entries(gradients)) {
        const sum = sums[group];
        if (sum) {
          addTo(floats(sum), floats(gradient));
          release(gradient);
        } else sums[group] = gradient;
      }
    };
    const lanes = Math.min(this.#programs.lanes, batches.length);
    const weights = lanes > 1 ? this.#shareWeights() : this.#weights;
    await sideBySide({
      pieces: batches.map(({ key, feeds }) => ({ key, cost: Object.values(feeds).reduce((sum, { size }) => sum + size, 0) })),
      lanes,
      poll,
      compute: (index, lane) => this.#part(at(batches, index), weights, lane),
      done: add,
    });
    const gradientNorm = Math.sqrt(Object.values(sums).reduce((total, sum) => total + sumOfSquares(floats(sum)), 0));
    return { report: { loss, gradientNorm, metrics }, sums };
  }

  #part(batch: MicroBatch, weights: Feeds, lane?: number): Promise<Part> {
    const build = (): StepGraph => gradientGraph(batch, this.#layout);
    return this.#programs.use(`gradient ${batch.key}`, build, lane, async ({ session, metrics }) => {
      const results = await session.run({ ...batch.feeds, ...weights });
      const report = readReport(floats(lookupValue(results, 'report')), metrics);
      const gradients = Object.fromEntries(this.#layout.groups.map((group) => [group, lookupValue(results, `gradient.${group}`)]));
      return { report, gradients };
    });
  }

  /** The weights as they are now, in memory that all lanes see. */
  #shareWeights(): Feeds {
    this.#shared ??= Object.fromEntries(
      Object.entries(this.#weights).map(([name, weights]) => [name, float(sharedNumbers(floats(weights).length), weights.dims)]),
    );
    for (const [name, shared] of Object.entries(this.#shared)) floats(shared).set(floats(lookupValue(this.#weights, name)));
    return this.#shared;
  }
}

/** What one micro-batch gives. */
interface Part {
  readonly report: StepReport;
  readonly gradients: Readonly<Record<string, Value>>;
}

function lookupValue(values: Readonly<Record<string, Value>>, name: string): Value {
  const value = values[name];
  if (!value) throw new Error(`The training step gave no "${name}"`);
  return value;
}
