// Calls about the worker process: its state and its self-test.

import type { workerCalls } from '../../preload/contract/worker.ts';
import { selfTestResult } from '../process/self-test.ts';
import type { Context } from './context.ts';
import type { Handlers } from './dispatch.ts';

export function workerHandlers(context: Context): Handlers<typeof workerCalls> {
  return {
    'worker.status': () => context.worker.status,

    'worker.selfTest': async ({ steps }) => selfTestResult.parse(await context.worker.run({ kind: 'self-test', steps })),

    'worker.restart': () => {
      context.worker.start();
      return context.worker.status;
    },
  };
}
