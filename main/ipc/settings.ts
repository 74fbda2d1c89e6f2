// Calls of the Settings page: storage, devices, preferences.

import { readdir, stat } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { app } from 'electron';
import { z } from 'zod';
import { damage, type settingsCalls, type StoragePart } from '../../preload/contract/settings.ts';
import { WORLDS } from '../environment/registry.ts';
import { freeBytes } from '../store/disk-space.ts';
import { purge } from '../store/maintenance.ts';
import { aside } from './aside.ts';
import type { Context } from './context.ts';
import type { Handlers } from './dispatch.ts';
import { readPreferences, writePreferences } from './preferences.ts';

/** What lies in the data folder, by how its name begins. */
const PARTS: readonly (readonly [start: string, name: string, what: string])[] = [
  ['astrolab.db', 'Database', 'Runs, metrics, episodes, evaluations, studies and the queue.'],
  ['checkpoints', 'Checkpoints', 'Weights and optimizer state; the latest and the best of each run.'],
  ['references', 'Reference policies', 'Trained once per recipe and shared by all runs that use it.'],
  ...WORLDS.flatMap(({ data }) => {
    const storage = data?.importer?.storage;
    return storage ? [[storage.name, storage.title, storage.what] as const] : [];
  }),
  ['backups', 'Backups', 'The database before each upgrade.'],
  ['window', 'Window', 'View settings and caches of the window.'],
  ['reserve.bin', 'Reserve', 'Freed when the disk is full, so that runs can pause safely.'],
];
const OTHER = 'Other files';

const trace = z.object({ losses: z.array(z.number()), norms: z.array(z.number()) });
const testedDevices = z.array(
  z.object({
    id: z.string(),
    name: z.string(),
    memory: z.number().nullable(),
    ok: z.boolean(),
    reason: z.string(),
    check: z
      .object({ cpu: trace, device: trace, seconds: z.number() })
      .nullish()
      .transform((check) => check ?? null),
  }),
);
const tested = z.object({ version: z.string(), testedAt: z.number(), devices: testedDevices }).nullable();
type Tested = NonNullable<z.infer<typeof tested>>;
const TESTED = 'devices.tested';

export function settingsHandlers(context: Context): Handlers<typeof settingsCalls> {
  let testing: Promise<Tested> | null = null;

  /** In a separate process: the engine is no part of the window, and loading it takes a while. */
  async function testDevices(): Promise<Tested> {
    const answer = await aside({ kind: 'devices' }, 'The devices were not tested', { gentle: true });
    const { devices } = z.object({ devices: testedDevices }).parse(answer);
    const result: Tested = { version: app.getVersion(), testedAt: Date.now(), devices };
    context.lab.store.settings.set(TESTED, result);
    return result;
  }

  const preferences = () => ({ ...readPreferences(context.lab.store), threads: availableParallelism() });

  return {
    'storage.use': async () => ({
      folder: context.dataFolder,
      free: freeBytes(context.dataFolder),
      parts: await storageParts(context.dataFolder),
      trash: context.lab.store.runs.list({ deleted: true }).length,
    }),

    'storage.check': async () => {
      const result = await context.worker.run({ kind: 'check', dataFolder: context.dataFolder });
      return { damaged: z.array(damage).parse(result.damaged) };
    },

    'storage.emptyTrash': () => ({ runs: purge(context.lab.store) }),

    'devices.list': async ({ again }) => {
      const known = context.lab.store.settings.get(TESTED, tested, null);
      if (!again && known?.version === app.getVersion()) return known;
      testing ??= testDevices().finally(() => {
        testing = null;
      });
      return testing;
    },

    'preferences.read': () => preferences(),

    'preferences.change': (wanted) => {
      writePreferences(context.lab.store, wanted);
      context.lab.queue.setConcurrent(wanted.concurrent);
      return preferences();
    },
  };
}

async function storageParts(folder: string): Promise<StoragePart[]> {
  const bytes = new Map<string, number>();
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const name = PARTS.find(([start]) => entry.name.startsWith(start))?.[1] ?? OTHER;
    const path = join(folder, entry.name);
    bytes.set(name, (bytes.get(name) ?? 0) + (entry.isDirectory() ? await folderBytes(path) : await fileBytes(path)));
  }
  const known = PARTS.map(([start, name, what]) => ({ name, what, path: join(folder, start), bytes: bytes.get(name) ?? 0 }));
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
