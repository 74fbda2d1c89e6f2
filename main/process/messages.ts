// What the lab and its worker and training processes say to each other, parsed on arrival like everything that crosses a process
// border. A new job is one entry in `job` and one case in worker.ts.

import { z } from 'zod';
import type { RunConfig } from '../config/config.ts';

const job = z.discriminatedUnion('kind', [
  /** Runs a product through onnxruntime `steps` times; `crash` ends the process hard on the way, for the tests. */
  z.object({ kind: z.literal('self-test'), steps: z.number(), crash: z.boolean().optional() }),
  /** Trains a run to its end or to update `until`, or until `stop` comes; the process ends with it. The config is that of a stored run. */
  z.object({
    kind: z.literal('train'),
    dataFolder: z.string(),
    uid: z.string(),
    config: z.custom<RunConfig>((value) => typeof value === 'object' && value !== null),
    resumeFrom: z.string().nullable(),
    branchFrom: z.string().nullable(),
    until: z.number().nullable(),
  }),
  /** Continues from a step of a recorded episode with a policy of the store (replay/resample.ts). */
  z.object({
    kind: z.literal('resample'),
    dataFolder: z.string(),
    episode: z.number(),
    step: z.number(),
    run: z.number(),
    update: z.number(),
    temperature: z.number(),
    attempt: z.number(),
    rollouts: z.number(),
  }),
  /** Which step of a stored episode earned or lost its reward (replay/credit.ts). */
  z.object({
    kind: z.literal('credit'),
    dataFolder: z.string(),
    episode: z.number(),
    group: z.number(),
    branches: z.number(),
    temperature: z.number(),
  }),
  /** A language model continues a game (replay/model-player.ts). The world's settings are parsed by the job. */
  z.object({
    kind: z.literal('play'),
    dataFolder: z.string(),
    world: z.string(),
    settings: z.record(z.string(), z.unknown()),
    task: z.string(),
    before: z.array(z.string()),
    model: z.string(),
    /** Most actions; null: until the end. */
    most: z.number().nullable(),
  }),
  /** Adds the runs of an exported file; how far it is goes out as progress. */
  z.object({ kind: z.literal('import'), dataFolder: z.string(), file: z.string() }),
  /** Tries every device of this machine (engine/device.ts). */
  z.object({ kind: z.literal('devices') }),
  /** Adds a language model from a folder or GGUF file, points to one that has moved, or fetches the one that can be fetched. */
  z.object({
    kind: z.literal('model'),
    dataFolder: z.string(),
    action: z.enum(['add', 'locate', 'fetch']),
    /** The folder or file; not used by `fetch`. */
    path: z.string(),
    /** Empty with `add`: the name of the folder or file. */
    name: z.string(),
  }),
]);
export type Job = z.infer<typeof job>;

export const toWorker = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('job'), id: z.number(), job }),
  /** Save and end: to a training process. */
  z.object({ kind: z.literal('stop') }),
]);
export type ToWorker = z.infer<typeof toWorker>;

/** Plain data; the caller of the job parses what it expects. */
const jobResult = z.record(z.string(), z.unknown());
export type JobResult = z.infer<typeof jobResult>;

export const fromWorker = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('heartbeat') }),
  z.object({ kind: z.literal('done'), id: z.number(), result: jobResult }),
  z.object({ kind: z.literal('failed'), id: z.number(), message: z.string() }),
  /** How far a job is. */
  z.object({ kind: z.literal('progress'), done: z.number(), total: z.number() }),
  /** What a training run reports; whoever stores it parses it. */
  z.object({ kind: z.literal('report'), report: z.unknown() }),
]);
export type FromWorker = z.infer<typeof fromWorker>;
