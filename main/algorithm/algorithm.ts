// The one interface of all algorithms. An algorithm is two pure functions and its settings: `prepare` turns trajectories into
// plain numbers (advantages, weights, returns), `loss` turns those numbers and the policy's tensors into a scalar in the
// engine's graph. Everything else (sampling, V*, schedules, the optimizer) belongs to the training loop, so that two
// algorithms differ only in what their formulas say.
//
// Two rules keep gradient accumulation and padding exact:
// - a loss or metric is a sum over its micro-batch divided by a count over the whole UPDATE (`episodeMean`, `tokenMean`), so
//   the results of micro-batches simply add up;
// - a padding episode or token, all of whose inputs are 0, adds nothing to any of them.

import type { z } from 'zod';
import type { Graph, Tensor } from '../engine/graph/graph.ts';
import type { PolicyTensors } from '../policy/transformer/batch.ts';
import { agentTokenCount, logProbability, type Trajectory } from '../rollout/trajectory.ts';
import { deviation, mean } from '../base/statistics.ts';
import type { Branches } from './credit.ts';
import { rewardOf, type RewardKind } from './vstar.ts';

/** What an algorithm asks the training loop for. */
export interface Needs {
  /** V* of every task, on `trajectory.vstar`, before `prepare`. */
  readonly vstar: boolean;
  /** The frozen reference: not at all, log π_ref of the sampled tokens (on `tokens.referenceLogProbs`), or its full distribution (`policy.kl`). */
  readonly reference: 'none' | 'tokens' | 'full';
  /** Updates after which the reference becomes the policy as it is then; without it the reference stays frozen. */
  readonly referenceLag?: number | undefined;
  /** A value head, and `tokens.values` filled in before `prepare`. */
  readonly critic: boolean;
  /** Rollouts per task in one update. */
  readonly group: number;
  /** Passes over one update's episodes, and optimizer steps per pass. */
  readonly epochs: number;
  readonly minibatches: number;
  /** Continuations from the state before every turn, and whose: given to `prepare` as `progress.branches`. */
  readonly branches?: { readonly count: number; readonly by: 'policy' | 'reference' } | undefined;
}

/** What `prepare` knows beside the trajectories. */
export interface Progress {
  readonly update: number;
  readonly updates: number;
  /** Which reward r(x, y) is. */
  readonly reward: RewardKind;
  /** Rewards of the continuations from each turn, where the algorithm needs them. */
  readonly branches?: Branches | undefined;
  /** The value of a state from sampled returns, by the run's estimator of V*; the mean where none is given. */
  readonly value?: (returns: readonly number[]) => number;
}

/**
 * The numbers that a loss takes, by name: one per episode (an array over the trajectories), or one per agent token (an
 * array for each trajectory). An algorithm declares its own, so a name that `prepare` does not give is a compile error.
 */
export interface Inputs {
  readonly episode: Readonly<Record<string, Float32Array>>;
  readonly token: Readonly<Record<string, readonly Float32Array[]>>;
}

/** Gives a loss numbers of `prepare` as tensors, by the names it may ask for: [E] for an episode, [R, A] for a token. */
export interface LossInput<PerEpisode extends string = string, PerToken extends string = string> {
  (name: PerEpisode, per: 'episode'): Tensor;
  (name: PerToken, per: 'token'): Tensor;
}
type InputOf<I extends Inputs> = LossInput<keyof I['episode'] & string, keyof I['token'] & string>;

/** What `prepare` makes of one update; lists run parallel to the trajectories given. */
export interface Prepared<I extends Inputs = Inputs> {
  readonly episode: I['episode'];
  readonly token: I['token'];
  /** False: the episode takes no part in the update (filtered groups, unusable episodes). */
  readonly keep: readonly boolean[];
  readonly metrics: Readonly<Record<string, number>>;
  /** Values whose histogram is worth keeping (advantages, weights). */
  readonly distributions: Readonly<Record<string, Float32Array>>;
}

