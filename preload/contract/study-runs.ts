// Calls about running a study: the definitions that there are, starting one here or on a cluster, and how far it is.

import { z } from 'zod';
import { nothing } from './definition.ts';

/** What is asked for; null takes what the definition says. */
const wanted = z.strictObject({
  study: z.string(),
  /** The name of a cluster; empty: this machine. */
  on: z.string(),
  seeds: z.int().min(1).nullable(),
  updates: z.int().min(1).nullable(),
});
export type WantedStudy = z.infer<typeof wanted>;

const definition = z.object({
  study: z.string(),
  title: z.string(),
  question: z.string(),
  arms: z.number(),
  seeds: z.number(),
  updates: z.number(),
  /** Runs of the study itself, without tuning trials. */
  runs: z.number(),
  /** Trials that come first. */
  trials: z.number(),
  /** Why it cannot be run; null for a sound one. */
  problem: z.string().nullable(),
});
export type StudyDefinitionRow = z.infer<typeof definition>;

const job = z.object({
  study: z.string(),
  on: z.string(),
  state: z.enum(['running', 'stopping', 'done', 'failed', 'stopped']),
  startedAt: z.number(),
  /** The last lines that it said. */
  lines: z.array(z.string()),
  claims: z.array(z.object({ claim: z.string(), verdict: z.string() })),
  /** The saved study, to be compared. */
  saved: z.number().nullable(),
});
export type StudyJob = z.infer<typeof job>;

const table = z.object({ title: z.string(), header: z.array(z.string()), rows: z.array(z.array(z.string())) });

export const studyRunCalls = {
  /** The systems of the write-ups: expected, measured then, measured here by the runs of this data folder. */
  'sources.table': {
    input: z.strictObject({ size: z.enum(['quick', 'small', 'medium', 'full']) }),
    answer: z.object({ tables: z.array(table) }),
  },
  'studyRuns.definitions': { input: nothing, answer: z.object({ definitions: z.array(definition), folder: z.string() }) },
  'studyRuns.jobs': { input: nothing, answer: z.object({ jobs: z.array(job) }) },
  'studyRuns.start': { input: wanted, answer: z.object({}) },
  /** What trains saves a checkpoint and ends; tasks on a cluster continue. Starting again resumes. */
  'studyRuns.stop': { input: z.strictObject({ study: z.string() }), answer: z.object({}) },
  /** The batch scripts that would be submitted first. */
  'studyRuns.dryRun': { input: wanted, answer: z.object({ scripts: z.array(z.string()), tasks: z.number() }) },
};
