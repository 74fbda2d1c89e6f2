// A simulation with a pretended scheduler and clock: many tasks, 5% of the attempts preempted, 1% on nodes that are lost, the
// scheduler silent for a minute, sbatch answers that nobody hears, and a lab that is closed and opened all the while. Nothing is lost and
// nothing is submitted twice. The lab's side (plan, journal, states, retry) is the real one.
// simulation.test.ts has two thousand tasks, simulation.slow.test.ts ten thousand.

import { expect } from 'vitest';
import { Cluster } from '../../main/cluster/cluster.ts';
import { clusterSettings } from '../../main/cluster/clusters.ts';
import { Silent } from '../../main/cluster/slurm.ts';
import type { SubmissionStatus } from '../../main/cluster/status.ts';
import type { Submission } from '../../main/cluster/submission.ts';
import { openStore, temporaryFolder } from '../store/helpers.ts';
import { PretendScheduler } from './pretend-scheduler.ts';
import { loadPreset } from '../catalog.ts';

const preset = loadPreset('shop-tiny').config;
const wanted = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ config: { ...preset, seed: index + 1 }, preset: 'shop-tiny', tags: [] }));

/** Gives the minutes until all was done. */
export async function simulate(tasks: number): Promise<number> {
  const settings = clusterSettings.parse({ name: 'pretended', folder: temporaryFolder() });
  const scheduler = new PretendScheduler(tasks / 10, 1001);
  /** A lab that knows nothing but the folder. */
  const freshLab = (): Cluster => new Cluster(openStore(), settings, { scheduler, clock: { now: () => scheduler.now } });

  // The answer to the first sbatch is lost; the second lab waits, finds the job, and hands over the rest but for one that never arrives.
  scheduler.nextSubmit = 'unheard';
  await expect(freshLab().submit(wanted(tasks), { title: 'simulation', now: scheduler.now })).rejects.toBeInstanceOf(Silent);
  const [submission] = await freshLab().submissions();
  if (!submission) throw new Error('the submission was lost');
  scheduler.nextSubmit = 'lost';
  await expect(freshLab().resume(submission)).rejects.toBeInstanceOf(Silent);
  await expect(freshLab().resume(submission), 'it may still arrive').rejects.toThrow(/interrupted/);
  scheduler.silentUntil = scheduler.now + 60_000;
  await expect(freshLab().resume(submission)).rejects.toThrow(/does not answer/);
  scheduler.pass(61_000);
  await freshLab().resume(submission);
  await freshLab().resume(submission);
  expect(scheduler.submittedTasks).toBe(tasks + 1); // and the one that makes what they share
  expect(scheduler.seen.largestArray).toBe(1001);

  const { rounds, retried, silence, last } = await watch(tasks, scheduler, submission, freshLab);
  expect(last.counts).toMatchObject({ done: tasks, failed: 0, unknown: 0, unsubmitted: 0 });
  expect(new Set(last.tasks.map(({ uid }) => uid)).size).toBe(tasks);
  expect(silence, 'while it was silent nothing failed, and nothing was submitted again').toMatchObject({ failed: 0, refused: true });
  expect(silence.unknown).toBeGreaterThan(tasks / 10);
  expect(scheduler.submittedTasks).toBe(tasks + 1 + retried);
  expect(scheduler.seen.preempted).toBeGreaterThan(tasks * 0.03);
  expect(scheduler.seen.lost).toBeGreaterThan(tasks * 0.005);
  expect(scheduler.seen.unseen).toBeGreaterThan(0);
  const executions = [...scheduler.seen.executions.values()].reduce((sum, count) => sum + count, 0);
  expect(executions, 'every execution but the first has its reason').toBeLessThanOrEqual(
    tasks + 1 + scheduler.seen.preempted + scheduler.seen.lost + retried,
  );
  return rounds;
}

/** Looks every minute, with a new lab now and then, and retries what failed, until all is done. */
async function watch(tasks: number, scheduler: PretendScheduler, submission: Submission, freshLab: () => Cluster) {
  let lab = freshLab();
  let retried = 0;
  let silence = { unknown: 0, failed: 0, refused: false };
  let last: SubmissionStatus | undefined;
  for (let round = 1; round <= 200; round++) {
    scheduler.pass(60_000);
    if (round % 5 === 0) lab = freshLab();
    if (round === 8) scheduler.silentUntil = scheduler.now + 60_000;
    last = await lab.status(submission);
    if (round === 8) {
      const refusal = await lab.retry(submission, null).catch((error: unknown) => error);
      silence = { unknown: last.counts.unknown, failed: last.counts.failed, refused: refusal instanceof Silent };
      continue;
    }
    if (last.counts.done === tasks) return { rounds: round, retried, silence, last };
    if (last.counts.failed > 0) retried += (await lab.retry(submission, null)).length;
  }
  throw new Error(`not done after 200 minutes: ${JSON.stringify(last?.counts)}`);
}
