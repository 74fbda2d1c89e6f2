// Brings finished runs into the lab: each result is checked against the hash its task left, and imported once, because a run is identified by
// its uid. What was collected before changes nothing, so collecting may be interrupted and repeated at will.

import { existsSync, readFileSync, rmSync } from 'node:fs';
import { sha256 } from '../base/canonical.ts';
import { ImportError } from '../interchange/container.ts';
import type { Store } from '../store/store.ts';
import { importFile } from '../interchange/import.ts';
import type { Place } from './place.ts';
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
    await place.pull(
      some.flatMap(({ result }) => (result ? [`${submission.id}/results/${result.file.replace(/\.astrolab$/, '')}.*`] : [])),
    );
    for (const task of some) {
      try {
        added.push(collectOne(store, submission, task));
      } catch (error) {
        if (!(error instanceof ImportError)) throw error;
        refused.push({ task: task.id, reason: error.message });
      }
      // The window stays alive between two runs.
      await new Promise((resolve) => setImmediate(resolve));
    }
    if (place.here !== place.there)
      for (const { result } of some) if (result) rmSync(submission.path('results', result.file), { force: true });
  }
  return { added, known, refused };
}

/** The reference policies and V* samples that the tasks shared, for baselines, replay and later runs. */
async function collectShared(store: Store, place: Place, submission: Submission): Promise<void> {
  await place.pull(submission.file.sharers.map((sharer) => `${submission.id}/shared/${sharer}.shared`));
  for (const sharer of submission.file.sharers) tolerant(() => readShared(store, submission.path('shared', `${sharer}.shared`)));
}

function collectOne(store: Store, submission: Submission, { id, uid, result }: TaskStatus): number {
  const file = submission.path('results', result?.file ?? '');
  if (result === null || !existsSync(file)) throw new ImportError(`${file} is not there, though task ${id} said that it is done`);
  const found = sha256(readFileSync(file));
  if (found !== result.sha256) throw new ImportError(`${file} was altered: sha256 ${result.sha256} expected, ${found} found`);
  tolerant(() => readShared(store, file.replace(/\.astrolab$/, '.shared')));
  const [run] = importFile(store, file).runs;
  if (!run || run.uid !== uid) throw new ImportError(`${file} holds another run than task ${id}`);
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
    if (!(error instanceof ImportError)) throw error;
  }
}
