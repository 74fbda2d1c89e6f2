// Training with the state in plain memory: the session computes loss and gradients, AdamW runs here. Measured inside Electron, the
// runtime copies every result into fresh memory at about 1 ms per megabyte; so weights and moments are no results, and one loop over all
// parameters beats a dozen operators that each go through memory. Gradients are written into vectors in shared memory that are used again and again.

import { at } from '../../base/indexed.ts';
import { sideBySide } from './lane-shares.ts';
import { adamWFactors, adamWInPlace } from './optimizer.ts';
import type { AdamWSettings } from './optimizer.ts';
import type { Flat, ParameterLayout } from '../graph/parameters.ts';
import type { ProgramCache } from './program-cache.ts';
import { float, floats } from './session.ts';
import type { Feeds, SessionOptions } from './session.ts';
import { isShared } from './shared-memory.ts';
import { type StepGraph, gradientGraph, takesApart } from '../graph/training-graphs.ts';
import { addTo, sumOfSquares } from '../kernels/vectors.ts';
import { readReport } from './training-report.ts';
import type { MicroBatch, StateKeeper, StepReport, TrainingState } from './training-report.ts';

/** The vectors as values named as a gradient graph names them: each parameter's part of them, or the vectors whole. */
export function namedParts(layout: ParameterLayout, vectors: Flat, prefix: string, apart: boolean): Feeds {
  return Object.fromEntries(
    apart
      ? layout.specs.map(({ name, shape }) => [`${prefix}.${name}`, float(layout.view(vectors, name), shape)])
      : layout.groups.map((group) => [`${prefix}.${group}`, float(vectors[group], [layout.lengths[group]])]),
  );
}

/** The gradients of one micro-batch, or the sum of several. */
interface Gradients {
  readonly vectors: Flat;
  /** The same memory as results of the graph. */
  readonly results: Feeds;
}

export class HostState implements StateKeeper {
  readonly #layout: ParameterLayout;
  readonly #state: TrainingState;
  readonly #settings: AdamWSettings;
  readonly #programs: ProgramCache;
  readonly #apart: boolean;
  /** Gradients that nobody reads any more. */
  readonly #free: Gradients[] = [];
  readonly #weights: Feeds;
  #shared: { readonly vectors: Flat; readonly feeds: Feeds } | undefined;

  constructor(layout: ParameterLayout, state: TrainingState, settings: AdamWSettings, programs: ProgramCache, session: SessionOptions) {
    this.#apart = takesApart(layout, session.target);
    this.#layout = layout;
    this.#state = state;
    this.#settings = settings;
    this.#programs = programs;
    this.#weights = namedParts(layout, state.values, 'values', this.#apart);
  }

  async step(batches: readonly MicroBatch[], learningRate: number, signal?: AbortSignal): Promise<StepReport> {
    const { report, sum } = await this.#gradients(batches, signal);
    if (Number.isFinite(report.loss) && Number.isFinite(report.gradientNorm)) {
      for (const group of this.#layout.groups) {
        const { values, first, second, step } = this.#state;
        const vectors = { values: values[group], first: first[group], second: second[group], gradient: sum.vectors[group] };
        const rates = { learningRate, step: step + 1, norm: report.gradientNorm, decay: group === 'decay' };
        await adamWInPlace(vectors, adamWFactors(this.#settings, rates), this.#programs.lanes);
      }
    }
    this.#free.push(sum);
    return report;
  }

  async gradients(batches: readonly MicroBatch[]): Promise<{ report: StepReport; gradients: Flat }> {
    const { report, sum } = await this.#gradients(batches);
    const gradients = { decay: sum.vectors.decay.slice(), plain: sum.vectors.plain.slice() };
    this.#free.push(sum);
    return { report, gradients };
  }

  /** The state is always here. */
  async download(): Promise<void> {}

  async dispose(): Promise<void> {}

  /** The gradients of all micro-batches, added up in their order; losses and metrics add up as well. */
  async #gradients(batches: readonly MicroBatch[], signal?: AbortSignal): Promise<{ report: StepReport; sum: Gradients }> {
    let sum: Gradients | undefined;
    const metrics: Record<string, number> = {};
    let loss = 0;
    const add = ({ report, gradients }: Part): void => {
      loss += report.loss;
      for (const [name, number] of Object.entries(report.metrics)) metrics[name] = (metrics[name] ?? 0) + number;
      if (sum) {
        for (const group of this.#layout.groups) addTo(sum.vectors[group], gradients.vectors[group]);
        this.#free.push(gradients);
      } else sum = gradients;
    };
    const lanes = Math.min(this.#programs.lanes, batches.length);
    const weights = lanes > 1 ? this.#shareWeights() : this.#weights;
    await sideBySide({
      pieces: batches.map(({ key, feeds }) => ({ key, cost: Object.values(feeds).reduce((total, { size }) => total + size, 0) })),
      lanes,
      signal,
      compute: (index, lane) => this.#part(at(batches, index), weights, lane),
      done: add,
    });
    const total = sum;
    if (!total) throw new RangeError('A step needs at least one micro-batch, found none');
    const squares = this.#layout.groups.map((group) => sumOfSquares(total.vectors[group]));
    const gradientNorm = Math.sqrt(squares.reduce((all, more) => all + more, 0));
    return { report: { loss, gradientNorm, metrics }, sum: total };
  }

  #part(batch: MicroBatch, weights: Feeds, lane?: number): Promise<Part> {
    const build = (): StepGraph => gradientGraph(batch, this.#layout, this.#apart);
    return this.#programs.use(`gradient ${batch.key}`, build, lane, async ({ session, metrics }) => {
      const gradients = this.#free.pop() ?? this.#fresh();
      const { report } = await session.run({ ...batch.feeds, ...weights }, { ...gradients.results, report: null });
      if (!report) throw new Error(`The training step "${batch.key}" returned no report`);
      return { report: readReport(floats(report), metrics), gradients };
    });
  }

  #fresh(): Gradients {
    const vectors = this.#layout.zeros();
    return { vectors, results: namedParts(this.#layout, vectors, 'gradient', this.#apart) };
  }

  /** The weights as they are now, in memory that all lanes see: where they are, unless somebody has put the state elsewhere. */
  #shareWeights(): Feeds {
    const { decay, plain } = this.#state.values;
    if (isShared(decay) && isShared(plain)) return this.#weights;
    if (!this.#shared) {
      const vectors = this.#layout.zeros();
      this.#shared = { vectors, feeds: namedParts(this.#layout, vectors, 'values', this.#apart) };
    }
    this.#shared.vectors.decay.set(decay);
    this.#shared.vectors.plain.set(plain);
    return this.#shared.feeds;
  }
}

/** What one micro-batch gives. */
interface Part {
  readonly report: StepReport;
  readonly gradients: Gradients;
}
