// One improvement of the policy: what the episodes were worth to the reference and the critic (scoring), what the algorithm
// makes of it (prepare), and the optimizer steps over it (epochs and minibatches, where the algorithm has several).

import { at, field } from '../base/indexed.ts';
import type { Prepared, Progress } from '../algorithm/algorithm.ts';
import type { DeviceCounters } from '../engine/gpu/device-counters.ts';
import { sideBySide } from '../engine/runtime/lane-shares.ts';
import type { Flat } from '../engine/graph/parameters.ts';
import type { MemoryPool } from '../engine/runtime/session-cache.ts';
import type { Trainer } from '../engine/runtime/training-step.ts';
import type { FedBatch } from '../policy/transformer/batch.ts';
import type { ActingWeights } from '../policy/sampling/open-sampler.ts';
import { Scorer } from '../policy/transformer/scorer.ts';
import { networkOf } from '../policy/transformer/network.ts';
import { Random } from '../base/random.ts';
import type { Episode } from '../rollout/episode.ts';
import type { Trajectory } from '../rollout/trajectory.ts';
import {
  type LearningReport,
  type LossDefinition,
  MinibatchTrainer,
  type TrainingEpisode,
  minibatchSettings,
} from './batching/minibatch.ts';
import { neverAborted } from './abort.ts';
import type { RunSetup } from './run-setup.ts';

/**
 * Rows of a batch that is scored on the CPU. What is computed of a row does not depend on the others, so the numbers are those of larger
 * batches; a session of 32 rows would hold 100 MB where one of 8 holds 30, and there are two for every shape (reference and critic).
 */
const SCORED_ROWS = 8;
const NONE = new Float32Array();

interface LearningOptions {
  readonly update: number;
  readonly learningRate: number;
  readonly signal?: AbortSignal;
}

export class Learner {
  readonly #setup: RunSetup;
  readonly #trainer: Trainer;
  readonly #playsFromState: boolean;
  readonly #minibatches: MinibatchTrainer;
  readonly #reference: Scorer;
  readonly #critic: Scorer;
  readonly #counters: DeviceCounters | undefined;

  constructor(
    setup: RunSetup,
    trainer: Trainer,
    policy: ActingWeights,
    reference: ActingWeights,
    { playsFromState = false, ...options }: { threads: number; sessions: number; pool?: MemoryPool; playsFromState?: boolean },
  ) {
    this.#setup = setup;
    this.#trainer = trainer;
    this.#playsFromState = playsFromState;
    this.#minibatches = new MinibatchTrainer(trainer, setup.model, minibatchSettings(setup.config, setup.model));
    this.#reference = new Scorer(setup.referenceModel, reference, options);
    this.#critic = new Scorer(setup.model, policy, options);
    this.#counters = trainer.parameters?.session.counters;
  }

  /**
   * Fills in what the algorithm needs to know of each token: log π_ref, and the critic's value. Where sampling is approximate, the policy's
   * log-probabilities are computed again as training computes them; how far the sampler's were off is a metric.
   */
  async score(episodes: readonly Episode[], signal = neverAborted()): Promise<Record<string, number>> {
    return this.#counted(() => this.#score(episodes, signal));
  }

