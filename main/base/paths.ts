// Where things are on disk: the project's read-only files (resources, migrations) and the user's data folder.
// The same functions serve the TypeScript sources (CLI, tests) and the bundle under out/main/, so no other file
// needs to know from where it runs.

import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder that holds package.json: the repository, or the application inside a package. */
export function projectFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json'))) {
    const parent = dirname(folder);
    if (parent === folder) throw new Error(`No package.json above ${fileURLToPath(import.meta.url)}: the installation is incomplete`);
    folder = parent;
  }
  return folder;
}

export function resourceFile(...parts: string[]): string {
  return join(projectFolder(), 'resources', ...parts);
}

/** The study that a newcomer opens to have a look round, as `lab study export` made it. */
export function sampleStudyFile(): string {
  return resourceFile('samples', 'seeds-study.astrolab');
}

/** The numbered SQL files that build and upgrade the database. */
export function migrationsFolder(): string {
  return join(projectFolder(), 'main', 'store', 'migrations');
}

/** The default data folder, the same for the window and the command line. `ASTROLAB_DATA` overrides it. */
export function defaultDataFolder(): string {
  const override = process.env.ASTROLAB_DATA;
  if (override) return override;
  if (process.platform === 'win32') return join(process.env.APPDATA ?? join(homedir(), 'AppData', 'Roaming'), 'Astrolab');
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Application Support', 'Astrolab');
  return join(process.env.XDG_DATA_HOME ?? join(homedir(), '.local', 'share'), 'astrolab');
}

/** Chromium's files: view settings and caches of the window. */
export const windowFolder = (dataFolder: string): string => join(dataFolder, 'window');

/** Where crashes of any process leave a report. */
export const crashFolder = (dataFolder: string): string => join(windowFolder(dataFolder), 'Crashpad');
