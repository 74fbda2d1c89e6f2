// From what a user asks for (a config, seeds as typed, values to combine) to the configs of single runs, or to what is
// wrong with it, field by field and in words.

import type { z } from 'zod';
import { findWorld } from '../environment/registry.ts';
import type { Catalog } from './catalog.ts';
import { checkConfig, ConfigError, type RunConfig } from './config.ts';
import { expand } from './expand.ts';
import { applyOverrides } from './overrides.ts';

export interface SweptSetting {
  readonly key: string;
  /** Separated by spaces, semicolons or commas; "1,2; 3" keeps lists together when semicolons are used. */
  readonly values: string;
}

export interface Order {
  readonly config: unknown;
  readonly seeds: string;
  readonly sweep: readonly SweptSetting[];
}

/** `key` is a dotted path of the config, or `seeds`, or `sweep.0`. */
export interface Issue {
  readonly key: string;
  readonly message: string;
}

export interface CheckedOrder {
  /** The complete config; null when it has faults. */
  readonly config: RunConfig | null;
  readonly seeds: readonly number[];
  /** One config per run: every combination with every seed. */
  readonly runs: readonly RunConfig[];
  readonly issues: readonly Issue[];
}

const MOST_RUNS = 1000;
const LARGEST_SEED = 4_294_967_295;

export function checkOrder(catalog: Catalog, order: Order): CheckedOrder {
  const issues: Issue[] = [];
  const parsed = checkConfig(catalog, order.config);
  if (!parsed.success) for (const issue of parsed.error.issues) issues.push({ key: keyOf(issue), message: wordsOf(issue) });
  const config = parsed.success ? parsed.data : null;
  if (config) issues.push(...worldIssues(catalog, config));

  const seeds = parseSeeds(order.seeds);
  if (typeof seeds === 'string') issues.push({ key: 'seeds', message: seeds });
  const list = typeof seeds === 'string' ? [] : seeds;

  const grid: Record<string, string[]> = {};
  for (const [index, { key, values }] of order.sweep.entries()) {
    if (key === '' && values.trim() === '') continue;
    const split = values.split(values.includes(';') ? ';' : /[\s,]+/).map((value) => value.trim());
    const given = split.filter((value) => value !== '');
    const fault = key in grid ? `${key} is swept twice` : config ? sweepFault(catalog, config, key, given) : null;
    if (fault) issues.push({ key: `sweep.${index}`, message: fault });
    else grid[key] = given;
  }
  if (issues.length > 0 || !config) return { config, seeds: list, runs: [], issues };
  try {
    return { config, seeds: list, runs: expand(catalog, config, { seeds: list, grid }), issues };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { config, seeds: list, runs: [], issues: [{ key: order.sweep.length > 0 ? 'sweep.0' : 'seeds', message: error.message }] };
  }
}

/** "1-5, 9" as numbers; a text says what is wrong. */
export function parseSeeds(text: string): number[] | string {
  const seeds = new Set<number>();
  for (const part of text.split(/[\s,;]+/).filter((piece) => piece !== '')) {
    const match = /^(\d+)(?:\s*[-–]\s*(\d+))?$/.exec(part);
    const from = Number(match?.[1] ?? Number.NaN);
    const to = Number(match?.[2] ?? from);
    if (!match || to > LARGEST_SEED) return `Expected whole numbers such as 1-5 or 1, 2, 7; found “${part}”`;
    if (to < from) return `“${part}” runs backwards; write ${to}-${from}`;
    if (to - from >= MOST_RUNS) return `“${part}” is ${to - from + 1} seeds; at most ${MOST_RUNS} runs can be made at once`;
    for (let seed = from; seed <= to; seed++) seeds.add(seed);
  }
  return seeds.size === 0 ? 'At least one seed is needed, for example 1' : [...seeds];
}

function sweepFault(catalog: Catalog, config: RunConfig, key: string, values: readonly string[]): string | null {
  if (key === '') return 'Choose the setting that these values are for';
  if (values.length === 0) return `Give the values of ${key}, for example 0.001, 0.003`;
  if (key === 'seed' || key === 'name')
    return `${key} is not swept here: ${key === 'seed' ? 'use Seeds above' : 'names are made from the values'}`;
  for (const value of values) {
    try {
      applyOverrides(catalog, config, [`${key}=${value}`]);
    } catch (error) {
      if (error instanceof ConfigError) return error.message;
      throw error;
    }
  }
  return null;
}

/** A world nobody can demonstrate trains too, from an untrained reference; that has to be asked for, because it takes longer. */
function demonstrationIssues(catalog: Catalog, { world, reference }: RunConfig): Issue[] {
  const { demonstrates, title } = findWorld(catalog, world.name);
  if (demonstrates !== false || reference.demonstrations === 0 || reference.from !== '') return [];
  const message = `${title} has no demonstrations to clone a reference policy from. Set 0: the reference is then the untrained policy. Or name a checkpoint in reference.from`;
  return [{ key: 'reference.demonstrations', message }];
}

/** A world checks its settings. */
export function worldIssues(catalog: Catalog, config: RunConfig): Issue[] {
  const { worlds } = catalog;
  if (!worlds.some(({ name }) => name === config.world.name)) {
    return [{ key: 'world.name', message: `Expected one of ${worlds.map(({ name }) => name).join(', ')}; found “${config.world.name}”` }];
  }
  const parsed = findWorld(catalog, config.world.name).settings.safeParse(config.world.settings);
  if (parsed.success) return demonstrationIssues(catalog, config);
  return parsed.error.issues.map((issue) => ({ key: ['world.settings', ...issue.path].join('.'), message: wordsOf(issue) }));
}

function keyOf(issue: z.core.$ZodIssue): string {
  return issue.path.filter((part) => typeof part === 'string').join('.');
}

/** What was expected, and what to do. */
function wordsOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'too_small':
      return `Enter at least ${String(issue.minimum)}`;
    case 'too_big':
      return `Enter at most ${String(issue.maximum)}`;
    case 'invalid_type':
      return issue.expected === 'int' ? 'Enter a whole number' : `Enter a ${issue.expected}`;
    case 'invalid_value':
      return `Expected one of ${issue.values.map(String).join(', ')}`;
    case 'unrecognized_keys':
      return `There is no setting named ${issue.keys.join(', ')}; remove it`;
    default:
      return issue.message.charAt(0).toUpperCase() + issue.message.slice(1);
  }
}
