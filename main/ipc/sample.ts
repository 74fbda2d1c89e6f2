// The sample study on its way into the database: read by a process of its own, because a hundred runs take seconds and the
// window must not stand still. Runs are known by their uid, so a second time changes nothing.

import { sampleStudyFile } from '../paths.ts';
import { importElsewhere } from '../process/import-elsewhere.ts';
import type { ImportResult } from '../store/import.ts';
import type { Context } from './context.ts';
import { CallFailure } from './dispatch.ts';
import { spawnUtility } from './utility.ts';

/** Answers with the study's id. */
export async function importSample(context: Context): Promise<number> {
  const { store } = context.lab;
  const result = await importHere(context);
  context.lab.changed(...result.runs.map(({ run }) => run));
  const study = result.study === null ? undefined : store.studies.find(result.study);
  if (!study)
    throw new CallFailure('no-study', 'The sample file holds runs but no study.', 'The runs are in Runs; this is a fault in the lab.');
  return study.id;
}

async function importHere(context: Context): Promise<ImportResult> {
  try {
    return await importElsewhere(spawnUtility, context.dataFolder, sampleStudyFile(), {
      progress: (done, total) => context.emit('studies.sampleProgress', { done, total }),
    });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const hint = 'Nothing was changed. Try again; if it stays so, reinstall the lab.';
    throw new CallFailure('no-import', `The sample study was not opened: ${message}`, hint);
  }
}
