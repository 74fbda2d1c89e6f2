// The true state of every task, from three witnesses: what its attempts wrote, what the scheduler says, and what the journal knows. A task
// is done only when its result is there; it is failed only when something says so; and while the scheduler is silent it is unknown.

import type { AttemptNews, ProgressReader } from './progress.ts';
import { type JobRecord, MOST_BYTES } from './incoming.ts';
import type { SchedulerAnswer } from './slurm.ts';
import type { Part, Submission } from './submission.ts';
import type { Submitter } from './submit.ts';

export const TASK_STATES = ['unsubmitted', 'pending', 'running', 'requeued', 'done', 'failed', 'cancelled', 'unknown'] as const;
export type TaskState = (typeof TASK_STATES)[number];

export interface TaskStatus {
  readonly id: string;
  readonly name: string;
  readonly seed: number | null;
  readonly uid: string | null;
  readonly state: TaskState;
  /** Why it is in that state, in words; empty where the state says all. */
  readonly reason: string;
  readonly node: string;
  readonly attempts: number;
  readonly phase: string;
  readonly done: number;
  readonly total: number;
  readonly planned: number;
  readonly success: number | null;
  readonly saved: number | null;
  /** Where the log of its newest array lies, relative to the submission. */
  readonly log: string | null;
  /** As the scheduler calls it (`12_3`). */
  readonly job: string | null;
  readonly result: { readonly file: string; readonly sha256: string; readonly bytes: number } | null;
}

export interface SubmissionStatus {
  readonly id: string;
  readonly title: string;
  readonly cluster: string;
  readonly createdAt: number;
  /** Which command answered; null when the scheduler is silent. */
  readonly source: SchedulerAnswer['source'] | null;
  readonly tasks: readonly TaskStatus[];
  /** Tasks that make what others share. */
  readonly sharers: readonly TaskStatus[];
  readonly counts: Readonly<Record<TaskState, number>>;
}

/** How long a task may be gone from the scheduler without its last words having reached this machine (file systems cache). */
const GRACE_MS = 120_000;

export async function statusOf(to: Submitter, submission: Submission, reader: ProgressReader): Promise<SubmissionStatus> {
  const { id, title, cluster, createdAt, tasks, sharers } = submission.file;
  const journal = submission.journal();
  const parts = submission.parts(journal);
  // What has left all its results is asked of nobody again: a list of old submissions costs the scheduler nothing.
  const over = reader.allDone(new Set(tasks.map((task) => task.id)));
  const answer =
    parts.length === 0 || over
      ? { source: 'squeue' as const, jobs: [] }
      : await to.scheduler.jobs(
          parts.map(({ name }) => name),
          createdAt,
        );
  // After the scheduler: whatever it says has ended has written its last line before.
  if (!over) await to.place.pullFolder(`${id}/progress`, MOST_BYTES.progress, (name) => reader.isDone(name));
  const attempts = reader.read();
  const records = new Map(answer?.jobs.map((job) => [`${job.name} ${job.index}`, job]));
  const places = new Map<string, { part: Part; index: number }>();
  for (const part of parts) if (part.refused === null) part.tasks.forEach((task, index) => places.set(task, { part, index }));
  const refusals = new Map(
    parts.flatMap(({ refused, tasks: list }) => (refused === null ? [] : list.map((task) => [task, refused] as const))),
  );
  const intents = new Map(journal.flatMap((line) => (line.is === 'intent' ? [[line.part, line.at] as const] : [])));
  const cancelled = new Map(journal.flatMap((line) => (line.is === 'cancelled' ? line.tasks.map((task) => [task, line.at] as const) : [])));

  const look = (task: { id: string; name: string; seed: number | null; uid: string | null; planned: number }): TaskStatus => {
    const place = places.get(task.id);
    const own = attempts.get(task.id) ?? [];
    const since = place ? (intents.get(place.part.number) ?? createdAt) : createdAt;
    const verdict = judge({
      attempts: own,
      part: place?.part,
      record: place && records.get(`${place.part.name} ${place.index}`),
      silent: answer === null,
      cancelled: (cancelled.get(task.id) ?? 0) > since,
      refusal: refusals.get(task.id) ?? '',
      since,
      now: to.clock.now(),
    });
    const last = own.at(-1);
    const finished = own.find(({ end }) => end?.is === 'done')?.end;
    return {
      ...task,
      ...verdict,
      node:
        place && records.get(`${place.part.name} ${place.index}`)?.node
          ? (records.get(`${place.part.name} ${place.index}`)?.node ?? '')
          : (last?.node ?? ''),
      attempts: own.length,
      phase: last?.phase ?? '',
      done: last?.done ?? 0,
      total: last?.total ?? 0,
      success: last?.success ?? null,
      saved: own.reduce<number | null>((most, { saved }) => (saved === null ? most : Math.max(most ?? 0, saved)), null),
      log: place ? `logs/${place.part.number}-${place.index}.txt` : null,
      job: place?.part.job ? `${place.part.job}_${place.index}` : null,
      result: finished?.is === 'done' ? { file: finished.file, sha256: finished.sha256, bytes: finished.bytes } : null,
    };
  };
  const looked = tasks.map(({ id: task, name, seed, uid, planned }) => look({ id: task, name, seed, uid, planned }));
  const counts = Object.fromEntries(TASK_STATES.map((state) => [state, looked.filter((one) => one.state === state).length]));
  return {
    id,
    title,
    cluster: cluster.name,
    createdAt,
    source: answer?.source ?? null,
    tasks: looked,
    sharers: sharers.map((sharer) => look({ id: sharer, name: 'reference policy and V*', seed: null, uid: null, planned: 0 })),
    counts: { ...NONE, ...counts },
  };
}

