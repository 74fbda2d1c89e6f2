// Calls about the data folder: what it holds, looking for damage, the trash.

import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Worlds } from '../../environment/registry.ts';
import { freeBytes } from '../../store/disk-space.ts';
import { checkStore } from '../../interchange/check.ts';
import type { Store } from '../../store/store.ts';
import { purge } from '../../store/maintenance.ts';
import { type Handlers, nothing } from '../definition.ts';
import type { Lab } from '../lab.ts';

const part = z.object({
  name: z.string(),
  /** What is in it, in words. */
  what: z.string(),
  path: z.string(),
  bytes: z.number(),
});
export type StoragePart = z.infer<typeof part>;

const damage = z.object({ kind: z.string(), run: z.number().nullable(), where: z.string(), problem: z.string() });

export const calls = {
  'storage.use': {
    input: nothing,
    answer: z.object({ folder: z.string(), free: z.number(), parts: z.array(part), trash: z.number() }),
  },
  /** Looks for damage in database, checkpoints and episodes; reads everything, so it may take a while. */
  'storage.check': { input: nothing, answer: z.object({ damaged: z.array(damage) }) },
  /** Deletes the runs in the trash for good. */
  'storage.emptyTrash': { input: nothing, answer: z.object({ runs: z.number() }) },
};

/** What lies in the data folder, by how its name begins. */
const partsOf = ({ worlds }: Worlds): readonly (readonly [start: string, name: string, what: string])[] => [
  ['astrolab.db', 'Database', 'Runs, metrics, episodes, evaluations, studies and the queue.'],
  ['checkpoints', 'Checkpoints', 'Weights and optimizer state; the latest and the best of each run.'],
  ['references', 'Reference policies', 'Trained once per recipe and shared by all runs that use it.'],
  ...worlds.flatMap(({ data }) => {
    const storage = data?.importer?.storage;
    return storage ? [[storage.name, storage.title, storage.what] as const] : [];
  }),
  ['backups', 'Backups', 'The database before each upgrade.'],
  ['window', 'Window', 'View settings and caches of the window.'],
  ['reserve.bin', 'Reserve', 'Freed when the disk is full, so that runs can pause safely.'],
];
const OTHER = 'Other files';

/** Reads everything. */
export const reads = { damage: (store: Store) => checkStore(store) };

export function handlers(lab: Lab): Handlers<typeof calls> {
  return {
    'storage.use': async () => ({
      folder: lab.dataFolder,
      free: freeBytes(lab.dataFolder),
      parts: await storageParts(lab.dataFolder, lab.catalog),
      trash: lab.store.runs.list({ deleted: true }).length,
    }),

    'storage.check': async () => {
      return { damaged: await lab.read('storage', 'damage', undefined, { files: true }) };
    },

    'storage.emptyTrash': () => ({ runs: purge(lab.store) }),
  };
}

async function storageParts(folder: string, catalog: Worlds): Promise<StoragePart[]> {
  const parts = partsOf(catalog);
  const bytes = new Map<string, number>();
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const name = parts.find(([start]) => entry.name.startsWith(start))?.[1] ?? OTHER;
    const path = join(folder, entry.name);
    bytes.set(name, (bytes.get(name) ?? 0) + (entry.isDirectory() ? await folderBytes(path) : await fileBytes(path)));
  }
  const known = parts.map(([start, name, what]) => ({ name, what, path: join(folder, start), bytes: bytes.get(name) ?? 0 }));
  const other = bytes.get(OTHER) ?? 0;
  return other > 0
    ? [...known, { name: OTHER, what: 'Settings of the window, and what others put here.', path: folder, bytes: other }]
    : known;
}

async function folderBytes(folder: string): Promise<number> {
  let sum = 0;
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) sum += await fileBytes(join(entry.parentPath, entry.name));
  }
  return sum;
}

/** Files come and go while a run trains: one that is gone takes no space. */
async function fileBytes(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch {
    return 0;
  }
}
