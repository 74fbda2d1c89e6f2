// What a training run reports while it works, whichever process it runs in. Everything is plain data (structured clone keeps the
// typed arrays) and parsed on arrival. The order within an update u matters for exact resume: `vstar` u, `update` u, `evaluation`
// u and its `measured`, and `checkpoint` u last. After a crash everything after the newest checkpoint is dropped and happens again, so
// what a checkpoint covers must have been reported before it.

import { z } from 'zod';
import { reportedEventKinds, severities } from '../base/vocabulary.ts';
import type { Json } from '../base/canonical.ts';
import { evaluationReport } from '../evaluation/evaluation-report.ts';
import { trajectorySchema } from '../rollout/trajectory.ts';

const floats = z.instanceof(Float32Array);
const count = z.int().min(0);
/** Also NaN and the infinities. */
const number = z.custom<number>((value) => typeof value === 'number', 'expected a number');

/** The reference policy's samples on one task, and the value made of them. */
const vstarEntry = z.object({
  task: z.string(),
  /** Hash of the world's name, settings and level: with task, reference, seed and temperature it determines the samples. */
  worldHash: z.string(),
  reference: z.string(),
  seed: z.int(),
  temperature: z.number(),
  returns: z.instanceof(Float64Array),
  successes: z.instanceof(Uint8Array),
  value: number,
});
export type VstarEntry = z.infer<typeof vstarEntry>;

const plain = z.json();

export const runReport = z.discriminatedUnion('type', [
  /** The process is up and continues after `update` (0: from the beginning). */
  z.object({ type: z.literal('started'), update: count, device: z.string() }),
  /** One complete optimizer update: stored as a whole or not at all. */
  z.object({
    type: z.literal('update'),
    update: count,
    /** By glossary name. All but those of the machine (see metrics/system.ts) are the same in every repetition. */
    metrics: z.record(z.string(), number),
    /** Raw samples for distribution charts (advantages, V*). */
    distributions: z.record(z.string(), floats),
    episodes: z.array(trajectorySchema),
    /** Since the run began, over all interruptions. */
    totals: z.object({ episodes: count, tokens: count, seconds: z.number() }),
  }),
  /** What is only known after an update was reported: its evaluation, and measurements of the machine. They join its metrics. */
  z.object({ type: z.literal('measured'), update: count, metrics: z.record(z.string(), number) }),
  /** V* of tasks, valid from the given update on (0: the first stage). `episodes` may be left empty. */
  z.object({
    type: z.literal('vstar'),
    update: count,
    world: z.string(),
    entries: z.array(vstarEntry),
    episodes: z.array(trajectorySchema),
  }),
  /** A reference policy whose weights file is complete and flushed: later runs find it by its recipe. */
  z.object({
    type: z.literal('reference'),
    policy: z.object({
      recipe: z.string(),
      sha256: z.string(),
      file: z.string(),
      bytes: count,
      world: z.string(),
      details: z.custom<Json>((value) => value !== undefined),
    }),
  }),
  z.object({ type: z.literal('evaluation'), ...evaluationReport.shape }),
  /** The file is complete and flushed: it can be resumed from. */
  z.object({
    type: z.literal('checkpoint'),
    checkpoint: z.object({ update: count, file: z.string(), sha256: z.string(), bytes: count }),
    /** Survives pruning (best, final). */
    kept: z.boolean(),
  }),
  /** A mark on the charts and a line of the log. */
  z.object({
    type: z.literal('event'),
    update: count,
    kind: z.enum(reportedEventKinds),
    severity: z.enum(severities),
    text: z.string(),
    data: z.record(z.string(), plain),
  }),
  /** What it does now; shown live, not stored. */
  z.object({
    type: z.literal('progress'),
    update: count,
    phase: z.string(),
    done: z.number(),
    total: z.number(),
    secondsLeft: z.number().nullable(),
  }),
  /** `stopped`: before the last update, with a checkpoint, because that was requested. */
  z.object({ type: z.literal('finished'), outcome: z.enum(['done', 'stopped']), update: count }),
  z.object({ type: z.literal('failed'), update: count, message: z.string(), diskFull: z.boolean(), deviceLost: z.boolean().optional() }),
]);
export type RunReport = z.infer<typeof runReport>;
