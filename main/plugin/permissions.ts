// Which folders the user has added, and which of them may run code. One small JSON file in the data folder; a config, an imported run or a
// study from elsewhere cannot add to it. What is allowed is a content, not a place: for a world in another process the manifest with its
// command, for TypeScript the whole folder, because that runs inside the lab. When it changes, the user is asked again.

import { mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { z } from 'zod';
import { sha256 } from '../base/canonical.ts';
import { codeHash } from '../environment/external/code-hash.ts';
import { NAMED, PLUGIN_FILE, PLUGIN_FOLDER } from './present.ts';

const file = z.strictObject({ folders: z.array(z.strictObject({ folder: z.string(), allowed: z.string().nullable() })) });
type PluginFile = z.infer<typeof file>;

/** Where code that runs inside the lab is looked for. */
export const CODE_FILES = ['plugin.ts', 'plugin.mts', 'plugin.mjs', 'plugin.js'] as const;

function read(dataFolder: string): PluginFile {
  const path = join(dataFolder, PLUGIN_FILE);
  if (!statSync(path, { throwIfNoEntry: false })) return { folders: [] };
  const parsed = file.safeParse(JSON.parse(readFileSync(path, 'utf8')));
  if (!parsed.success)
    throw new Error(`${path} is damaged: ${z.prettifyError(parsed.error)}\nMend it, or delete it and add the folders again.`);
  return parsed.data;
}

function write(dataFolder: string, content: PluginFile): void {
  mkdirSync(dataFolder, { recursive: true });
  const path = join(dataFolder, PLUGIN_FILE);
  writeFileSync(`${path}.new`, `${JSON.stringify(content, null, 2)}\n`);
  renameSync(`${path}.new`, path);
}

export interface PluginFolder {
  readonly folder: string;
  readonly allowed: boolean;
  /** `added` by the user, found in the data folder, or named by `--plugin` for this command alone. */
  readonly origin: 'added' | 'data folder' | 'command line';
}

/** What the permission is about: it changes when the program that would be started, or the code that would be run, changes. */
export function permissionHash(folder: string): string {
  const names = readdirSync(folder);
  if (CODE_FILES.some((name) => names.includes(name))) return `code ${codeHash(folder)}`;
  const manifests = manifestFolders(folder).map((path) => readFileSync(join(path, 'world.json')));
  return `manifest ${sha256(Buffer.concat(manifests))}`;
}

/** The folder itself, and those in its folder `worlds`, that hold a world.json. */
export function manifestFolders(folder: string): string[] {
  const inside = join(folder, 'worlds');
  const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  const more = statSync(inside, { throwIfNoEntry: false })?.isDirectory()
    ? readdirSync(inside)
        .sort()
        .map((name) => join(inside, name))
    : [];
  return [folder, ...more].filter((path) => isFile(join(path, 'world.json')));
}

/** All plug-in folders, those of the command line first. Folders that have gone are left out. */
export function pluginFolders(dataFolder: string): PluginFolder[] {
  const { folders } = read(dataFolder);
  const found = new Map<string, PluginFolder>();
  const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  const note = (folder: string, origin: PluginFolder['origin'], allowed: boolean): void => {
    if (isFolder(folder) && !found.has(folder)) found.set(folder, { folder, allowed, origin });
  };
  const permitted = (folder: string): boolean => {
    const entry = folders.find((known) => known.folder === folder);
    return isFolder(folder) && entry?.allowed === permissionHash(folder);
  };
  for (const folder of (process.env[NAMED] ?? '').split(delimiter).filter(Boolean)) note(folder, 'command line', true);
  for (const { folder } of folders) note(folder, 'added', permitted(folder));
  const own = join(dataFolder, PLUGIN_FOLDER);
  if (isFolder(own)) for (const name of readdirSync(own).sort()) note(join(own, name), 'data folder', permitted(join(own, name)));
  return [...found.values()];
}

/** Folders that were added and are no longer there. */
export const missingFolders = (dataFolder: string): string[] =>
  read(dataFolder)
    .folders.map(({ folder }) => folder)
    .filter((folder) => !statSync(folder, { throwIfNoEntry: false })?.isDirectory());

/** Adds a folder, or changes whether it may run code. */
export function addFolder(dataFolder: string, folder: string, allow: boolean): void {
  const path = resolve(folder);
  const { folders } = read(dataFolder);
  const allowed = allow ? permissionHash(path) : null;
  write(dataFolder, { folders: [...folders.filter((entry) => entry.folder !== path), { folder: path, allowed }] });
}

export function removeFolder(dataFolder: string, folder: string): void {
  const { folders } = read(dataFolder);
  write(dataFolder, { folders: folders.filter((entry) => entry.folder !== folder) });
}

/** What `--plugin` means: for this command and the processes that it starts. */
export function nameFolders(folders: readonly string[]): void {
  if (folders.length > 0) process.env[NAMED] = folders.map((folder) => resolve(folder)).join(delimiter);
}
