// The one record of an episode: what the agent saw, thought, did and got, with every token's numbers beside it.
// Rollouts make it, algorithms read it, the store keeps it and the replay paints it.

import type { Facts, Split } from '../environment/environment.ts';

/** Numbers of the agent's own tokens of one step (thought, action and their closing marks), all of equal length. */
export interface StepTokens {
  readonly ids: Int32Array;
  /** log π under the grammar's mask, at temperature 1 whatever it was drawn at. */
  readonly logProbs: Float32Array;
  /** log π_ref of the same tokens under the same mask, at temperature 1; empty until scored. */
  referenceLogProbs: Float32Array;
  /** Entropy of the distribution each token was drawn from, in nats. */
  readonly entropies: Float32Array;
  /** Critic's value and the advantage, where the variant has them; else empty. */
  values: Float32Array;
  advantages: Float32Array;
  /** The most probable tokens beside the chosen one: [token, TOP], row by row; -1 pads. */
  readonly topIds: Int32Array;
  readonly topProbs: Float32Array;
}

/** How many alternatives are kept per token. */
export const TOP_ALTERNATIVES = 4;

export interface Step {
  /** What the agent saw before it acted. */
  readonly observation: string;
  readonly thought: string;
  readonly action: string;
  readonly reward: number;
  readonly reason: string;
  readonly valid: boolean;
  readonly facts: Facts;
  readonly tokens: StepTokens;
}

export type Purpose = 'train' | 'vstar' | 'evaluation';

export interface Trajectory {
  readonly task: string;
  readonly split: Split;
  readonly category: string;
  readonly tier: string;
  readonly seed: number;
  readonly purpose: Purpose;
  /** The update whose weights acted (0 = the reference). */
  readonly update: number;
  readonly steps: readonly Step[];
  /** What the world said after the last action. */
  readonly finalObservation: string;
  readonly return: number;
  readonly success: boolean;
  /** V* of the task and the trajectory's advantage, once known. */
  vstar: number | null;
  advantage: number | null;
  /** Failure class (see evaluation/failures.ts); null for a success. */
  failure: string | null;
}

export function agentTokenCount(trajectory: Trajectory): number {
  let count = 0;
  for (const step of trajectory.steps) count += step.tokens.ids.length;
  return count;
}

/** log π(y|x): the sum over all agent tokens of the trajectory. */
export function logProbability(trajectory: Trajectory, which: 'logProbs' | 'referenceLogProbs' = 'logProbs'): number {
  let sum = 0;
  for (const step of trajectory.steps) for (const value of step.tokens[which]) sum += value;
  return sum;
}
