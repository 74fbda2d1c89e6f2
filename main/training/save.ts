// A checkpoint of everything a run needs to continue exactly: weights, optimizer state and memory.

import { describeModel } from '../policy/transformer/network.ts';
import type { TrainingMemory } from './memory.ts';
import type { TrainingRun } from './training-run.ts';
import { saveState } from './weights.ts';

interface SaveOptions {
  /** Survives the pruning of old ones. */
  readonly kept?: boolean;
  /** What was under way and has to be done again by a resumed run. */
  readonly unfinished?: TrainingMemory['unfinished'];
  /** So many tasks had a V* after the update; those valued since belong to the next one. */
  readonly valued?: number;
}

/** Saves the run after an update. */
export async function saveCheckpoint(run: TrainingRun, update: number, options: SaveOptions = {}): Promise<void> {
  const { kept = false, unfinished, valued } = options;
  const { setup, trainer, tasks, vstar, groups } = run;
  const state = await trainer.download();
  run.memory = { ...run.memory, tasks: tasks.save(), valued: vstar.save().slice(0, valued), groups: groups.save() };
  const memory = { ...run.memory, ...(unfinished && { unfinished }) };
  const notes = { model: JSON.stringify(describeModel(setup.model)), tokenizer: JSON.stringify(setup.codec.tokenizer.json) };
  await run.reporter.checkpoint(update, kept, () =>
    run.files.save(update, (path) => saveState(path, setup.layout, state, memory, notes), unfinished !== undefined),
  );
  if (!unfinished) run.saved = update;
}
