// The one record of an episode: what the agent saw, thought, did and got, with every token's numbers beside it.
// Rollouts make it, algorithms read it, the store keeps it and the replay paints it. The schema is the only description:
// the types are derived from it, and whatever arrives from another process or a file is parsed by it.

import { z } from 'zod';
import { purposes, splits } from '../base/vocabulary.ts';

const floats: z.ZodType<Float32Array> = z.instanceof(Float32Array);
const integers: z.ZodType<Int32Array> = z.instanceof(Int32Array);
/** Also NaN and the infinities. One test each, because every update brings thousands of them. */
const number = z.custom<number>((value) => typeof value === 'number', 'expected a number');
const fact = z.custom<string | number | boolean | null>(
  (value) => value === null || ['string', 'number', 'boolean'].includes(typeof value),
  'expected a text, a number, true, false or null',
);

/** Numbers of the agent's tokens of one step (thought, action and their closing marks), all of equal length. */
const stepTokens = z.object({
  ids: integers,
  /** log π under the grammar's mask, at temperature 1 whatever it was drawn at. */
  logProbs: floats,
  /** log π_ref of the same tokens under the same mask, at temperature 1; empty until scored. */
  referenceLogProbs: floats,
  /** Entropy of the distribution each token was drawn from, in nats. */
  entropies: floats,
  /** The critic's value and the advantage, where the algorithm has them; else empty. */
  values: floats,
  advantages: floats,
  /** The most probable tokens beside the chosen one: [token, TOP_ALTERNATIVES], row by row; -1 pads. */
  topIds: integers,
  topProbs: floats,
});
export type StepTokens = z.infer<typeof stepTokens>;

const step = z.object({
  /** What the agent saw before it acted. */
  observation: z.string(),
  thought: z.string(),
  action: z.string(),
  reward: number,
  reason: z.string(),
  valid: z.boolean(),
  facts: z.record(z.string(), fact),
  tokens: stepTokens,
});
export type Step = z.infer<typeof step>;

export const trajectorySchema = z.object({
  task: z.string(),
  split: z.enum(splits),
  category: z.string(),
  tier: z.string(),
  seed: z.int(),
  purpose: z.enum(purposes),
  /** The update whose weights acted (0 = the reference). */
  update: z.int().min(0),
  steps: z.array(step).readonly(),
  /** What the world said after the last action. */
  finalObservation: z.string(),
  return: number,
  success: z.boolean(),
  /** V* of the task and the trajectory's advantage, once computed. */
  vstar: number.nullable(),
  advantage: number.nullable(),
  /** Failure class (see evaluation/failures.ts); null for a success. */
  failure: z.string().nullable(),
});
export type Trajectory = z.infer<typeof trajectorySchema>;

export function agentTokenCount(trajectory: Trajectory): number {
  let count = 0;
  for (const step of trajectory.steps) count += step.tokens.ids.length;
  return count;
}

/** Agent tokens of several trajectories. */
export const tokenCount = (trajectories: readonly Trajectory[]): number =>
  trajectories.reduce((sum, trajectory) => sum + agentTokenCount(trajectory), 0);

/** log π(y|x): the sum over all agent tokens of the trajectory. */
export function logProbability(trajectory: Trajectory, which: 'logProbs' | 'referenceLogProbs' = 'logProbs'): number {
  let sum = 0;
  for (const step of trajectory.steps) for (const value of step.tokens[which]) sum += value;
  return sum;
}
