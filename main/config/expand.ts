// "This config × 5 seeds × 3 algorithms" as one action: every combination of the values of a grid, with every seed, as
// complete and validated configs. All of them are valid or none is made.

import type { Catalog } from './catalog.ts';
import { ConfigError, type RunConfig } from './config.ts';
import { applyOverrides } from './overrides.ts';

export interface Sweep {
  readonly seeds: readonly number[];
  /** Values to try by dotted key, written as on the command line: { 'algorithm.beta2': ['0.001', '0.01'] }. */
  readonly grid: Readonly<Record<string, readonly string[]>>;
}

/** More than this in one action is rather a slip of the hand. */
const MOST_RUNS = 1000;

/** One config per combination and seed, the seeds of a combination side by side and under one name. */
export function expand(catalog: Catalog, config: RunConfig, sweep: Sweep): RunConfig[] {
  let combinations: string[][] = [[]];
  for (const [key, values] of Object.entries(sweep.grid)) {
    if (values.length === 0) throw new ConfigError(`The sweep gives no values for ${key}: name at least one, or leave the key out`);
    combinations = combinations.flatMap((chosen) => values.map((value) => [...chosen, `${key}=${value}`]));
  }
  const seeds = sweep.seeds.length === 0 ? [config.seed] : sweep.seeds;
  if (new Set(seeds).size !== seeds.length) throw new ConfigError(`Every seed is named once; found ${seeds.join(', ')}`);
  const count = combinations.length * seeds.length;
  if (count > MOST_RUNS) throw new ConfigError(`That would be ${count} runs; at most ${MOST_RUNS} are made at once`);
  return combinations.flatMap((changes) => {
    const labels = changes.map((change) => change.replace(/^.*\.(?=[^.=]*=)/, '').replace('=', ' '));
    const name = [config.name, ...labels].join(', ').slice(0, 120);
    return seeds.map((seed) => applyOverrides(catalog, { ...config, name }, [...changes, `seed=${seed}`]));
  });
}
