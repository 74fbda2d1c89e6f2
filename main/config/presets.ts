// Presets: named, documented starting points for a run, one JSON file each in resources/presets/. A preset holds only what
// differs from the defaults; loading it validates it and fills the rest in, so it can be diffed against any other config.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { resourceFile } from '../paths.ts';
import { completeConfig, ConfigError, parseConfig, type RunConfig } from './config.ts';
import { diffConfigs } from './overrides.ts';

const PresetFile = z.strictObject({
  title: z.string().min(3).max(80),
  /** What it is for and what to expect of it. */
  description: z.string().min(40),
  /** Where it departs from the system it is named after, and why. */
  adapted: z.array(z.string().min(10)).default([]),
  config: z.record(z.string(), z.unknown()),
});

export interface Preset {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly adapted: readonly string[];
  readonly config: RunConfig;
}

/** The preset that examples and commands start from. */
export const FLAGSHIP = 'shop-astar-po';

/** Folders of plug-ins that hold presets. */
const added: string[] = [];

export function addPresetFolder(folder: string): void {
  added.push(folder);
}

export function forgetPresetFolders(): void {
  added.length = 0;
}

const idsIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .map((file) => file.slice(0, -'.json'.length))
    .sort();

export const builtInPresetIds = (): string[] => idsIn(resourceFile('presets'));

/** The built-in presets, then those of plug-ins. */
export const presetIds = (): string[] => [...new Set([...builtInPresetIds(), ...added.flatMap(idsIn)])];

/** A built-in preset is not replaced by one of the same name. */
const fileOf = (id: string): string | undefined =>
  [resourceFile('presets'), ...added].map((folder) => join(folder, `${id}.json`)).find((file) => existsSync(file));

export function loadPreset(id: string): Preset {
  const file = /^[\w-]+$/.test(id) ? fileOf(id) : undefined;
  if (file === undefined) {
    throw new ConfigError(`There is no preset "${id}". Presets: ${presetIds().join(', ')}`);
  }
  const parsed = PresetFile.safeParse(JSON.parse(readFileSync(file, 'utf8')));
  if (!parsed.success) throw new ConfigError(`Preset ${id} is damaged: ${z.prettifyError(parsed.error)}`);
  const { config, ...rest } = parsed.data;
  try {
    return { id, ...rest, config: parseConfig({ name: id, ...config }) };
  } catch (error) {
    throw new ConfigError(`Preset ${id} does not fit the schema of a run:\n${error instanceof Error ? error.message : String(error)}`);
  }
}

export const allPresets = (): Preset[] => presetIds().map(loadPreset);

export interface PresetChange {
  readonly key: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** What a stored config changes of its preset: only what a person would have typed. Null when there is no such preset. */
export function changesFromPreset(preset: string | null, stored: unknown): PresetChange[] | null {
  if (preset === null || !presetIds().includes(preset)) return null;
  return diffConfigs([loadPreset(preset).config, completeConfig(stored)])
    .filter(({ key }) => key !== 'name' && key !== 'seed' && !key.startsWith('branch.'))
    .map(({ key, values: [before, after] }) => ({ key, before, after }));
}
