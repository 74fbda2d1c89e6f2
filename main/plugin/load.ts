// Loads plug-ins: worlds (a manifest, or TypeScript), algorithms, metrics and search spaces out of plugin.ts, presets and studies out of folders of
// that name. Each folder is loaded as a whole or, with its problem noted, not at all: one bad plug-in costs nobody the lab.

import { existsSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import type { Algorithm } from '../algorithm/algorithm.ts';
import { BUILT_IN, type Catalog, type Plugin } from '../config/catalog.ts';
import type { World } from '../environment/environment.ts';
import { codeHash } from '../environment/external/code-hash.ts';
import { externalWorld } from '../environment/external/external.ts';
import { readManifest } from '../environment/external/manifest.ts';
import { builtInMetrics } from '../metrics/glossary.ts';
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

/** What a folder adds to a catalog. */
export interface PluginParts extends Pick<Catalog, 'worlds' | 'algorithms' | 'metrics' | 'presets' | 'studies' | 'searchSpaces'> {
  /** Its tests by name, which `lab plugin check` runs. */
  readonly checks: Readonly<Record<string, () => unknown>>;
}

const NOTHING: PluginParts = { worlds: [], algorithms: [], metrics: [], presets: [], studies: [], searchSpaces: {}, checks: {} };

/** The built-in catalog with all plug-ins that the user has. */
export async function loadCatalog(dataFolder: string): Promise<Catalog> {
  let catalog = BUILT_IN;
  for (const folder of pluginFolders(dataFolder)) {
    const { plugin, parts } = await loadPlugin(catalog, folder);
    catalog = extended(catalog, plugin, parts);
  }
  return catalog;
}

export const extended = (catalog: Catalog, plugin: Plugin, parts: PluginParts): Catalog => ({
  worlds: [...catalog.worlds, ...parts.worlds],
  algorithms: [...catalog.algorithms, ...parts.algorithms],
  metrics: [...catalog.metrics, ...parts.metrics],
  presets: [...catalog.presets, ...parts.presets],
  studies: [...catalog.studies, ...parts.studies],
  searchSpaces: { ...catalog.searchSpaces, ...parts.searchSpaces },
  plugins: [...catalog.plugins, plugin],
});

/** A folder as a whole or, with its problem, nothing of it; what it adds has names that the catalog does not have. */
export async function loadPlugin(catalog: Catalog, folder: PluginFolder): Promise<{ plugin: Plugin; parts: PluginParts }> {
  const path = folder.folder;
  let parts = NOTHING;
  let problem: string | null = null;
  let hash = '';
  try {
    hash = codeHash(path);
    const worlds = manifestFolders(path).map((inside) => externalWorld(readManifest(inside), inside, () => permit(folder)));
    const data = {
      worlds,
      presets: [join(path, 'presets')].filter((inside) => existsSync(inside)),
      studies: [join(path, 'studies')].filter((inside) => existsSync(inside)),
    };
    const code = folder.allowed ? await loadCode(path) : NOTHING;
    if (!folder.allowed && codeFile(path)) problem = 'It holds TypeScript that has not been allowed, or that has changed since it was.';
    parts = { ...code, ...data, worlds: [...worlds, ...code.worlds] };
    refuseDoubles(catalog, parts);
  } catch (error) {
    problem = error instanceof Error ? error.message : String(error);
    parts = NOTHING;
  }
  const worlds = parts.worlds.map(({ name }) => name);
  const algorithms = parts.algorithms.map(({ id }) => id);
  return { plugin: { ...folder, name: basename(path), hash, worlds, algorithms, problem }, parts };
}

function refuseDoubles(catalog: Catalog, { worlds, algorithms, metrics }: PluginParts): void {
  const refuse = (what: string, names: readonly string[], existing: readonly string[]): void => {
    const double = names.find((name, at) => existing.includes(name) || names.indexOf(name) < at);
    if (double !== undefined) throw new Error(`There is already ${what} "${double}": give this one another name`);
  };
  const name = ({ name: own }: { readonly name: string }): string => own;
  const id = ({ id: own }: { readonly id: string }): string => own;
  refuse('a world named', worlds.map(name), catalog.worlds.map(name));
  refuse('an algorithm with the id', algorithms.map(id), catalog.algorithms.map(id));
  refuse('a metric', metrics.map(id), [...builtInMetrics(), ...catalog.metrics.map(id)]);
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

async function loadCode(folder: string): Promise<PluginParts> {
  const file = codeFile(folder);
  if (file === undefined) return NOTHING;
  const exported: unknown = await import(`${pathToFileURL(file).href}?${codeHash(folder)}`);
  const make = z.looseObject({ default: isFunction }).safeParse(exported);
  if (!make.success) {
    throw new Error(
      `${file} has no default export that is a function: write \`export default (lab: Lab): Plugin => ({ algorithms: [...] })\``,
    );
  }
  const parsed = contents.safeParse(Reflect.apply(make.data.default, undefined, [toolbox]));
  if (!parsed.success) throw new Error(`What ${file} answers does not fit the interface of plug-ins:\n${z.prettifyError(parsed.error)}`);
  const { worlds, algorithms, metrics, searchSpaces, checks } = parsed.data;
  return {
    ...NOTHING,
    metrics,
    searchSpaces,
    worlds: worlds.flatMap((world) => (isWorld(world) ? [{ ...world, mistakes: world.mistakes ?? {}, folder }] : [])),
    algorithms: algorithms.flatMap((algorithm) => (isAlgorithm(algorithm) ? [algorithm] : [])),
    checks: Object.fromEntries(Object.entries(checks).map(([name, check]) => [name, () => Reflect.apply(check, undefined, [])])),
  };
}

// The shapes were checked above; what their functions answer is checked where they are called (`lab plugin check` calls all of them).
const isWorld = (value: unknown): value is Omit<World, 'mistakes'> & { mistakes?: World['mistakes'] } =>
  worldShape.safeParse(value).success;
const isAlgorithm = (value: unknown): value is Algorithm => algorithmShape.safeParse(value).success;
