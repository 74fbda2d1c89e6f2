// What the lab keeps of a study beside its runs: the `plan` of the study in the database, and in an exported file. Runs are
// named by their uid, which is the same in every database. The window reads the verdicts from here:
// `readRecord(study.plan)` answers undefined for a study that was merely saved as a selection of runs.

import { z } from 'zod';
import { EQUALISABLE, EXPECTATIONS, Settings } from './definition.ts';
import { verdicts } from '../base/vocabulary.ts';

const share = z.number();
const estimate = z.object({ value: z.number(), low: z.number(), high: z.number() });
const proportion = z.object({ k: z.int(), n: z.int(), rate: share, low: share, high: share });

const verdict = z.enum(verdicts);
/** With Holm's correction; null where the study was decided without. */
const corrected = z.enum(verdicts).nullable().default(null);

const ArmRecord = z.object({
  id: z.string(),
  title: z.string(),
  /** In the order of the seeds; only finished runs. */
  runs: z.array(z.object({ uid: z.string(), seed: z.int(), success: share.nullable() })),
  mean: estimate.nullable(),
  iqm: estimate.nullable(),
  /** Spent by one run on average; null where it was not counted. */
  budget: z
    .object({
      episodes: z.number(),
      optimizerSteps: z.number(),
      tokens: z.number(),
      vstarSamples: z.number(),
      branchEpisodes: z.number().default(0),
    })
    .nullable()
    .default(null),
});

const TestRecord = z.object({
  a: z.string(),
  b: z.string(),
  measure: z.string(),
  expect: z.enum(EXPECTATIONS),
  /** A difference that would matter, stated beforehand. */
  margin: z.number().nullable().default(null),
  verdict,
  corrected,
  /** p of no difference and of no equivalence, as they are and corrected. */
  chances: z
    .object({ different: z.number(), equivalent: z.number(), differentHolm: z.number(), equivalentHolm: z.number() })
    .nullable()
    .default(null),
  /** Null when there are no runs to compare. */
  paired: z
    .object({
      ...estimate.shape,
      seeds: z.array(z.int()).readonly(),
      tasks: z.int(),
      a: z.number(),
      b: z.number(),
      onlyA: z.int(),
      onlyB: z.int(),
      p: z.number(),
      bySeed: z.array(z.number()).readonly(),
      detectable: z.number(),
      clusters: z.int().default(0),
      error: z.number().default(0),
      freedom: z.number().default(0),
    })
    .nullable(),
  /** The outcome in one sentence. */
  words: z.string(),
});
export type TestRecord = z.infer<typeof TestRecord>;

const ClaimRecord = z.object({
  id: z.string(),
  claim: z.string(),
  source: z.string(),
  experiment: z.string(),
  discussion: z.string(),
  verdict,
  corrected,
  tests: z.array(TestRecord),
});
export type ClaimRecord = z.infer<typeof ClaimRecord>;

const TuningRecord = z.object({
  subject: z.string(),
  variant: z.string(),
  best: z.int(),
  words: z.string(),
  trials: z.array(
    z.object({ trial: z.int(), settings: Settings, uid: z.string(), success: proportion.nullable(), return: z.number().nullable() }),
  ),
});
export type TuningRecord = z.infer<typeof TuningRecord>;

export const StudyRecord = z.object({
  astrolab: z.literal('study'),
  definition: z.string(),
  title: z.string(),
  question: z.string(),
  discussion: z.string(),
  updates: z.int(),
  /** What every arm spends equally, and the updates of each arm where that takes different numbers of them. */
  equalise: z.enum(EQUALISABLE).default('episodes'),
  updatesOf: z.record(z.string(), z.int()).default({}),
  seeds: z.array(z.int()),
  /** The definition as it was when the first run started; null where it was not kept. */
  frozen: z.object({ hash: z.string(), date: z.string(), definition: z.json() }).nullable().default(null),
  /** What was changed in the definition since: dotted path, before, after. */
  changes: z.array(z.object({ key: z.string(), before: z.json().nullable(), after: z.json().nullable() })).default([]),
  /** Changes of the caller (`--set`). */
  set: z.array(z.string()),
  tuned: z.record(z.string(), Settings),
  tuning: z.array(TuningRecord),
  arms: z.array(ArmRecord),
  /** The run that holds the evaluations of the reference, the heuristic and the random agent. */
  baselines: z.string().nullable(),
  claims: z.array(ClaimRecord),
});
export type StudyRecord = z.infer<typeof StudyRecord>;

/** The record in a study's plan, if it has one. */
export function readRecord(plan: unknown): StudyRecord | undefined {
  const parsed = StudyRecord.safeParse(plan);
  return parsed.success ? parsed.data : undefined;
}
