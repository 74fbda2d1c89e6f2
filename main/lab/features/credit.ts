// Which step of an episode earned or lost its reward (replay/credit.ts), worked out in a process of its own.

import { z } from 'zod';
import { creditMethods } from '../../algorithm/credit.ts';
import { runOfEpisode } from '../../store/trajectories.ts';
import { CallFailure, type Handlers, nothing } from '../definition.ts';
import { existingRun } from '../existing.ts';
import { runJob } from '../job.ts';
import type { Lab } from '../lab.ts';

const count = z.int().min(0);
const advantages = z.object(
  Object.fromEntries(creditMethods.map((method) => [method, z.number()])) as Record<(typeof creditMethods)[number], z.ZodNumber>,
);

const answer = z.object({
  episode: z.int(),
  run: z.int(),
  task: z.string(),
  success: z.boolean(),
  /** The update whose checkpoint played on. */
  update: count,
  temperature: z.number(),
  group: count,
  steps: z.array(
    z.object({
      step: z.int(),
      action: z.string(),
      reward: z.number(),
      advantages,
      trained: z.number().nullable(),
      /** Continuations from the state before the step that succeed, with the Wilson 95% interval. */
      exact: z.object({ value: z.number(), low: z.number(), high: z.number(), k: count, n: count }),
    }),
  ),
  /** The step with the largest fall of the chance to succeed. */
  lostAt: z.int().nullable(),
  cost: z.object({ episodes: count, steps: count, tokens: count }),
});
export type EpisodeCredit = z.infer<typeof answer>;

export const calls = {
  /** Plays on from every step of a stored episode. Nothing is stored. */
  'credit.episode': {
    input: z.strictObject({ episode: z.int().min(1), group: z.int().min(2).max(64), branches: z.int().min(1).max(256) }),
    answer,
  },
  'credit.cancel': { input: nothing, answer: nothing },
};

export const events = {
  'credit.progress': z.object({ episode: z.int(), done: count, total: count, secondsLeft: z.number() }),
};

export function handlers(lab: Lab): Handlers<typeof calls> {
  let working: AbortController | undefined;
  return {
    'credit.episode': async ({ episode, group, branches }) => {
      existingRun(lab.store, runOfEpisode(episode));
      working?.abort(); // one at a time: the newest question counts
      const mine = new AbortController();
      working = mine;
      const begin = performance.now();
      const progress = (done: number, total: number): void => {
        const secondsLeft = (((performance.now() - begin) / 1000) * (total - done)) / Math.max(1, done);
        lab.emit('credit.progress', { episode, done, total, secondsLeft });
      };
      const job = { kind: 'credit' as const, dataFolder: lab.dataFolder, episode, group, branches, temperature: 1 };
      try {
        return answer.parse(await runJob(job, 'The credit was not worked out', { progress, signal: mine.signal }));
      } catch (error) {
        if (mine.signal.aborted) throw new CallFailure('cancelled', 'Cancelled', '');
        throw error;
      } finally {
        if (working === mine) working = undefined;
      }
    },

    'credit.cancel': () => {
      working?.abort();
      return {};
    },
  };
}
