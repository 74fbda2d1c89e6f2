// Starts or resumes a run from its newest sound checkpoint; a run without one starts from the beginning. Both are one act: take the
// run's lock, cut its record back to the checkpoint, and say from where to train.

import type { Checkpoint } from '../store/checkpoints.ts';
import { rewind } from '../store/run-writer.ts';
import type { Run } from '../store/runs.ts';
import type { Store } from '../store/store.ts';
import { originOf } from './branch.ts';

export interface StartingPoint {
  readonly run: Run;
  /** Undefined: from the very beginning. */
  readonly checkpoint: Checkpoint | undefined;
  /** For the beginning of a branch: the other run's checkpoint that it starts from. */
  readonly origin: Checkpoint | undefined;
}

/** Everything the run recorded would be dropped: only on request. */
export class NoSoundCheckpoint extends Error {
  override name = 'NoSoundCheckpoint';
  readonly code = 'no-checkpoint';
  readonly hint: string;

  constructor(run: Run, damaged: number) {
    const why =
      damaged === 0 ? 'it has no checkpoint' : `none of its ${damaged} checkpoints is whole (the files are missing or were changed)`;
    super(`Run ${run.id} cannot be resumed after update ${run.updates}: ${why}. Nothing was changed.`);
    this.hint = `Starting again from the beginning would drop its ${run.updates} recorded updates: \`lab resume ${run.id} --restart\`, or Restart in the window. \`lab check\` says what is damaged.`;
  }
}

/** Throws `NoSoundCheckpoint` when resuming would drop recorded updates because no checkpoint can be read. */
export function checkResumable(store: Store, id: number): void {
  const run = store.runs.get(id);
  if (run.updates === 0 || store.checkpoints.newestSound(id) !== undefined) return;
  throw new NoSoundCheckpoint(run, store.checkpoints.list(id).length);
}

/** Locks the run for this process and brings its record to where training continues. Throws `RunLocked` and `NoSoundCheckpoint`. */
export function startRun(store: Store, run: number, restart = false): StartingPoint {
  store.locks.take(run);
  try {
    if (!restart) checkResumable(store, run);
    const before = store.runs.get(run);
    const checkpoint = rewind(store, run);
    const branch = checkpoint ? undefined : before.config.branch;
    const origin = branch && originOf(store, branch).checkpoint;
    const update = checkpoint?.update ?? 0;
    store.write(() => {
      if (before.startedAt !== null) {
        const dropped = Math.max(0, before.updates - update);
        const text =
          `Resumed from update ${update}` + (dropped > 0 ? `; ${dropped} ${dropped === 1 ? 'update' : 'updates'} recomputed` : '');
        store.events.add(run, { update, kind: 'state', severity: 'info', text, data: { dropped } });
      }
      store.runs.change(run, {
        state: 'running',
        reason: null,
        position: null,
        finishedAt: null,
        startedAt: before.startedAt ?? Date.now(),
      });
    });
    return { run: store.runs.get(run), checkpoint, origin };
  } catch (error) {
    store.locks.release(run);
    throw error;
  }
}
