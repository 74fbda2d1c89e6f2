// Calls about the training process: its state, its self-test, and a port that carries its stream straight to the page.

import { MessageChannelMain } from 'electron';
import type { trainingCalls } from '../../preload/contract/training.ts';
import { selfTestResult } from '../process/self-test.ts';
import type { Context } from './context.ts';
import type { Handlers } from './dispatch.ts';

export function trainingHandlers(context: Context): Handlers<typeof trainingCalls> {
  return {
    'training.status': () => context.training.status,

    'training.selfTest': async ({ steps }) => selfTestResult.parse(await context.training.run({ kind: 'self-test', steps })),

    'training.openStream': (_input, caller) => {
      const { port1, port2 } = new MessageChannelMain();
      context.training.connect([port1]);
      caller.handOver(port2);
      return {};
    },

    'training.restart': () => {
      context.training.start();
      return context.training.status;
    },
  };
}
