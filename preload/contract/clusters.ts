// Calls about Slurm clusters: their settings, what was submitted to them, and how each task is.

import { z } from 'zod';
import { nothing } from './definition.ts';
import { order } from './queue.ts';

/** The fields of the form, as typed; the lab judges them. */
const cluster = z.strictObject({
  name: z.string(),
  host: z.string(),
  folder: z.string(),
  code: z.string(),
  partition: z.string(),
  account: z.string(),
  qos: z.string(),
  time: z.string(),
  memory: z.string(),
  cpus: z.int(),
  gpus: z.string(),
  throttle: z.int(),
  options: z.array(z.string()),
  setup: z.string(),
  warning: z.int(),
  scratch: z.string(),
});
export type ClusterForm = z.infer<typeof cluster>;

const state = z.enum(['unsubmitted', 'pending', 'running', 'requeued', 'done', 'failed', 'cancelled', 'unknown']);
export type ClusterTaskState = z.infer<typeof state>;

const task = z.object({
  id: z.string(),
  name: z.string(),
  seed: z.number().nullable(),
  state,
  reason: z.string(),
  node: z.string(),
  attempts: z.number(),
  phase: z.string(),
  done: z.number(),
  total: z.number(),
  success: z.number().nullable(),
  /** The run in this lab, once it is collected. */
  run: z.number().nullable(),
});
export type ClusterTask = z.infer<typeof task>;

const summary = z.object({
  cluster: z.string(),
  id: z.string(),
  title: z.string(),
  createdAt: z.number(),
  counts: z.record(state, z.number()),
  /** Null while the scheduler is silent. */
  source: z.string().nullable(),
});
export type SubmissionSummary = z.infer<typeof summary>;

const damaged = z.object({ cluster: z.string(), id: z.string(), reason: z.string() });
export type DamagedSubmissionRow = z.infer<typeof damaged>;

const one = z.strictObject({ cluster: z.string(), id: z.string() });
const some = one.extend({ tasks: z.array(z.string()).nullable() });

export const clusterCalls = {
  'clusters.list': { input: nothing, answer: z.object({ clusters: z.array(cluster) }) },
  /** Adds a cluster or changes the one of its name. */
  'clusters.save': { input: cluster, answer: z.object({}) },
  'clusters.remove': { input: z.strictObject({ name: z.string() }), answer: z.object({}) },
  /** One small job through the whole way. */
  'clusters.test': {
    input: z.strictObject({ name: z.string() }),
    answer: z.object({ node: z.string(), processor: z.string(), code: z.string(), seconds: z.number() }),
  },
  /** What was submitted, of every cluster that answers; submissions that cannot be read apart. */
  'clusters.submissions': {
    input: nothing,
    answer: z.object({
      submissions: z.array(summary),
      damaged: z.array(damaged),
      problems: z.array(z.object({ cluster: z.string(), message: z.string() })),
    }),
  },
  /** The tasks of a submission; what is done is collected on the way. */
  'clusters.status': { input: one, answer: summary.extend({ tasks: z.array(task), refused: z.array(z.string()) }) },
  'clusters.cancel': { input: some, answer: z.object({ tasks: z.array(z.string()) }) },
  'clusters.retry': { input: some, answer: z.object({ tasks: z.array(z.string()) }) },
  'clusters.log': { input: one.extend({ task: z.string() }), answer: z.object({ log: z.string() }) },
  'clusters.submit': {
    input: z.strictObject({ cluster: z.string(), order, preset: z.string().nullable(), tags: z.array(z.string()) }),
    answer: z.object({ submission: z.string().nullable(), tasks: z.number(), attached: z.array(z.string()) }),
  },
  /** The batch scripts that `clusters.submit` would submit. */
  'clusters.dryRun': {
    input: z.strictObject({ cluster: z.string(), order, preset: z.string().nullable(), tags: z.array(z.string()) }),
    answer: z.object({ scripts: z.array(z.string()) }),
  },
};
