// The worker process (for work that computes but does not train, such as trying an episode again): its state and its self-test.

import { z } from 'zod';
import { selfTestResult } from '../../process/self-test.ts';
import type { WorkerStatus } from '../../process/supervisor.ts';
import { type Handlers, nothing } from '../definition.ts';
import type { Lab } from '../lab.ts';

export type { WorkerStatus };

const workerStatus = z.object({
  state: z.enum(['stopped', 'starting', 'ready', 'restarting', 'failed']),
  pid: z.number().nullable(),
  restarts: z.number(),
  reason: z.string(),
}) satisfies z.ZodType<WorkerStatus>;

export const calls = {
  'worker.status': { input: nothing, answer: workerStatus },
  /** Runs a small product through onnxruntime in the worker process. */
  'worker.selfTest': { input: z.strictObject({ steps: z.int().min(1).max(1000) }), answer: selfTestResult },
  /** Starts the process again after it failed for good. */
  'worker.restart': { input: nothing, answer: workerStatus },
};

export const events = { 'worker.status': workerStatus };

export function handlers({ worker }: Pick<Lab, 'worker'>): Handlers<typeof calls> {
  return {
    'worker.status': () => worker.status,

    'worker.selfTest': async ({ steps }) => selfTestResult.parse(await worker.run({ kind: 'self-test', steps })),

    'worker.restart': () => {
      worker.start();
      return worker.status;
    },
  };
}
