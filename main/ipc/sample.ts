// The sample study on its way into the database: read by a process of its own, because a hundred runs take seconds and the
// window must not stand still. Runs are known by their uid, so a second time changes nothing.

import { z } from 'zod';
import { sampleStudyFile } from '../paths.ts';
import { fromWorker } from '../process/messages.ts';
import type { Context } from './context.ts';
import { CallFailure } from './dispatch.ts';
import { spawnUtility } from './utility.ts';

const imported = z.object({ runs: z.array(z.int()), study: z.string().nullable() });

/** Answers with the study's id. */
export async function importSample(context: Context): Promise<number> {
  const { store } = context.lab;
  const result = imported.parse(await importElsewhere(context));
  context.lab.changed(...result.runs);
  const study = result.study === null ? undefined : store.studies.find(result.study);
  if (!study)
    throw new CallFailure('no-study', 'The sample file holds runs but no study.', 'The runs are in Runs; this is a fault in the lab.');
  return study.id;
}

function importElsewhere(context: Context): Promise<unknown> {
  const worker = spawnUtility();
  return new Promise<unknown>((resolve, reject) => {
    const hint = 'Nothing was changed. Try again; if it stays so, reinstall the lab.';
    worker.onMessage((raw) => {
      const message = fromWorker.parse(raw);
      if (message.kind === 'done') resolve(message.result);
      if (message.kind === 'failed') reject(new CallFailure('no-import', `The sample study was not opened: ${message.message}`, hint));
      if (message.kind === 'progress') context.emit('studies.sampleProgress', { done: message.done, total: message.total });
    });
    worker.onExit((reason) => reject(new CallFailure('no-import', `The import ended unexpectedly (${reason}).`, hint)));
    worker.send({ kind: 'job', id: 1, job: { kind: 'import', dataFolder: context.dataFolder, file: sampleStudyFile() } });
  }).finally(() => worker.kill());
}
