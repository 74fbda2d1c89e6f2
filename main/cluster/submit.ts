// Hands a submission's tasks to the scheduler, each exactly once, whatever happens in between. Before sbatch the journal says which job name
// is about to exist, afterwards which number it got. After a crash the name is looked up: a job of that name is ours and is taken over; a
// silent scheduler means waiting, never a second try; and only a scheduler that answers and does not know the name a minute later frees
// its tasks to be submitted again.

import type { ClusterSettings } from './clusters.ts';
import { jobName, MOST_BYTES, readSeen } from './incoming.ts';
import { withLock } from './lock.ts';
import type { Place } from './place.ts';
import { batchScript } from './script.ts';
import { Refused, type Scheduler, Silent } from './slurm.ts';
import { type Part, type Submission, writeWhole } from './submission.ts';

/** Where a scheduler does not say how long an array may be: Slurm's default. */
const USUAL_ARRAY_LIMIT = 1000;
/** How long an sbatch that nobody waited for may take to arrive. */
const ARRIVAL_MS = 60_000;

export interface Clock {
  now(): number;
}

export interface Submitter {
  /** What jobs ask for: this lab's settings of the cluster, not those that stand in a folder there. */
  readonly settings: ClusterSettings;
  readonly place: Place;
  readonly scheduler: Scheduler;
  readonly clock: Clock;
}

/** Brings here what says which arrays there are. */
export async function refresh({ place }: Submitter, submission: Submission): Promise<void> {
  const { id } = submission;
  await place.pull([{ name: `${id}/journal.jsonl`, most: MOST_BYTES.journal }]);
  const numbers = new Set(submission.journal().flatMap((line) => (line.is === 'intent' ? [line.part] : [])));
  await place.pull([...numbers].map((number) => ({ name: `${id}/parts/${number}.txt`, most: MOST_BYTES.part })));
}

/** Submits every task that no job has yet. Returns the arrays. Throws `Silent` when the scheduler does not answer, `Refused` when sbatch says no. */
export async function ensureSubmitted(to: Submitter, submission: Submission): Promise<Part[]> {
  return withLock(to.place, submission.id, async () => {
    await refresh(to, submission);
    await settle(to, submission);
    const covered = new Set(submission.parts().flatMap(({ refused, tasks }) => (refused === null ? tasks : [])));
    const open = (ids: readonly string[]): string[] => ids.filter((id) => !covered.has(id));
    await submitTasks(to, submission, open(submission.file.sharers), []);
    const { sharers } = submission.file;
    const first = submission.parts().filter(({ job, tasks }) => job !== null && tasks.some((task) => sharers.includes(task)));
    const after = first.flatMap(({ job }) => job ?? []);
    await submitTasks(to, submission, open(submission.file.tasks.map(({ id }) => id)), after);
    return submission.parts();
  });
}

/** Submits tasks again that have ended without a result; the caller knows that they have. */
export async function resubmit(to: Submitter, submission: Submission, tasks: readonly string[]): Promise<Part[]> {
  return withLock(to.place, submission.id, async () => {
    await settle(to, submission);
    await submitTasks(to, submission, tasks, []);
    return submission.parts();
  });
}

/** Finds out what became of arrays whose sbatch nobody saw end. */
async function settle(to: Submitter, submission: Submission): Promise<void> {
  const journal = submission.journal();
  const open = submission.parts(journal).filter(({ job, refused }) => job === null && refused === null);
  if (open.length === 0) return;
  await to.place.pull(open.map(({ name }) => ({ name: `${submission.id}/seen/${name}`, most: MOST_BYTES.seen })));
  const answer = await to.scheduler.jobs(
    open.map(({ name }) => name),
    submission.file.createdAt,
  );
  if (answer === null)
    throw new Silent(`The scheduler does not answer, so nobody knows whether ${open.map(({ name }) => name).join(', ')} exists`);
  for (const { number, name } of open) {
    const job = answer.jobs.find((record) => record.name === name)?.job ?? readSeen(submission.folder, name);
    const at = to.clock.now();
    const intended = journal.findLast((line) => line.is === 'intent' && line.part === number)?.at ?? 0;
    if (job !== undefined) await record(to, submission, { is: 'submitted', at, part: number, job });
    else if (at - intended >= ARRIVAL_MS)
      await record(to, submission, { is: 'refused', at, part: number, reason: 'It never reached the scheduler' });
    else {
      const wait = Math.ceil((ARRIVAL_MS - (at - intended)) / 1000);
      throw new Silent(`The submission of ${name} was interrupted and may still arrive; its outcome will be clear in ${wait} s`);
    }
  }
}

async function submitTasks(to: Submitter, submission: Submission, tasks: readonly string[], after: readonly string[]): Promise<void> {
  if (tasks.length === 0) return;
  const limit = (await to.scheduler.arrayLimit()) ?? USUAL_ARRAY_LIMIT;
  for (let start = 0; start < tasks.length; start += limit) {
    await submitPart(to, submission, tasks.slice(start, start + limit), after);
  }
}

async function submitPart(to: Submitter, submission: Submission, tasks: readonly string[], after: readonly string[]): Promise<void> {
  const { id, file } = submission;
  const part = submission.parts().reduce((most, { number }) => Math.max(most, number), 0) + 1;
  const name = jobName(id, part);
  const folder = `${to.place.there}/${id}`;
  writeWhole(submission.path('parts', `${part}.txt`), `${tasks.join('\n')}\n`);
  const cluster = { ...to.settings, memory: to.settings.memory || file.cluster.memory };
  writeWhole(submission.path('parts', `${part}.sh`), batchScript({ cluster, folder, name, part, tasks: tasks.length, after }));
  await to.place.push([`${id}/parts/${part}.txt`, `${id}/parts/${part}.sh`]);
  await record(to, submission, { is: 'intent', at: to.clock.now(), part, name, tasks: tasks.length });
  try {
    const job = await to.scheduler.submit(`${folder}/parts/${part}.sh`);
    await record(to, submission, { is: 'submitted', at: to.clock.now(), part, job });
  } catch (error) {
    if (error instanceof Refused) await record(to, submission, { is: 'refused', at: to.clock.now(), part, reason: error.message });
    throw error;
  }
}

export async function record(to: Submitter, submission: Submission, line: Parameters<Submission['record']>[0]): Promise<void> {
  submission.record(line);
  await to.place.push([`${submission.id}/journal.jsonl`]);
}
