// Calls and events of the worker process (the one beside the window for work that computes but does not train, such as trying
// an episode again): its state and its self-test.

import { z } from 'zod';
import { nothing } from './definition.ts';

/** Where the worker process is in its life. `restarting` and `failed` carry the reason of the last crash. */
export const workerStatus = z.object({
  state: z.enum(['stopped', 'starting', 'ready', 'restarting', 'failed']),
  pid: z.number().nullable(),
  /** Number of restarts after a crash since the application started. */
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

export const workerCalls = {
  'worker.status': { input: nothing, answer: workerStatus },
  /** Runs a small product through onnxruntime in the worker process. */
  'worker.selfTest': { input: z.strictObject({ steps: z.int().min(1).max(1000) }), answer: selfTest },
  /** Starts the process again after it failed for good. */
  'worker.restart': { input: nothing, answer: workerStatus },
};

export const workerEvents = {
  'worker.status': workerStatus,
};
