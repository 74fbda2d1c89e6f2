// "Copy diagnostics" in Settings: what a bug report needs, as plain text. It names versions, devices, disk, how many runs are in which
// state, the latest errors in words and the crash reports on disk; nothing of what runs contain, and nothing is sent anywhere.

import { existsSync, readdirSync, statSync } from 'node:fs';
import { cpus, freemem, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { bytes } from '../base/format.ts';
import { crashFolder } from '../base/paths.ts';
import { freeBytes } from '../store/disk-space.ts';
import type { Lab } from './lab.ts';

/** Crash reports that are listed. */
const LISTED = 5;

export async function diagnostics(lab: Lab): Promise<string> {
  const lines = [
    `Astrolab ${lab.version}, Electron ${process.versions.electron}, Chromium ${process.versions.chrome}, Node ${process.versions.node}`,
    `${process.platform} ${process.arch} ${release()}, ${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown processor'}`,
    `Memory: ${bytes(freemem())} free of ${bytes(totalmem())}`,
    `Data folder: ${lab.dataFolder}, ${bytes(freeBytes(lab.dataFolder))} free`,
    ...runLines(lab),
    ...crashLines(lab.dataFolder),
  ];
  return `${lines.join('\n')}\n`;
}

function runLines(lab: Lab): string[] {
  try {
    const runs = lab.store.runs.list();
    const states = Map.groupBy(runs, ({ state }) => state);
    const counts = [...states].map(([state, own]) => `${own.length} ${state}`).join(', ');
    const failed = runs.filter(({ state }) => state === 'failed').slice(0, LISTED);
    return [
      `Runs: ${runs.length}${counts && ` (${counts})`}`,
      ...failed.map(({ id, reason }) => `Run ${id} failed: ${reason ?? 'no reason recorded'}`),
    ];
  } catch (error) {
    return [`Runs: the database could not be read: ${error instanceof Error ? error.message : String(error)}`];
  }
}

/** Minidumps that Crashpad wrote, newest first. */
function crashLines(dataFolder: string): string[] {
  const folder = crashFolder(dataFolder);
  const dumps = ['completed', 'new', 'pending']
    .map((name) => join(folder, name))
    .filter((path) => existsSync(path))
    .flatMap((path) => readdirSync(path).map((name) => join(path, name)))
    .filter((path) => path.endsWith('.dmp'))
    .map((path) => ({ path, time: statSync(path).mtime }))
    .sort((a, b) => b.time.getTime() - a.time.getTime());
  return [`Crash reports: ${dumps.length}`, ...dumps.slice(0, LISTED).map(({ path, time }) => `${time.toISOString()} ${path}`)];
}