  async #score(episodes: readonly Episode[], signal: AbortSignal): Promise<Record<string, number>> {
    const { needs } = this.#setup.algorithm;
    const { model } = this.#setup;
    let [gap, tokens] = [0, 0];
    if (networkOf(model).approximateSampling) {
      await this.#scoreWith(this.#critic, 'logProbs', episodes, signal, (trajectory, { logProbs }) => {
        share(trajectory, logProbs, (step, exact) => {
          gap += exact.reduce((sum, number, i) => sum + Math.abs(number - at(step.logProbs, i)), 0);
          tokens += exact.length;
          step.logProbs = exact;
        });
      });
    }
    if (needs.reference !== 'none') {
      await this.#scoreWith(this.#reference, 'logProbs', episodes, signal, (trajectory, { logProbs }) => {
        share(trajectory, logProbs, (step, numbers) => (step.referenceLogProbs = numbers));
      });
    }
    if (needs.critic) {
      await this.#scoreWith(this.#critic, 'values', episodes, signal, (trajectory, { values }) => {
        if (!values) throw new Error('The algorithm needs a critic, but the model has no value head');
        share(trajectory, values, (step, numbers) => (step.values = numbers));
      });
    }
    return tokens > 0 ? { 'rollout.samplingGap': gap / tokens } : {};
  }

  /** What the algorithm makes of the episodes; the advantages are noted on the trajectories, for replay. */
  prepare(episodes: readonly Episode[], progress: Progress): Prepared {
    const trajectories = episodes.map(({ trajectory }) => trajectory);
    const prepared = this.#setup.algorithm.prepare(trajectories, progress);
    const whole = prepared.episode.advantage ?? prepared.distributions.advantage;
    const perToken = prepared.token.advantage;
    for (const [index, trajectory] of trajectories.entries()) {
      if (whole?.length === trajectories.length) trajectory.advantage = at(whole, index);
      const numbers = perToken?.[index];
      if (numbers) share(trajectory, numbers, (tokens, part) => (tokens.advantages = part));
    }
    return prepared;
  }

  /**
   * The optimizer steps of one update. Undefined when the algorithm kept no episode: then there is nothing to learn. The signal counts as
   * long as the weights have not changed.
   */
  async update(episodes: readonly Episode[], prepared: Prepared, options: LearningOptions): Promise<LearningReport | undefined> {
    return this.#counted(() => this.#update(episodes, prepared, options));
  }

  async #update(
    episodes: readonly Episode[],
    prepared: Prepared,
    { update, learningRate, signal = neverAborted() }: LearningOptions,
  ): Promise<LearningReport | undefined> {
    const { config, algorithm } = this.#setup;
    const samples = episodes.flatMap(({ rows }, index) => (prepared.keep[index] ? [sample(rows, prepared, index)] : []));
    if (samples.length === 0) return undefined;
    const objective = this.#objective();
    await this.#minibatches.hold(samples);
    const reports: LearningReport[] = [];
    for (let epoch = 0; epoch < algorithm.needs.epochs; epoch++) {
      const count = Math.min(algorithm.needs.minibatches, samples.length);
      const order = count > 1 ? Random.from('minibatches', config.seed, update, epoch).shuffle(samples) : samples;
      for (let part = 0; part < count; part++) {
        const from = Math.floor((part * order.length) / count);
        const to = Math.floor(((part + 1) * order.length) / count);
        const early = reports.length === 0 ? signal : undefined;
        try {
          reports.push(await this.#minibatches.step(order.slice(from, to), objective, learningRate, early));
        } finally {
          this.#reference.freeLogits();
        }
      }
    }
    if (this.#playsFromState) await this.#trainer.download();
    return average(reports);
  }

  /** The gradient of the algorithm's loss over all episodes it keeps, without a step; undefined when it keeps none. */
  async gradient(episodes: readonly Episode[], prepared: Prepared): Promise<Flat | undefined> {
    const samples = episodes.flatMap(({ rows }, index) => (prepared.keep[index] ? [sample(rows, prepared, index)] : []));
    if (samples.length === 0) return undefined;
    try {
      return await this.#minibatches.gradient(samples, this.#objective());
    } finally {
      this.#reference.freeLogits();
    }
  }

  async dispose(): Promise<void> {
    await this.#reference.dispose();
    await this.#critic.dispose();
    await this.#minibatches.dispose();
  }

  /** What travels to a device and back meanwhile is counted as learning. */
  #counted<T>(work: () => Promise<T>): Promise<T> {
    return this.#counters?.learning(work) ?? work();
  }

  #objective(): LossDefinition {
    const { algorithm } = this.#setup;
    const full = algorithm.needs.reference === 'full';
    return {
      name: algorithm.id,
      options: { referenceLogits: full },
      loss: (graph, policy, input) => algorithm.loss(graph, policy, input),
      ...(full && {
        extra: async (packed: FedBatch) => ({ referenceLogits: await this.#reference.logits(packed) }),
      }),
    };
  }

  async #scoreWith(
    scorer: Scorer,
    wanted: 'logProbs' | 'values',
    episodes: readonly Episode[],
    signal: AbortSignal,
    note: (trajectory: Trajectory, scores: { logProbs: Float32Array; values: Float32Array | undefined }) => void,
  ): Promise<void> {
    const { device, policy: kind } = this.#setup.config;
    const most = device === 'cpu' && kind.kind === 'scratch' ? SCORED_ROWS : undefined;
    await this.#minibatches.hold(episodes.map(({ rows }) => ({ rows })));
    const batches = this.#minibatches.cut(episodes, this.#objective(), most);
    await sideBySide({
      pieces: batches.map(({ shape }) => ({ key: Object.values(shape).join('×'), cost: (shape.trees ?? shape.rows) * shape.time })),
      lanes: scorer.lanes,
      signal,
      compute: (index, lane) => {
        const { part, shape } = at(batches, index);
        return scorer.score(this.#minibatches.batch(part, shape), { only: wanted, lane });
      },
      done({ logProbs, values }, batch) {
        for (const [index, { trajectory }] of at(batches, batch).part.entries()) {
          note(trajectory, { logProbs: logProbs[index] ?? NONE, values: values?.[index] });
        }
      },
    });
  }
}

/** Cuts an episode's numbers into its steps. */
function share(
  trajectory: Trajectory,
  numbers: Float32Array,
  put: (tokens: Trajectory['steps'][number]['tokens'], part: Float32Array) => void,
): void {
  let offset = 0;
  for (const { tokens } of trajectory.steps) {
    put(tokens, numbers.slice(offset, offset + tokens.ids.length));
    offset += tokens.ids.length;
  }
}

function sample(rows: TrainingEpisode['rows'], prepared: Prepared, index: number): TrainingEpisode {
  return {
    rows,
    episode: Object.fromEntries(Object.entries(prepared.episode).map(([name, values]) => [name, at(values, index)])),
    token: Object.fromEntries(Object.entries(prepared.token).map(([name, lists]) => [name, at(lists, index)])),
  };
}

/** Means over the optimizer steps of an update. */
function average(reports: readonly LearningReport[]): LearningReport {
  const mean = (of: (report: LearningReport) => number): number => reports.reduce((sum, report) => sum + of(report), 0) / reports.length;
  const names = Object.keys(at(reports, 0).metrics);
  const shrunkTo = reports.findLast((report) => report.shrunkTo !== undefined)?.shrunkTo;
  return {
    loss: mean((report) => report.loss),
    gradientNorm: mean((report) => report.gradientNorm),
    metrics: Object.fromEntries(names.map((name) => [name, mean((report) => field(report.metrics, name))])),
    ...(shrunkTo !== undefined && { shrunkTo }),
  };
}
