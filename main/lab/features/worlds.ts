// Calls and events about data that users bring to worlds: where their copy is, importing it, stopping that.

import { statSync } from 'node:fs';
import { z } from 'zod';
import type { DataImport, DataImporter } from '../../environment/data.ts';
import type { Worlds } from '../../environment/registry.ts';
import type { Store } from '../../store/store.ts';
import { CallFailure, type Handlers, nothing } from '../definition.ts';
import type { Lab } from '../lab.ts';

const imported = z.object({
  folder: z.string(),
  /** What it holds; the first is the size of the data. */
  counts: z.array(z.object({ label: z.string(), count: z.number() })),
  /** Where the index is, and its size. */
  index: z.string(),
  indexBytes: z.number(),
  /** Records that were left out. */
  skipped: z.number(),
  seconds: z.number(),
});

const worldData = z.object({
  world: z.string(),
  title: z.string(),
  about: z.string(),
  /** The folder holds one of these. */
  files: z.array(z.string()),
  placeholder: z.string(),
  /** The world's setting that names the folder, and the settings that have no effect without it. */
  setting: z.string(),
  onlyWith: z.array(z.string()),
  imported: imported.nullable(),
  /** An import under way: `share` from 0 to 1, and the seconds left once they can be estimated. */
  importing: z.object({ folder: z.string(), share: z.number(), what: z.string(), secondsLeft: z.number().nullable() }).nullable(),
});
export type WorldData = z.infer<typeof worldData>;

const list = z.object({ worlds: z.array(worldData) });
const which = z.strictObject({ world: z.string().max(60) });

export const calls = {
  /** Every world that takes data, with the state of its import. */
  'worlds.data': { input: nothing, answer: list },
  /** Asks for a folder in the system's dialog; null when the user changed their mind. */
  'worlds.chooseData': { input: which, answer: z.object({ folder: z.string().nullable() }) },
  /** Checks and indexes a folder; answers when it is done. */
  'worlds.importData': { input: which.extend({ folder: z.string().trim().min(1).max(4000) }), answer: list },
  'worlds.cancelImport': { input: which, answer: nothing },
  /** The lab no longer offers the data. Nothing is deleted. */
  'worlds.forgetData': { input: which, answer: list },
};

export const events = { 'worlds.dataChanged': list };

/** As it is stored: the counts stand beside the rest. */
const stored = z
  .object({ folder: z.string(), index: z.string(), indexBytes: z.number(), notes: z.number(), seconds: z.number() })
  .catchall(z.number())
  .nullable();
const keyOf = (world: string): string => `${world}.imported`;
const storedImport = (store: Store, world: string) => store.settings.get(keyOf(world), stored, null);

/** An estimate from less than this share would jump about. */
const ENOUGH = 0.05;

/** The folder that was imported for a world. */
export function importedFolder(lab: Lab, world: string): string {
  const found = storedImport(lab.store, world);
  if (found) return found.folder;
  throw new CallFailure('no-data', `No data was imported for the world “${world}” yet.`, 'Import it in Settings.');
}

function importerOf({ worlds }: Worlds, name: string): DataImporter {
  const importer = worlds.find((world) => world.name === name)?.data?.importer;
  if (!importer) throw new CallFailure('not-found', `The world “${name}” takes no data.`, 'Choose one of those that Settings lists.');
  return importer;
}

interface Running {
  readonly work: DataImport;
  now: NonNullable<WorldData['importing']>;
}

export function handlers(lab: Lab): Handlers<typeof calls> {
  const running = new Map<string, Running>();
  const list = (): { worlds: WorldData[] } => ({
    worlds: lab.catalog.worlds.flatMap(({ name, data }) => {
      if (!data?.importer) return [];
      const { title, about, files, placeholder, counts } = data.importer;
      const { setting, onlyWith = [] } = data;
      const described = { world: name, title, about, files: [...files], placeholder, setting, onlyWith: [...onlyWith] };
      return [{ ...described, imported: shown(lab.store, name, counts), importing: running.get(name)?.now ?? null }];
    }),
  });
  const changed = (): void => lab.emit('worlds.dataChanged', list());

  return {
    'worlds.data': () => list(),

    'worlds.chooseData': async ({ world }) => {
      return {
        folder: await lab.desktop.choose({ title: `Folder: ${importerOf(lab.catalog, world).title}`, buttonLabel: 'Choose', of: 'folder' }),
      };
    },

    'worlds.importData': async ({ world, folder }) => {
      const importer = importerOf(lab.catalog, world);
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
        lab.store.settings.set(keyOf(world), { folder, ...counts, ...found, notes: skipped, seconds });
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
      lab.store.settings.remove(keyOf(world));
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
