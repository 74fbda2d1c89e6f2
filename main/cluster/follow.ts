// Waits for submissions to end, collecting each run as it finishes and handing over whatever an interruption left. A scheduler that is
// silent is waited for. Whoever stops waiting loses nothing: the tasks continue, and the next call finds them.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from './cluster.ts';
import { ClusterError } from './clusters.ts';
import { Refused, Silent } from './slurm.ts';
import type { SubmissionStatus, TaskStatus } from './status.ts';
import type { Submission } from './submission.ts';

/** Between two looks: soon after something has changed, less often with many tasks, and ever less often while nothing happens. */
const SOON_MS = 500;
const SOON_PER_TASK_MS = 20;
const MANY_TASKS = 200;
const LONGEST_MS = 15_000;

export interface FollowOptions {
  readonly signal?: AbortSignal | undefined;
  readonly news?: (statuses: readonly SubmissionStatus[], added: readonly number[]) => void;
}

/** Resolves with the tasks that failed, were cancelled, or left a result that cannot be used. */
export async function follow(
  cluster: Cluster,
  submissions: readonly Submission[],
  { signal, news }: FollowOptions = {},
): Promise<TaskStatus[]> {
  const tasksInAll = submissions.reduce((sum, { file }) => sum + file.tasks.length, 0);
  const soon = SOON_MS + SOON_PER_TASK_MS * Math.min(MANY_TASKS, tasksInAll);
  let before = '';
  for (let wait = soon; ; wait = Math.min(LONGEST_MS, wait * 1.3)) {
    const statuses: SubmissionStatus[] = [];
    const added: number[] = [];
    const refused: TaskStatus[] = [];
    for (const submission of submissions) {
      const status = await handOver(cluster, submission);
      const collected = await cluster.collect(submission, status);
      added.push(...collected.added);
      for (const { task, reason } of collected.refused) {
        const known = status.tasks.find(({ id }) => id === task);
        if (known) refused.push({ ...known, state: 'failed', reason });
      }
      statuses.push(status);
    }
    news?.(statuses, added);
    const tasks = statuses.flatMap((status) => status.tasks);
    if (tasks.every(({ state }) => ['done', 'failed', 'cancelled'].includes(state)))
      return [...tasks.filter(({ state }) => state !== 'done'), ...refused];
    const counts = JSON.stringify(statuses.map((status) => status.counts));
    if (counts !== before) wait = soon;
    before = counts;
    await sleep(wait, undefined, { signal }).catch(() => undefined);
    if (signal?.aborted === true)
      throw new ClusterError(
        'Stopped waiting',
        'The tasks keep running; the same command waits for them again, and `lab cluster status` shows them',
      );
  }
}

/** The status, after handing over what has no job yet. */
async function handOver(cluster: Cluster, submission: Submission): Promise<SubmissionStatus> {
  const status = await cluster.status(submission);
  const open = status.tasks.some(({ state, job }) => state === 'unsubmitted' || (state === 'unknown' && job === null));
  if (!open) return status;
  try {
    await cluster.resume(submission);
    return await cluster.status(submission);
  } catch (error) {
    if (error instanceof Silent) return status;
    if (error instanceof Refused) throw new ClusterError(error.message, error.hint);
    throw error;
  }
}