export interface Loss {
  /** Scalar to be minimised. */
  readonly loss: Tensor;
  /** Scalars to be recorded; those of micro-batches add up. */
  readonly metrics: Readonly<Record<string, Tensor>>;
}

export interface Algorithm<Schema extends z.ZodObject = z.ZodObject, I extends Inputs = Inputs> {
  readonly id: string;
  readonly title: string;
  /** Where it is from. */
  readonly source: string;
  /** Every knob with its meaning, range and default; `id` is its discriminator in a run's config. */
  readonly settings: Schema;
  needs(settings: z.infer<Schema>): Needs;
  prepare(trajectories: readonly Trajectory[], settings: z.infer<Schema>, progress: Progress): Prepared<I>;
  loss(graph: Graph, policy: PolicyTensors, input: InputOf<I>, settings: z.infer<Schema>): Loss;
}

/** r − V* of every trajectory. */
export function optimalAdvantages(trajectories: readonly Trajectory[], reward: (trajectory: Trajectory) => number): Float32Array {
  return Float32Array.from(trajectories, (trajectory) => {
    if (trajectory.vstar === null) {
      throw new Error(
        `The advantage of task ${trajectory.task} needs its V*, but none was given. Compute V* for every training task first.`,
      );
    }
    return reward(trajectory) - trajectory.vstar;
  });
}

export const rewardsOf = (trajectories: readonly Trajectory[], kind: RewardKind) =>
  Float32Array.from(trajectories, (trajectory) => rewardOf(trajectory, kind));

/** log π_ref(y|x) of every trajectory. */
export function referenceSums(trajectories: readonly Trajectory[]): Float32Array {
  return Float32Array.from(trajectories, (trajectory) => {
    assertScored(trajectory);
    return logProbability(trajectory, 'referenceLogProbs');
  });
}

/** One agent-token array of a kind per trajectory, its steps joined. */
export function tokenNumbers(trajectories: readonly Trajectory[], which: 'logProbs' | 'referenceLogProbs' | 'values'): Float32Array[] {
  return trajectories.map((trajectory) => {
    const joined = new Float32Array(agentTokenCount(trajectory));
    let offset = 0;
    for (const { tokens } of trajectory.steps) {
      const numbers = tokens[which];
      if (numbers.length !== tokens.ids.length) {
        throw new Error(
          `Task ${trajectory.task}: expected ${tokens.ids.length} ${which} for a step, found ${numbers.length}. Score the trajectories before preparing the update.`,
        );
      }
      joined.set(numbers, offset);
      offset += numbers.length;
    }
    return joined;
  });
}

function assertScored(trajectory: Trajectory): void {
  for (const { tokens } of trajectory.steps) {
    if (tokens.referenceLogProbs.length !== tokens.ids.length) {
      throw new Error(
        `Task ${trajectory.task}: the reference has not scored this trajectory (expected ${tokens.ids.length} log-probabilities for a step, found ${tokens.referenceLogProbs.length}).`,
      );
    }
  }
}

/** 1 / number of agent tokens; 0 for an empty generation, which then weighs nothing instead of becoming NaN. */
export function inverseLengths(trajectories: readonly Trajectory[]): Float32Array {
  return Float32Array.from(trajectories, (trajectory) => {
    const count = agentTokenCount(trajectory);
    return count === 0 ? 0 : 1 / count;
  });
}

/** The input of a length-normalised cross-entropy; nothing where it is not normalised, since the loss then asks for nothing. */
export const lengthInputs = (trajectories: readonly Trajectory[], normalised: boolean): { inverseLength?: Float32Array } =>
  normalised ? { inverseLength: inverseLengths(trajectories) } : {};

/** Mean, spread and share above zero of the advantages: the numbers every algorithm logs. */
export function advantageMetrics(advantages: Float32Array): Record<string, number> {
  return {
    'advantage.mean': mean(advantages),
    'advantage.std': deviation(advantages),
    'advantage.positive': mean(Array.from(advantages, (value) => (value > 0 ? 1 : 0))),
  };
}
