// The state of a task from its three witnesses, case by case: what users of other launchers found untrue must be true here.

import { expect, test } from 'vitest';
import type { AttemptNews } from '../../main/cluster/progress.ts';
import type { JobRecord } from '../../main/cluster/incoming.ts';
import { judge } from '../../main/cluster/status.ts';

const NOW = 10_000_000;
const part = { number: 1, name: 'astrolab-a-1', job: '12', refused: null, tasks: ['0001'] };
const job = (state: string, reason = 'None'): JobRecord => ({ name: 'astrolab-a-1', job: '12', index: 0, state, reason, node: 'n1' });
const attempt = (end: AttemptNews['end'] = null, more: Partial<AttemptNews> = {}): AttemptNews => {
  return {
    task: '0001',
    label: '12-0',
    job: '12',
    node: 'n1',
    processor: '',
    phase: 'training',
    done: 3,
    total: 9,
    success: null,
    saved: null,
    end,
    at: NOW - 1000,
    ...more,
  };
};
const done = { is: 'done', at: 0, file: 'x', sha256: '', bytes: 0, updates: 9 } as const;
const failed = { is: 'failed', at: 0, reason: 'no memory for 3 tensors' } as const;
const stopped = { is: 'stopped', at: 0, update: 4 } as const;
const base = { attempts: [], part, record: undefined, silent: false, cancelled: false, refusal: '', since: NOW - 500_000, now: NOW };

const CASES: [what: string, witnesses: Partial<Parameters<typeof judge>[0]>, state: string, reason: RegExp][] = [
  ['its result is there', { attempts: [attempt(done)], silent: true }, 'done', /^$/],
  ['it waits', { record: job('PENDING', 'Priority') }, 'pending', /^$/],
  ['it waits for the shared reference', { record: job('PENDING', 'Dependency') }, 'pending', /Dependency/],
  ['it runs', { record: job('RUNNING'), attempts: [attempt()] }, 'running', /^$/],
  ['it waits after an attempt', { record: job('PENDING', 'BeginTime'), attempts: [attempt(stopped)] }, 'requeued', /BeginTime/],
  [
    'it was killed in the middle and the scheduler calls it complete',
    { record: job('COMPLETED'), attempts: [attempt(null, { at: NOW - 300_000 })] },
    'failed',
    /without a result/,
  ],
  ['it has just ended and its last line is not here yet', { record: job('COMPLETED'), attempts: [attempt()] }, 'unknown', /not been seen/],
  ['it says why it failed', { record: job('FAILED', 'NonZeroExitCode'), attempts: [attempt(failed)] }, 'failed', /no memory/],
  ['it failed before its retry, which waits', { record: job('PENDING'), attempts: [attempt(failed, { job: '11' })] }, 'pending', /^$/],
  ['it failed while the scheduler is silent', { silent: true, attempts: [attempt(failed)] }, 'failed', /no memory/],
  ['its node failed', { record: job('NODE_FAIL'), attempts: [attempt(null, { saved: 4 })] }, 'failed', /node failed.*update 4/],
  ['it was killed for its memory', { record: job('OUT_OF_MEMORY') }, 'failed', /more memory/],
  ['it saved but could not be requeued', { record: job('FAILED'), attempts: [attempt(stopped)] }, 'failed', /saved update 4/],
  ['it was cancelled', { record: job('CANCELLED'), attempts: [attempt()] }, 'cancelled', /^$/],
  ['it was cancelled and the scheduler has forgotten it', { cancelled: true }, 'cancelled', /^$/],
  ['the scheduler says nothing', { silent: true, attempts: [attempt()] }, 'unknown', /does not answer/],
  ['nobody saw its submission end', { part: { ...part, job: null } }, 'unknown', /interrupted/],
  ['the scheduler has forgotten it long ago', { attempts: [attempt(null, { at: NOW - 300_000 })] }, 'failed', /no longer knows/],
  ['it was never submitted', { part: undefined, refusal: 'Invalid partition' }, 'unsubmitted', /Invalid partition/],
];

test.each(CASES)('%s', (_what, witnesses, state, reason) => {
  const verdict = judge({ ...base, ...witnesses });
  expect(verdict.state).toBe(state);
  expect(verdict.reason).toMatch(reason);
});
