// What a comparison of runs consists of, part by part: plain data, which whoever shows it parses with these.

import { z } from 'zod';
import { anyNumber, proportion } from '../base/shapes.ts';

const run = z.int().min(1);
const numbers = z.instanceof(Float64Array);

const estimate = z.object({ value: anyNumber, low: anyNumber, high: anyNumber });

export const comparedRun = z.object({
  run,
  name: z.string(),
  variant: z.string(),
  world: z.string(),
  seed: z.number(),
  /** Equal for runs that differ in their seed only. */
  group: z.string(),
  state: z.string(),
  updates: z.number(),
  planned: z.number(),
  seconds: z.number(),
  episodes: z.number(),
  success: proportion.nullable(),
  best: proportion.extend({ update: z.number() }).nullable(),
  /** What the run started from, on the same tasks where it was evaluated there. */
  reference: proportion.nullable(),
  return: anyNumber.nullable(),
  steps: anyNumber.nullable(),
  /** Where the numbers come from: which evaluation. */
  evaluated: z.object({ update: z.number(), split: z.string(), kind: z.string() }).nullable(),
  categories: z.record(z.string(), proportion),
  /** Validation success over training, and which share of the tasks failed in which way. */
  evaluations: z.array(z.object({ update: z.number(), success: proportion, failures: z.record(z.string(), z.number()) })),
});
export type ComparedRun = z.infer<typeof comparedRun>;

export const pair = z.object({
  a: run,
  b: run,
  /** Tasks that each of them played; only the `n` shared ones count, those of one product or template as one cluster. */
  ofA: z.number(),
  ofB: z.number(),
  n: z.number(),
  clusters: z.number(),
  both: z.number(),
  neither: z.number(),
  onlyA: z.number(),
  onlyB: z.number(),
  difference: anyNumber,
  low: anyNumber,
  high: anyNumber,
  p: anyNumber,
  improvement: anyNumber,
  returns: estimate,
  words: z.string(),
});
export type Pair = z.infer<typeof pair>;

export const arm = z.object({
  key: z.string(),
  runs: z.array(run),
  /** Runs that were evaluated, and their mean success with its interval over seeds and clusters of tasks. */
  evaluated: z.number(),
  success: estimate.nullable(),
  /** Inter-quartile mean over the runs. */
  iqm: z.number().nullable(),
});
export type ComparedArm = z.infer<typeof arm>;

/** An arm against the baseline arm. */
export const armPair = z.object({
  key: z.string(),
  baseline: z.string(),
  a: z.number(),
  b: z.number(),
  difference: z.number(),
  low: z.number(),
  high: z.number(),
  p: z.number(),
  /** Corrected for the number of comparisons (Holm). */
  holm: z.number(),
  seeds: z.number(),
  pairing: z.enum(['same', 'order', 'one']),
  tasks: z.number(),
  clusters: z.number(),
  onlyA: z.number(),
  onlyB: z.number(),
  /** The worlds of the two have other settings, though the same tasks. */
  otherSettings: z.boolean(),
  words: z.string(),
});
export type ComparedPair = z.infer<typeof armPair>;

export const matrix = z.object({
  tasks: z.array(z.object({ task: z.string(), category: z.string(), tier: z.string() })),
  /** One entry per task for every run: 1 solved, 0 failed, −1 not played; and the stored episode, 0 when there is none. */
  columns: z.array(z.object({ run, outcome: z.instanceof(Int8Array), episode: numbers })),
});
export type Matrix = z.infer<typeof matrix>;
