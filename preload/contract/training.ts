// Calls and events of the training process: its state, its self-test, and the stream it sends straight to the window.

import { z } from 'zod';
import { nothing } from './definition.ts';

/** Where the training process is in its life. `restarting` and `failed` carry the reason of the last crash. */
export const workerStatus = z.object({
  state: z.enum(['stopped', 'starting', 'ready', 'restarting', 'failed']),
  pid: z.number().nullable(),
  /** How often it was started again after a crash, since the application began. */
  restarts: z.number(),
  /** Why it last died; empty when it never did. */
  reason: z.string(),
});
export type WorkerStatus = z.infer<typeof workerStatus>;

const selfTest = z.object({
  /** What onnxruntime computed for the test product, and what it should be. */
  value: z.number(),
  expected: z.number(),
  /** What the runtime can compute on: cpu, webgpu, cuda, … */
  backends: z.array(z.string()),
  /** True when the runtime's telemetry is switched off in that process. */
  telemetryOff: z.boolean(),
  milliseconds: z.number(),
});

export const trainingCalls = {
  'training.status': { input: nothing, answer: workerStatus },
  /** Runs a small product through onnxruntime in the training process; its steps arrive on the stream. */
  'training.selfTest': { input: z.strictObject({ steps: z.int().min(1).max(1000) }), answer: selfTest },
  /** Asks for a fresh port to the training process; it arrives as a `MessagePort` (see renderer/stream.ts). */
  'training.openStream': { input: nothing, answer: nothing },
  /** Starts the process again after it failed for good. */
  'training.restart': { input: nothing, answer: workerStatus },
};

export const trainingEvents = {
  'training.status': workerStatus,
};

/** What travels on the stream. The window drops what it does not know, so that a kind can be added on one side first. */
export const streamMessage = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('self-test'), step: z.number(), steps: z.number(), value: z.number() }),
  /** One update's numbers, by metric name (see the glossary). */
  z.object({
    kind: z.literal('metrics'),
    run: z.string(),
    update: z.number(),
    episodes: z.number(),
    seconds: z.number(),
    values: z.record(z.string(), z.number()),
  }),
  /** An episode that has just ended, in short. */
  z.object({
    kind: z.literal('episode'),
    run: z.string(),
    update: z.number(),
    task: z.string(),
    instruction: z.string(),
    category: z.string(),
    actions: z.array(z.string()),
    return: z.number(),
    success: z.boolean(),
  }),
  z.object({ kind: z.literal('phase'), run: z.string(), phase: z.string(), done: z.number(), total: z.number() }),
]);
export type StreamMessage = z.infer<typeof streamMessage>;
