// Data that users bring to worlds: which folder was imported, importing one (with progress), stopping that. The worlds say what they
// take and how it is imported.

import { statSync } from 'node:fs';
import { dialog } from 'electron';
import { z } from 'zod';
import type { WorldData, worldDataCalls } from '../../preload/contract/world-data.ts';
import type { DataImport, DataImporter } from '../environment/data.ts';
import { WORLDS } from '../environment/registry.ts';
import type { Store } from '../store/store.ts';
import type { Context } from './context.ts';
import { CallFailure } from './dispatch.ts';
import type { Handlers } from './dispatch.ts';

/** As it is stored: the counts stand beside the rest. */
const imported = z
  .object({ folder: z.string(), index: z.string(), indexBytes: z.number(), notes: z.number(), seconds: z.number() })
  .catchall(z.number())
  .nullable();
const keyOf = (world: string): string => `${world}.imported`;
const storedImport = (store: Store, world: string) => store.settings.get(keyOf(world), imported, null);

/** An estimate from less than this share would jump about. */
const ENOUGH = 0.05;

/** The folder that was imported for a world. */
export function importedFolder({ lab }: Context, world: string): string {
  const found = storedImport(lab.store, world);
  if (found) return found.folder;
  throw new CallFailure('no-data', `No data was imported for the world “${world}” yet.`, 'Import it in Settings.');
}

function importerOf(name: string): DataImporter {
  const importer = WORLDS.find((world) => world.name === name)?.data?.importer;
  if (!importer) throw new CallFailure('not-found', `The world “${name}” takes no data.`, 'Choose one of those that Settings lists.');
  return importer;
}

interface Running {
  readonly work: DataImport;
  now: NonNullable<WorldData['importing']>;
}

export function worldDataHandlers(context: Context): Handlers<typeof worldDataCalls> {
  const running = new Map<string, Running>();
  const list = (): { worlds: WorldData[] } => ({
    worlds: WORLDS.flatMap(({ name, data }) => {
      if (!data?.importer) return [];
      const { title, about, files, placeholder, counts } = data.importer;
      const { setting, onlyWith = [] } = data;
      const described = { world: name, title, about, files: [...files], placeholder, setting, onlyWith: [...onlyWith] };
      return [{ ...described, imported: shown(context.lab.store, name, counts), importing: running.get(name)?.now ?? null }];
    }),
  });
  const changed = (): void => context.emit('worlds.dataChanged', list());

  return {
    'worlds.data': () => list(),

    'worlds.chooseData': async ({ world }) => {
      const { filePaths, canceled } = await dialog.showOpenDialog({
        title: `Folder: ${importerOf(world).title}`,
        buttonLabel: 'Choose',
        properties: ['openDirectory'],
      });
      return { folder: canceled ? null : (filePaths[0] ?? null) };
    },

    'worlds.importData': async ({ world, folder }) => {
      const importer = importerOf(world);
      const busy = running.get(world);
      if (busy) throw new CallFailure('busy-import', `${busy.now.folder} is being imported.`, 'Wait until it is done, or cancel it.');
      if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
        throw new CallFailure('not-found', `There is no folder ${folder}.`, `Choose the folder that holds ${importer.files.join(' or ')}.`);
      }
      const began = performance.now();
      const work = importer.start(folder, (share, what) => {
        const current = running.get(world);
        if (!current) return;
        const seconds = (performance.now() - began) / 1000;
        current.now = { folder, share, what, secondsLeft: share < ENOUGH || share >= 1 ? null : (seconds / share) * (1 - share) };
        changed();
      });
      running.set(world, { work, now: { folder, share: 0, what: 'reading', secondsLeft: null } });
      changed();
      try {
        const { counts, skipped, ...found } = await work.finished;
        const seconds = (performance.now() - began) / 1000;
        context.lab.store.settings.set(keyOf(world), { folder, ...counts, ...found, notes: skipped, seconds });
      } finally {
        running.delete(world);
        changed();
      }
      return list();
    },

    'worlds.cancelImport': ({ world }) => {
      running.get(world)?.work.cancel();
      return {};
    },

    'worlds.forgetData': ({ world }) => {
      context.lab.store.settings.remove(keyOf(world));
      changed();
      return list();
    },
  };
}

function shown(store: Store, world: string, labels: DataImporter['counts']): WorldData['imported'] {
  const found = storedImport(store, world);
  if (!found) return null;
  const { folder, index, indexBytes, notes, seconds, ...rest } = found;
  const counts = Object.entries(labels).flatMap(([name, label]) => {
    const count = rest[name];
    return count === undefined ? [] : [{ label, count }];
  });
  return { folder, counts, index, indexBytes, skipped: notes, seconds };
}
