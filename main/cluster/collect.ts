// Brings finished runs into the lab: each result is checked against the hash its task left, and imported once, because a run is identified by
// its uid. What was collected before changes nothing, so collecting may be interrupted and repeated at will.

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { ImportError } from '../interchange/container.ts';
import type { Store } from '../store/store.ts';
import { importFile } from '../interchange/import.ts';
import { DamagedSubmission, hashRegularFile, MOST_BYTES } from './incoming.ts';
import { type Place, pullSound, type WantedFile } from './place.ts';
import { readShared } from './shared-file.ts';
import type { SubmissionStatus, TaskStatus } from './status.ts';
import type { Submission } from './submission.ts';

export interface Collected {
  /** Runs that are new in the store. */
  readonly added: readonly number[];
  /** Runs that were there already. */
  readonly known: readonly number[];
  /** Results that cannot be trusted; their tasks can be retried. */
  readonly refused: readonly { readonly task: string; readonly reason: string }[];
}

/** Results copied over ssh in one go. */
const COPIED_AT_ONCE = 20;

export async function collectResults(store: Store, place: Place, submission: Submission, status: SubmissionStatus): Promise<Collected> {
  const added: number[] = [];
  const known: number[] = [];
  const refused: { task: string; reason: string }[] = [];
  const fresh: TaskStatus[] = [];
  for (const task of status.tasks) {
    if (task.state !== 'done' || task.uid === null || task.result === null) continue;
    const run = store.runs.findByUid(task.uid);
    if (run) known.push(run.id);
    else fresh.push(task);
  }
  if (fresh.length > 0) await collectShared(store, place, submission);
  for (let start = 0; start < fresh.length; start += COPIED_AT_ONCE) {
    const some = fresh.slice(start, start + COPIED_AT_ONCE);
    const files = some.flatMap((task) => resultFiles(submission, task));
    const withheld = await pullSound(place, files);
    for (const task of some) {
      try {
        const reason = resultFiles(submission, task).flatMap(({ name }) => withheld.get(name) ?? [])[0];
        if (reason !== undefined) throw new ImportError(reason);
        added.push(collectOne(store, submission, task));
      } catch (error) {
        if (!isRefusal(error)) throw error;
        refused.push({ task: task.id, reason: error.message });
      }
      // The window stays alive between two runs.
      await new Promise((resolve) => setImmediate(resolve));
    }
    if (place.here !== place.there) for (const { name } of files) rmSync(join(place.here, name), { force: true });
  }
  return { added, known, refused };
}

/** The run that a task left, and what it made for itself. */
function resultFiles({ id }: Submission, { result }: TaskStatus): WantedFile[] {
  if (result === null) return [];
  return [
    { name: `${id}/results/${result.file}`, most: result.bytes },
    { name: `${id}/results/${sharedBeside(result.file)}`, most: MOST_BYTES.shared },
  ];
}

const sharedBeside = (file: string): string => file.replace(/\.\w+$/, '.shared');

const isRefusal = (error: unknown): error is Error => error instanceof ImportError || error instanceof DamagedSubmission;

/** The reference policies and V* samples that the tasks shared, for baselines, replay and later runs. */
async function collectShared(store: Store, place: Place, submission: Submission): Promise<void> {
  const names = submission.file.sharers.map((sharer) => `${sharer}.shared`);
  await pullSound(
    place,
    names.map((name) => ({ name: `${submission.id}/shared/${name}`, most: MOST_BYTES.shared })),
  );
  for (const name of names) tolerant(() => readSharedFile(store, submission.path('shared', name)));
}

/** Only a regular file is opened: a pipe would be waited for. */
function readSharedFile(store: Store, file: string): void {
  if (hashRegularFile(file) !== null) readShared(store, file);
}

function collectOne(store: Store, submission: Submission, { id, uid, result }: TaskStatus): number {
  if (uid === null || result?.file.endsWith('.astrolab') !== true) throw new ImportError(`Task ${id} left no run`);
  const file = submission.path('results', result.file);
  const found = hashRegularFile(file);
  if (found === null) throw new ImportError(`${file} is not there, though task ${id} said that it is done`);
  if (found.sha256 !== result.sha256) throw new ImportError(`${file} was altered: sha256 ${result.sha256} expected, ${found.sha256} found`);
  tolerant(() => readSharedFile(store, submission.path('results', sharedBeside(result.file))));
  const [run] = importFile(store, file, { only: uid }).runs;
  if (!run) throw new ImportError(`${file} holds no run`);
  removeFailures(store, run.run);
  return run.run;
}

/** A task that failed and was then retried left a row that says so (study/work.ts): it never started here, and goes to the trash. */
function removeFailures(store: Store, run: number): void {
  const { configHash } = store.runs.get(run);
  const failed = store.runs.list().filter((one) => one.configHash === configHash && one.state === 'failed' && one.startedAt === null);
  if (failed.length > 0) store.write(() => store.runs.delete(failed.map(({ id }) => id)));
}

/** Without these a run is as good; they are made again when they are needed. */
function tolerant(work: () => void): void {
  try {
    work();
  } catch (error) {
    if (!isRefusal(error)) throw error;
  }
}
