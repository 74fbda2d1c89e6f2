// What an evaluation hands over: one result per task, and the episodes where they are kept. Parsed on arrival like everything that crosses
// a process border or comes out of a file.

import { z } from 'zod';
import { trajectorySchema } from '../rollout/trajectory.ts';
import { evaluationKinds, splits } from '../base/vocabulary.ts';

const count = z.int().min(0);
/** Also NaN and the infinities. */
const number = z.custom<number>((value) => typeof value === 'number', 'expected a number');

/** One task of an evaluation. */
const evaluationResult = z.object({
  task: z.string(),
  category: z.string(),
  tier: z.string(),
  seed: z.int(),
  success: z.boolean(),
  return: number,
  steps: count,
  failure: z.string().nullable(),
});
export type EvaluationResult = z.infer<typeof evaluationResult>;

export const evaluationReport = z.object({
  update: count,
  kind: z.enum(evaluationKinds),
  /** policy, or the name of an agent that needs no run. */
  agent: z.string(),
  world: z.string(),
  worldHash: z.string(),
  split: z.enum(splits),
  temperature: z.number(),
  seconds: z.number(),
  results: z.array(evaluationResult),
  /** None, or the episode of each result in the same order. */
  episodes: z.array(trajectorySchema),
});
export type EvaluationReport = z.infer<typeof evaluationReport>;
