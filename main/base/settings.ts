// The window's few settings that the main process must know before the page exists: theme and where the window stood.
// One small JSON file in the data folder, parsed when read and written atomically; a damaged file costs the settings,
// never the start. What concerns only the page (columns, zoom, smoothing) lives in the page's storage.

import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import { themes } from './vocabulary.ts';

const settingsSchema = z.object({
  theme: z.enum(themes).catch('system').default('system'),
  window: z
    .object({
      x: z.int().optional(),
      y: z.int().optional(),
      width: z.int().min(400).max(20_000),
      height: z.int().min(300).max(20_000),
      maximized: z.boolean(),
    })
    .nullable()
    .catch(null)
    .default(null),
});
export type Settings = z.infer<typeof settingsSchema>;
export type WindowState = NonNullable<Settings['window']>;

export class SettingsFile {
  readonly #file: string;
  #settings: Settings;

  constructor(file: string) {
    this.#file = file;
    this.#settings = read(file);
  }

  get value(): Settings {
    return this.#settings;
  }

  update(change: Partial<Settings>): void {
    this.#settings = settingsSchema.parse({ ...this.#settings, ...change });
    mkdirSync(dirname(this.#file), { recursive: true });
    writeFileSync(`${this.#file}.new`, `${JSON.stringify(this.#settings, null, 2)}\n`);
    renameSync(`${this.#file}.new`, this.#file);
  }
}

function read(file: string): Settings {
  try {
    return settingsSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch (error) {
    const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    if (!missing) console.error(`Settings in ${file} could not be read and start afresh: ${String(error)}`);
    return settingsSchema.parse({});
  }
}
