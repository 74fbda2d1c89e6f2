// Calls that steer runs: adding to the queue, and the words pause, one update, resume, stop.

import { z } from 'zod';
import { newRun } from '../../queue/new-run.ts';
import { NoSoundCheckpoint } from '../../queue/start.ts';
import { CallFailure, type Handlers, nothing } from '../definition.ts';
import type { Lab } from '../lab.ts';
import { order } from './setup.ts';

export const calls = {
  'queue.add': {
    input: z.strictObject({ order, preset: z.string().nullable(), tags: z.array(z.string().max(60)).max(20) }),
    answer: z.object({ runs: z.array(z.int()) }),
  },
  /** Before another waiting run, or at the end. */
  'queue.move': { input: z.strictObject({ run: z.int(), before: z.int().nullable() }), answer: nothing },
  'queue.steer': {
    input: z.strictObject({ run: z.int(), action: z.enum(['pause', 'resume', 'resumeOnCpu', 'restart', 'step', 'stop', 'cancel']) }),
    answer: nothing,
  },
};

export function handlers(lab: Lab): Handlers<typeof calls> {
  return {
    'queue.add': async ({ order: wanted, preset, tags }) => {
      const { runs, issues } = await lab.read('setup', 'fitted', wanted);
      const [fault] = issues;
      if (fault)
        throw new CallFailure('invalid-config', `No run was created. ${fault.key}: ${fault.message}`, 'Fix that field and try again.');
      return { runs: lab.queue.add(runs.map((config) => newRun(lab.catalog, config, preset, tags))).map(({ id }) => id) };
    },

    'queue.move': ({ run, before }) => {
      lab.queue.move(run, before);
      // Every waiting run has a new place.
      lab.changed(...lab.store.runs.queue().map(({ id }) => id));
      return {};
    },

    'queue.steer': ({ run, action }) => {
      steered(() => lab.queue[action](run));
      return {};
    },
  };
}

/** What the queue refuses, as a failure with what to do. */
function steered(act: () => void): void {
  try {
    act();
  } catch (error) {
    if (error instanceof NoSoundCheckpoint) throw new CallFailure(error.code, error.message, error.hint);
    const message = error instanceof Error ? error.message : String(error);
    throw new CallFailure('not-possible', message, 'Its state may have just changed.');
  }
}
