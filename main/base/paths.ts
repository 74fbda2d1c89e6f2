// Where things are on disk: the project's read-only files (resources, migrations) and the user's data folder.
// The same functions serve the TypeScript sources (CLI, tests) and the bundle under out/main/, so no other file
// needs to know from where it runs.

import { existsSync, mkdirSync } from 'node:fs';
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

/** The data folder was there when training began and is not there now. */
export class DataFolderGone extends Error {
  override name = 'DataFolderGone';
  readonly code = 'data-folder-gone';

  constructor(dataFolder: string) {
    super(
      `The data folder ${dataFolder} is gone (moved, deleted or unmounted). Bring it back, then resume: training continues from the last checkpoint.`,
    );
  }
}

/** A folder inside the data folder, made where it is missing. The data folder itself is never made anew: it would stand in the way of the one that comes back. */
export function folderInside(dataFolder: string, ...names: readonly string[]): string {
  let folder = dataFolder;
  for (const name of names) {
    folder = join(folder, name);
    try {
      mkdirSync(folder);
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      if (code === 'ENOENT') throw new DataFolderGone(dataFolder);
      if (code !== 'EEXIST') throw error;
    }
  }
  return folder;
}

/** Chromium's files: view settings and caches of the window. */
export const windowFolder = (dataFolder: string): string => join(dataFolder, 'window');

/** Where crashes of any process leave a report. */
export const crashFolder = (dataFolder: string): string => join(windowFolder(dataFolder), 'Crashpad');
