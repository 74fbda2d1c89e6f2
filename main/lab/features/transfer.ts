// Calls that take runs out of the lab as a file and into it.

import { extname } from 'node:path';
import { z } from 'zod';
import { spawnChild } from '../../process/child.ts';
import { exportRuns } from '../../interchange/transfer.ts';
import type { Store } from '../../store/store.ts';
import { importElsewhere } from '../../process/import-elsewhere.ts';
import { CallFailure, type Handlers } from '../definition.ts';
import { fileName } from '../file-name.ts';
import type { Lab } from '../lab.ts';

const run = z.int().min(1);

export const calls = {
  /** Asks where; null when the user changed their mind. */
  'transfer.export': {
    input: z.strictObject({ runs: z.array(run).min(1).max(10_000), checkpoints: z.boolean() }),
    answer: z.object({ file: z.string().nullable(), bytes: z.number() }),
  },
  /** A file that was dropped or opened; null asks for one. No runs when the user changed their mind. */
  'transfer.import': {
    input: z.strictObject({ file: z.string().max(4000).nullable() }),
    answer: z.object({ runs: z.array(run), study: z.int().nullable() }),
  },
};

export const events = {
  'transfer.progress': z.object({ done: z.number(), total: z.number() }),
};

const FILTERS = [{ name: 'Astrolab runs', extensions: ['astrolab'] }];

/** Adds the runs of a file; answers with them and with the id of the study that came along. */
export async function importRuns(
  lab: Lab,
  file: string,
  onProgress: (done: number, total: number) => void,
): Promise<{ runs: number[]; study: number | null }> {
  if (extname(file) !== '.astrolab') throw new CallFailure('not-astrolab', `${file} is not an .astrolab file.`, 'Export runs to get one.');
  try {
    const found = await importElsewhere(spawnChild, lab.dataFolder, file, { progress: onProgress });
    const runs = found.runs.map(({ run }) => run);
    lab.changed(...runs);
    if (found.study !== null) lab.studiesChanged();
    const study = found.study === null ? undefined : lab.store.studies.find(found.study);
    return { runs, study: study?.id ?? null };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new CallFailure('no-import', `The file was not imported: ${message}`, 'Nothing was changed.');
  }
}

interface WantedFile {
  readonly file: string;
  readonly runs: readonly number[];
  readonly checkpoints: boolean;
}

export const reads = {
  write: (store: Store, { file, runs, checkpoints }: WantedFile) => exportRuns(store, runs, file, { checkpoints }),
};

export function handlers(lab: Lab): Handlers<typeof calls> {
  const progress = (done: number, total: number): void => lab.emit('transfer.progress', { done, total });
  return {
    'transfer.export': async ({ runs, checkpoints }) => {
      const first = lab.store.runs.get(runs[0] ?? 0);
      const name = runs.length === 1 ? `run-${first.id}-${first.name}` : `${runs.length}-runs`;
      const file = await lab.desktop.chooseTarget({
        title: 'Export runs',
        defaultPath: `${fileName(name)}.astrolab`,
        filters: FILTERS,
      });
      if (file === null) return { file, bytes: 0 };
      return lab.read('transfer', 'write', { file, runs, checkpoints }, { files: true });
    },

    'transfer.import': async ({ file }) => {
      const chosen = file ?? (await lab.desktop.choose({ title: 'Import runs', of: 'file', filters: FILTERS }));
      return chosen === null ? { runs: [], study: null } : importRuns(lab, chosen, progress);
    },
  };
}