const NONE: Record<TaskState, number> = {
  unsubmitted: 0,
  pending: 0,
  running: 0,
  requeued: 0,
  done: 0,
  failed: 0,
  cancelled: 0,
  unknown: 0,
};

interface Witnesses {
  readonly attempts: readonly AttemptNews[];
  readonly part: Part | undefined;
  readonly record: JobRecord | undefined;
  readonly silent: boolean;
  readonly cancelled: boolean;
  readonly refusal: string;
  /** When its newest array was submitted. */
  readonly since: number;
  readonly now: number;
}

const WAITING = ['PENDING', 'CONFIGURING', 'REQUEUED', 'REQUEUE_HOLD', 'REQUEUE_FED', 'RESV_DEL_HOLD', 'SPECIAL_EXIT'];
const AT_WORK = ['RUNNING', 'COMPLETING', 'SUSPENDED', 'STOPPED', 'SIGNALING', 'STAGE_OUT', 'RESIZING'];

/** What Slurm's words for a bad end mean to the user. */
const ENDS: Readonly<Record<string, string>> = {
  FAILED: 'The task ended with an error',
  TIMEOUT: 'The time limit was reached before a checkpoint could be saved',
  NODE_FAIL: 'Its node failed',
  OUT_OF_MEMORY: 'It needed more memory than the cluster’s settings give it',
  BOOT_FAIL: 'Its node did not start',
  DEADLINE: 'Its deadline passed',
  PREEMPTED: 'It was preempted and not requeued',
  REVOKED: 'The scheduler revoked it',
};

export function judge({ attempts, part, record, silent, cancelled, refusal, since, now }: Witnesses): Pick<TaskStatus, 'state' | 'reason'> {
  if (attempts.some(({ end }) => end?.is === 'done')) return { state: 'done', reason: '' };
  if (!part) return { state: 'unsubmitted', reason: refusal };
  const own = attempts.filter(({ job }) => job === part.job).at(-1);
  if (record && WAITING.includes(record.state)) return { state: own ? 'requeued' : 'pending', reason: waitingWords(record) };
  if (record && AT_WORK.includes(record.state)) return { state: 'running', reason: '' };
  // Its report needs no scheduler: a task that says so has ended.
  if (own?.end?.is === 'failed') return { state: 'failed', reason: own.end.reason };
  if (record?.state === 'CANCELLED') return { state: 'cancelled', reason: '' };
  if (record && ENDS[record.state]) return { state: 'failed', reason: endWords(record, own) };
  if (silent) return { state: 'unknown', reason: 'The scheduler does not answer' };
  if (cancelled) return { state: 'cancelled', reason: '' };
  if (part.job === null) return { state: 'unknown', reason: 'Its submission was interrupted' };
  if (now - Math.max(since, own?.at ?? 0) < GRACE_MS)
    return { state: 'unknown', reason: 'It has left the scheduler; its result has not been seen yet' };
  return { state: 'failed', reason: `It ended without a result (${record?.state ?? 'the scheduler no longer knows it'})` };
}

const waitingWords = ({ state, reason }: JobRecord): string =>
  state === 'PENDING' ? (['None', 'Priority', 'Resources', ''].includes(reason) ? '' : reason) : `${state} ${reason}`.trim();

function endWords({ state, reason }: JobRecord, own: AttemptNews | undefined): string {
  if (own?.end?.is === 'stopped') return `It saved update ${own.end.update} but could not be requeued; retry resumes from there`;
  const detail = ['None', '', 'NonZeroExitCode'].includes(reason) ? '' : ` (${reason})`;
  return `${ENDS[state] ?? state}${detail}${own?.saved ? `; retry resumes from update ${own.saved}` : ''}`;
}
