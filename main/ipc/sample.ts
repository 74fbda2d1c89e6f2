// The sample study on its way into the database. Runs are identified by their uid, so a second time changes nothing.

import { sampleStudyFile } from '../base/paths.ts';
import type { Context } from './context.ts';
import { CallFailure } from './dispatch.ts';
import { importRuns } from './transfer.ts';

/** Answers with the study's id. */
export async function importSample(context: Context): Promise<number> {
  const { study } = await importRuns(context, sampleStudyFile(), (done, total) => context.emit('studies.sampleProgress', { done, total }));
  if (study === null)
    throw new CallFailure('no-study', 'The sample file holds runs but no study.', 'The runs are in Runs; please report this.');
  return study;
}
