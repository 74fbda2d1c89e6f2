// Presets: named, documented starting points for a run, one JSON file each in resources/presets/. A preset holds only what
// differs from the defaults; loading it validates it and fills the rest in, so it can be diffed against any other config.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { z } from 'zod';
import { resourceFile } from '../paths.ts';
import { ConfigError, parseConfig, type RunConfig } from './config.ts';

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

export function presetIds(): string[] {
  return readdirSync(resourceFile('presets'))
    .filter((file) => file.endsWith('.json'))
    .map((file) => file.slice(0, -'.json'.length))
    .sort();
}

export function loadPreset(id: string): Preset {
  const file = resourceFile('presets', `${id}.json`);
  if (!/^[\w-]+$/.test(id) || !existsSync(file)) {
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
