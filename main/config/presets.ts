// Presets: named, documented starting points for a run, one JSON file each in resources/presets/. A preset holds only what
// differs from the defaults; loading it validates it and fills the rest in, so it can be diffed against any other config.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { Catalog } from './catalog.ts';
import { ConfigError, type RunConfig } from './config.ts';
import { readConfig } from './upgrade.ts';
import { applyOverrides, diffConfigs } from './overrides.ts';

/** Smaller versions of a preset: to see that it works, to see where a small policy goes, to see where it goes, and as its author meant it. */
export const SIZES = ['quick', 'small', 'medium', 'full'] as const;
export type Size = (typeof SIZES)[number];

const Changes = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.number()).min(1)]));

const PresetFile = z.strictObject({
  title: z.string().min(3).max(80),
  /** What it is for and what to expect of it. */
  description: z.string().min(40),
  /** A built-in preset whose config this one changes. */
  base: z.string().optional(),
  /** Where it departs from the system it is named after, and why. */
  adapted: z.array(z.string().min(10)).default([]),
  /** Settings of its quick and medium versions where the usual ones (`sized`) would not do. */
  sizes: z.strictObject({ quick: Changes.default({}), medium: Changes.default({}) }).prefault({}),
  config: z.record(z.string(), z.unknown()),
});

export interface Preset {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly adapted: readonly string[];
  readonly sizes: Readonly<Record<'quick' | 'medium', z.infer<typeof Changes>>>;
  readonly config: RunConfig;
}

/** The preset that examples and commands start from. */
export const FLAGSHIP = 'shop-astar-po';

const idsIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .map((file) => file.slice(0, -'.json'.length))
    .sort();

/** The built-in presets, then those of plug-ins. */
export const presetIds = ({ presets }: Catalog): string[] => [...new Set(presets.flatMap(idsIn))];

/** A built-in preset is not replaced by one of the same name. */
const fileOf = ({ presets }: Catalog, id: string): string | undefined =>
  presets.map((folder) => join(folder, `${id}.json`)).find((file) => existsSync(file));

export function loadPreset(catalog: Catalog, id: string): Preset {
  const file = /^[\w-]+$/.test(id) ? fileOf(catalog, id) : undefined;
  if (file === undefined) {
    throw new ConfigError(`There is no preset "${id}". Presets: ${presetIds(catalog).join(', ')}`);
  }
  const parsed = PresetFile.safeParse(JSON.parse(readFileSync(file, 'utf8')));
  if (!parsed.success) throw new ConfigError(`Preset ${id} is damaged: ${z.prettifyError(parsed.error)}`);
  const { config: own, base, ...rest } = parsed.data;
  const config = base === undefined ? own : changed(rawConfig(catalog, base), own);
  try {
    return { id, ...rest, config: readConfig(catalog, { name: id, ...config }) };
  } catch (error) {
    throw new ConfigError(`Preset ${id} does not fit the schema of a run:\n${error instanceof Error ? error.message : String(error)}`);
  }
}

/** The config of a preset's file as it stands there. */
function rawConfig(catalog: Catalog, id: string): Readonly<Record<string, unknown>> {
  const file = fileOf(catalog, id);
  if (file === undefined) throw new ConfigError(`There is no preset "${id}" to start from. Presets: ${presetIds(catalog).join(', ')}`);
  const { config, base } = PresetFile.parse(JSON.parse(readFileSync(file, 'utf8')));
  return base === undefined ? config : changed(rawConfig(catalog, base), config);
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** `base` with other values in the places that `changes` names; another algorithm takes the place of the whole algorithm. */
function changed(base: Readonly<Record<string, unknown>>, changes: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(changes)) {
    const before = merged[key];
    const replaced = key === 'algorithm' && isObject(before) && isObject(value) && before.id !== value.id;
    merged[key] = isObject(before) && isObject(value) && !replaced ? changed(before, value) : value;
  }
  return merged;
}

/** What is left of a preset's work in its smaller versions: parts of updates and cloning, and most tasks of an evaluation. */
const SMALLER = {
  quick: { updates: 0.1, cloning: 0.25, tasks: 40, finalTasks: 100 },
  small: { updates: 0.5, cloning: 1, tasks: 100, finalTasks: 300 },
  medium: { updates: 0.5, cloning: 1, tasks: 100, finalTasks: 300 },
} as const;

/** Small: as many updates as medium, at most this policy, these episodes an update, training tasks and cloning. */
const SMALL = { width: 96, layers: 2, feedForward: 192, batch: 32, tasks: 200, demonstrations: 4000, steps: 400 } as const;

function shrunk(config: RunConfig): RunConfig {
  const { policy, training, reference } = config;
  return {
    ...config,
    policy: {
      ...policy,
      width: Math.min(SMALL.width, policy.width),
      layers: Math.min(SMALL.layers, policy.layers),
      feedForward: Math.min(SMALL.feedForward, policy.feedForward),
    },
    training: { ...training, batch: Math.min(SMALL.batch, training.batch), tasks: Math.min(SMALL.tasks, training.tasks) },
    reference: {
      ...reference,
      demonstrations: Math.min(SMALL.demonstrations, reference.demonstrations),
      steps: Math.min(SMALL.steps, reference.steps),
    },
  };
}

/** The config of a preset at a size: fewer updates (and what is counted in them), less cloning, fewer evaluation tasks; then its own changes. */
export function sized(catalog: Catalog, { config, sizes }: Pick<Preset, 'config' | 'sizes'>, size: Size): RunConfig {
  if (size === 'full') return config;
  const { updates, cloning, tasks, finalTasks } = SMALLER[size];
  const { training, evaluation, checkpoints, curriculum, reference } = config;
  const part = (count: number): number => (count === 0 ? 0 : Math.max(1, Math.round(count * updates)));
  const small: RunConfig = {
    ...config,
    name: `${config.name}-${size}`,
    reference: { ...reference, steps: Math.round(reference.steps * cloning) },
    training: { ...training, updates: Math.max(2, part(training.updates)), warmup: part(training.warmup) },
    curriculum: { ...curriculum, every: part(curriculum.every) },
    evaluation: {
      ...evaluation,
      every: part(evaluation.every),
      tasks: Math.min(tasks, evaluation.tasks),
      finalTasks: Math.min(finalTasks, evaluation.finalTasks),
    },
    checkpoints: { ...checkpoints, every: part(checkpoints.every) },
  };
  const own = Object.entries(sizes[size === 'small' ? 'medium' : size]).map(
    ([key, value]) => `${key}=${Array.isArray(value) ? value.join(',') : String(value)}`,
  );
  const adjusted = applyOverrides(catalog, small, own);
  return size === 'small' ? shrunk(adjusted) : adjusted;
}

export const allPresets = (catalog: Catalog): Preset[] => presetIds(catalog).map((id) => loadPreset(catalog, id));

export interface PresetChange {
  readonly key: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** What a config changes of its preset: only what a person would have typed. Null when there is no such preset. */
export function changesFromPreset(catalog: Catalog, preset: string | null, config: RunConfig): PresetChange[] | null {
  if (preset === null || !presetIds(catalog).includes(preset)) return null;
  return diffConfigs([loadPreset(catalog, preset).config, config])
    .filter(({ key }) => key !== 'name' && key !== 'seed' && !key.startsWith('branch.'))
    .map(({ key, values: [before, after] }) => ({ key, before, after }));
}
