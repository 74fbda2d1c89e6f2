// A checkpoint of everything a run needs to continue exactly: weights, optimizer state and memory.

import { describeModel } from '../policy/network.ts';
import type { TrainingRun } from './training-run.ts';
import { saveState } from './weights.ts';

/** Saves the run after an update. `kept` checkpoints survive the pruning of old ones. */
export async function saveCheckpoint(run: TrainingRun, update: number, kept: boolean): Promise<void> {
  const { setup, trainer, tasks, vstar, groups } = run;
  const state = await trainer.download();
  run.memory = { ...run.memory, tasks: tasks.save(), valued: vstar.save(), groups: groups.save() };
  const notes = { model: JSON.stringify(describeModel(setup.model)), tokenizer: JSON.stringify(setup.codec.tokenizer.json) };
  await run.reporter.checkpoint(update, kept, () =>
    run.files.save(update, (path) => saveState(path, setup.layout, state, run.memory, notes)),
  );
}
