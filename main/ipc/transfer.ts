// Runs out of the lab as an .astrolab file, and into it: by dialog, by dropping a file on the window, or by opening one.

import { extname } from 'node:path';
import { dialog } from 'electron';
import { z } from 'zod';
import type { transferCalls } from '../../preload/contract/transfer.ts';
import { importElsewhere } from '../process/import-elsewhere.ts';
import { aside } from './aside.ts';
import { fileName } from './charts.ts';
import type { Context } from './context.ts';
import { CallFailure } from './dispatch.ts';
import type { Handlers } from './dispatch.ts';
import { spawnUtility } from './utility.ts';

const FILTERS = [{ name: 'Astrolab runs', extensions: ['astrolab'] }];
const exported = z.object({ bytes: z.number() });

/** Adds the runs of a file; answers with them and with the id of the study that came along. */
export async function importRuns(
  context: Context,
  file: string,
  onProgress: (done: number, total: number) => void,
): Promise<{ runs: number[]; study: number | null }> {
  if (extname(file) !== '.astrolab') throw new CallFailure('not-astrolab', `${file} is not an .astrolab file.`, 'Export runs to get one.');
  const { lab } = context;
  try {
    const found = await importElsewhere(spawnUtility, context.dataFolder, file, { progress: onProgress });
    const runs = found.runs.map(({ run }) => run);
    lab.changed(...runs);
    const study = found.study === null ? undefined : lab.store.studies.find(found.study);
    return { runs, study: study?.id ?? null };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new CallFailure('no-import', `The file was not imported: ${message}`, 'Nothing was changed.');
  }
}

export function transferHandlers(context: Context): Handlers<typeof transferCalls> {
  const tell = (done: number, total: number): void => context.emit('runs.transferProgress', { done, total });
  return {
    'runs.export': async ({ runs, checkpoints }) => {
      const first = context.lab.store.runs.get(runs[0] ?? 0);
      const name = runs.length === 1 ? `run-${first.id}-${first.name}` : `${runs.length}-runs`;
      const { canceled, filePath } = await dialog.showSaveDialog({
        title: 'Export runs',
        defaultPath: `${fileName(name)}.astrolab`,
        filters: FILTERS,
      });
      if (canceled || !filePath) return { file: null, bytes: 0 };
      const job = { kind: 'export' as const, dataFolder: context.dataFolder, file: filePath, runs, checkpoints };
      const { bytes } = exported.parse(await aside(job, 'The runs were not exported'));
      return { file: filePath, bytes };
    },

    'runs.import': async ({ file }) => {
      let chosen = file;
      if (chosen === null) {
        const { canceled, filePaths } = await dialog.showOpenDialog({ title: 'Import runs', properties: ['openFile'], filters: FILTERS });
        chosen = canceled ? null : (filePaths[0] ?? null);
      }
      return chosen === null ? { runs: [], study: null } : importRuns(context, chosen, tell);
    },
  };
}
