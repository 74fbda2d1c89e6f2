// Loads plug-ins: worlds (a manifest, or TypeScript), algorithms, metrics and search spaces out of plugin.ts, presets and studies out of folders of
// that name. Each folder is loaded as a whole or, with its problem noted, not at all: one bad plug-in costs nobody the lab.

import { existsSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import type { Algorithm } from '../algorithm/algorithm.ts';
import { algorithms, forgetAlgorithms, registerAlgorithm } from '../algorithm/registry.ts';
import { renewSchemas } from '../config/config.ts';
import { addPresetFolder, forgetPresetFolders } from '../config/presets.ts';
import type { World } from '../environment/environment.ts';
import { codeHash } from '../environment/external/code-hash.ts';
import { externalWorld } from '../environment/external/external.ts';
import { readManifest } from '../environment/external/manifest.ts';
import { forgetWorlds, registerWorld, WORLDS } from '../environment/registry.ts';
import { forgetMetrics, registerMetric } from '../metrics/glossary.ts';
import { CODE_FILES, manifestFolders, type PluginFolder, pluginFolders } from './permissions.ts';
import { toolbox } from './toolbox.ts';

const isFunction = z.custom<(...values: never[]) => unknown>((value) => typeof value === 'function', 'expected a function');
const isSchema = z.custom<z.ZodObject>((value) => value instanceof z.ZodObject, 'expected a zod object made with lab.z');

/** As much of the documented interface as can be seen without calling anything. */
const algorithmShape = z.looseObject({
  id: z.string().regex(/^[a-z][a-z0-9-]{0,39}$/, 'expected small letters, digits and hyphens'),
  title: z.string().min(1),
  source: z.string(),
  settings: isSchema,
  needs: isFunction,
  prepare: isFunction,
  loss: isFunction,
});
const worldShape = z.looseObject({
  name: z.string().regex(/^[a-z][a-z0-9-]{0,39}$/, 'expected small letters, digits and hyphens'),
  title: z.string().min(1),
  summary: z.string(),
  settings: isSchema,
  create: isFunction,
  blind: isFunction,
  heuristic: isFunction,
  demonstrate: isFunction,
});
const metricShape = z.strictObject({
  id: z.string().min(1),
  name: z.string().min(1),
  formula: z.string().min(1),
  unit: z.string().default(''),
  direction: z.enum(['up', 'down', 'neither']).default('neither'),
});
const searchKnob = z.strictObject({ key: z.string(), low: z.number(), high: z.number(), scale: z.enum(['log', 'linear']).default('log') });

const contents = z.strictObject({
  worlds: z.array(worldShape).default([]),
  algorithms: z.array(algorithmShape).default([]),
  metrics: z.array(metricShape).default([]),
  /** By algorithm id: what `lab tune` may change. */
  searchSpaces: z.record(z.string(), z.array(searchKnob).min(1).max(3)).default({}),
  /** Its tests by name, which `lab plugin check` runs; each throws when something is wrong. */
  checks: z.record(z.string(), isFunction).default({}),
});
export type SearchKnob = z.infer<typeof searchKnob>;

export interface LoadedPlugin extends PluginFolder {
  readonly name: string;
  /** Of all its files: part of the identity of every run that uses it. */
  readonly hash: string;
  readonly worlds: readonly string[];
  readonly algorithms: readonly string[];
  /** Why it was not loaded; null when it was. */
  readonly problem: string | null;
}

const state: {
  checks: Record<string, () => unknown>;
  loaded: readonly LoadedPlugin[];
  searchSpaces: Record<string, readonly SearchKnob[]>;
  studyFolders: string[];
} = {
  checks: {},
  loaded: [],
  searchSpaces: {},
  studyFolders: [],
};

/** What was loaded last. */
export const loadedPlugins = (): readonly LoadedPlugin[] => state.loaded;
export const pluginSearchSpace = (algorithm: string): readonly SearchKnob[] | undefined => state.searchSpaces[algorithm];
/** The tests that plug-ins bring along. */
export const pluginChecks = (): Readonly<Record<string, () => unknown>> => state.checks;
/** Folders of plug-ins that hold study definitions. */
export const pluginStudyFolders = (): readonly string[] => state.studyFolders;

/** Loads all plug-ins that the user has, in place of those that were loaded before. */
export async function loadPlugins(dataFolder: string): Promise<readonly LoadedPlugin[]> {
  forgetWorlds();
  forgetAlgorithms();
  forgetMetrics();
  forgetPresetFolders();
  state.checks = {};
  state.searchSpaces = {};
  state.studyFolders = [];
  const loaded: LoadedPlugin[] = [];
  for (const folder of pluginFolders(dataFolder)) loaded.push(await loadPlugin(folder));
  renewSchemas();
  state.loaded = loaded;
  return loaded;
}

async function loadPlugin(plugin: PluginFolder): Promise<LoadedPlugin> {
  const { folder } = plugin;
  const before = { worlds: WORLDS.length, algorithms: algorithms.length };
  let problem: string | null = null;
  let hash = '';
  try {
    hash = codeHash(folder);
    for (const path of manifestFolders(folder)) registerWorld(externalWorld(readManifest(path), path, () => permit(plugin)));
    if (existsSync(join(folder, 'presets'))) addPresetFolder(join(folder, 'presets'));
    if (existsSync(join(folder, 'studies'))) state.studyFolders.push(join(folder, 'studies'));
    if (plugin.allowed) await loadCode(folder);
    else if (codeFile(folder)) problem = 'It holds TypeScript that has not been allowed, or that has changed since it was.';
  } catch (error) {
    problem = error instanceof Error ? error.message : String(error);
  }
  return {
    ...plugin,
    name: basename(folder),
    hash,
    worlds: WORLDS.slice(before.worlds).map(({ name }) => name),
    algorithms: algorithms.slice(before.algorithms).map(({ id }) => id),
    problem,
  };
}

/** The user has not allowed this folder to run anything. */
export class NotAllowed extends Error {
  readonly code = 'not-allowed';
  readonly hint: string;

  constructor(folder: string) {
    super(`The world in ${folder} would start a program, which you have not allowed yet (or its world.json has changed since)`);
    this.hint = `Look at its world.json; then \`lab world add ${folder} --allow\`, or Allow in Settings.`;
  }
}

function permit({ folder, allowed }: PluginFolder): void {
  if (!allowed) throw new NotAllowed(folder);
}

const codeFile = (folder: string): string | undefined =>
  CODE_FILES.map((name) => join(folder, name)).find((file) => statSync(file, { throwIfNoEntry: false })?.isFile());

async function loadCode(folder: string): Promise<void> {
  const file = codeFile(folder);
  if (file === undefined) return;
  const exported: unknown = await import(`${pathToFileURL(file).href}?${codeHash(folder)}`);
  const make = z.looseObject({ default: isFunction }).safeParse(exported);
  if (!make.success) {
    throw new Error(
      `${file} has no default export that is a function: write \`export default (lab: Lab): Plugin => ({ algorithms: [...] })\``,
    );
  }
  const parsed = contents.safeParse(Reflect.apply(make.data.default, undefined, [toolbox]));
  if (!parsed.success) throw new Error(`What ${file} answers does not fit the interface of plug-ins:\n${z.prettifyError(parsed.error)}`);
  for (const metric of parsed.data.metrics) registerMetric(metric);
  for (const world of parsed.data.worlds) if (isWorld(world)) registerWorld({ ...world, mistakes: world.mistakes ?? {}, folder });
  for (const algorithm of parsed.data.algorithms) if (isAlgorithm(algorithm)) registerAlgorithm(algorithm);
  Object.assign(state.searchSpaces, parsed.data.searchSpaces);
  for (const [name, check] of Object.entries(parsed.data.checks)) state.checks[name] = () => Reflect.apply(check, undefined, []);
}

// The shapes were checked above; what their functions answer is checked where they are called (`lab plugin check` calls all of them).
const isWorld = (value: unknown): value is Omit<World, 'mistakes'> & { mistakes?: World['mistakes'] } =>
  worldShape.safeParse(value).success;
const isAlgorithm = (value: unknown): value is Algorithm => algorithmShape.safeParse(value).success;

/** The plug-ins that a config uses, by name, with the hash of their code; undefined where it uses none. */
export function pluginsOf(config: {
  readonly world: { readonly name: string };
  readonly algorithm: { readonly id: string };
}): Record<string, string> | undefined {
  const used = state.loaded.filter(
    ({ worlds, algorithms: ids }) => worlds.includes(config.world.name) || ids.includes(config.algorithm.id),
  );
  return used.length === 0 ? undefined : Object.fromEntries(used.map(({ name, hash }) => [name, hash]));
}

/** Why a run that was made with these plug-ins cannot continue with those of today; null when it can. */
export function pluginChange(wanted: Readonly<Record<string, string>> | undefined): string | null {
  for (const [name, hash] of Object.entries(wanted ?? {})) {
    const found = state.loaded.find((plugin) => plugin.name === name);
    if (!found)
      return `The run was made with the plug-in “${name}”, which is not there any more. Add its folder again; until then the run can only be looked at.`;
    if (found.hash !== hash) {
      return `The code of the plug-in “${name}” has changed since the run began (${hash} then, ${found.hash} now), so it cannot be resumed with the same numbers. Put the old code back, or start a new run.`;
    }
  }
  return null;
}
