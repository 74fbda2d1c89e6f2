// Changing a config from the command line (`--set training.updates=50`) and saying how two configs differ. Keys are dotted paths
// of the schema; a key that does not exist is answered with the nearest one that does.

import { mistakesOf } from '../environment/demonstrations.ts';
import type { Catalog } from './catalog.ts';
import { ConfigError, configSchemas, parseConfig, type RunConfig } from './config.ts';

type Tree = { [key: string]: unknown };

function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Leaves of a config by dotted path; a list counts as a leaf. */
export function flatten(value: unknown): Map<string, unknown> {
  const leaves = new Map<string, unknown>();
  const walk = (inner: unknown, path: string): void => {
    if (!isTree(inner)) leaves.set(path, inner);
    else for (const key of Object.keys(inner)) walk(inner[key], path === '' ? key : `${path}.${key}`);
  };
  walk(value, '');
  return leaves;
}

/** The config with `key=value` texts applied in order, and validated. */
export function applyOverrides(catalog: Catalog, config: unknown, overrides: readonly string[]): RunConfig {
  const tree: Tree = structuredClone(parseConfig(catalog, config));
  for (const override of overrides) {
    const at = override.indexOf('=');
    if (at <= 0) throw new ConfigError(`--set expects key=value, for example training.updates=50; found "${override}"`);
    setKey(catalog, tree, override.slice(0, at).trim(), override.slice(at + 1).trim());
  }
  return parseConfig(catalog, tree);
}

function setKey(catalog: Catalog, tree: Tree, key: string, text: string): void {
  if (key === 'algorithm' || key === 'algorithm.id') {
    // Another algorithm has other settings: its defaults replace the old algorithm's.
    if (!catalog.algorithms.some((algorithm) => algorithm.id === text)) {
      throw new ConfigError(`${key}: expected one of ${catalog.algorithms.map((algorithm) => algorithm.id).join(', ')}; found "${text}"`);
    }
    if (!(isTree(tree.algorithm) && tree.algorithm.id === text)) tree.algorithm = configSchemas(catalog).algorithm.parse({ id: text });
    return;
  }
  if (key === 'world.name' && isTree(tree.world) && tree.world.name !== text) {
    // Another world has other settings, and its demonstrator makes other mistakes: its defaults replace the old ones.
    tree.world = { name: text, settings: {} };
    const world = catalog.worlds.find(({ name }) => name === text);
    if (isTree(tree.reference)) tree.reference.imperfection = world ? { ...mistakesOf(world) } : {};
    return;
  }
  const parts = key.split('.');
  const last = parts.pop() ?? '';
  let node = tree;
  for (const part of parts) {
    const next = node[part];
    if (!isTree(next)) throw unknownKey(key, tree);
    node = next;
  }
  // The world checks its settings itself: any name may be set there.
  const free = key === 'world.settings' || key.startsWith('world.settings.');
  const before = node[last] ?? unsetMistake(catalog, tree, key);
  if (!free && before === undefined) throw unknownKey(key, tree);
  if (!free && isTree(before)) {
    const inside = Object.keys(before).map((name) => `${key}.${name}`);
    throw new ConfigError(`${key} is a group of settings; set one of ${inside.join(', ')}`);
  }
  node[last] = parseValue(key, text, before);
}

/** The chance of a mistake that configs hold only where it is given. */
function unsetMistake({ worlds }: Catalog, { world }: Tree, key: string): number | undefined {
  const name = /^reference\.imperfection\.(\w+)$/.exec(key)?.[1];
  const found = isTree(world) ? worlds.find((one) => one.name === world.name) : undefined;
  return name === undefined ? undefined : found?.mistakes[name]?.chance;
}

/** The text as the kind of value that stands there now. */
function parseValue(key: string, text: string, before: unknown): unknown {
  if (typeof before === 'string') return text;
  if (typeof before === 'number') {
    const value = Number(text);
    if (text === '' || Number.isNaN(value)) throw new ConfigError(`${key}: expected a number, found "${text}"`);
    return value;
  }
  if (typeof before === 'boolean') {
    if (['true', 'on', 'yes'].includes(text)) return true;
    if (['false', 'off', 'no'].includes(text)) return false;
    throw new ConfigError(`${key}: expected true or false, found "${text}"`);
  }
  if (Array.isArray(before)) {
    const items = text
      .replace(/^\[|\]$/g, '')
      .split(/[,\s]+/)
      .filter((item) => item !== '');
    const sample: unknown = before[0];
    return items.map((item) => parseValue(key, item, sample));
  }
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function unknownKey(key: string, tree: Tree): ConfigError {
  const keys = [...flatten(tree).keys()];
  const ranked = keys.map((candidate) => ({ candidate, distance: keyDistance(key, candidate) })).sort((a, b) => a.distance - b.distance);
  const nearest = ranked.filter(({ distance }, rank) => rank < 3 && distance === ranked[0]?.distance).map(({ candidate }) => candidate);
  return new ConfigError(`There is no setting "${key}". Nearest: ${nearest.join(', ')}. Keys are dotted paths such as training.updates.`);
}

/** Edit distance, or that to the last part when only the name was given. */
function keyDistance(given: string, candidate: string): number {
  const short = candidate.slice(candidate.lastIndexOf('.') + 1);
  return Math.min(editDistance(given, candidate), editDistance(given.slice(given.lastIndexOf('.') + 1), short) + 0.5);
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = a[i - 1]?.toLowerCase() === b[j - 1]?.toLowerCase() ? 0 : 1;
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + change));
    }
    row = next;
  }
  return row[b.length]!;
}

export interface Difference {
  readonly key: string;
  /** One value per config; undefined where the config has no such key. */
  readonly values: readonly unknown[];
}

/** Every key of any of the configs, by name, with one value per config. */
export function flatConfigs(configs: readonly unknown[]): Difference[] {
  const flat = configs.map((config) => flatten(config));
  const keys = new Set<string>();
  for (const entries of flat) for (const key of entries.keys()) keys.add(key);
  return [...keys].sort().map((key) => ({ key, values: flat.map((entries) => entries.get(key)) }));
}

/** Only the keys that differ between configs. */
export const diffConfigs = (configs: readonly unknown[]): Difference[] =>
  flatConfigs(configs).filter(
    ({ values }) => values.some((value) => value !== values[0]) && new Set(values.map((value) => JSON.stringify(value))).size > 1,
  );
