// The systems of the write-ups, each with its preset: what was expected, what was measured then, and what its runs measure here. The systems are
// data (resources/sources.json); every number of the column "here" comes from runs in the database, found by their configs.

import type { Catalog } from '../config/catalog.ts';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { RunConfig } from '../config/config.ts';
import { applyOverrides } from '../config/overrides.ts';
import { loadPreset, type Size, sized } from '../config/presets.ts';
import { findWorld } from '../environment/registry.ts';
import { type Conduct, conductedEpisodes, conductOf } from '../evaluation/conduct.ts';
import { type EvaluationTable, tabulate } from '../evaluation/evaluate.ts';
import { resourceFile } from '../base/paths.ts';
import { type Proportion, wilson } from '../base/statistics.ts';
import type { Evaluation } from '../store/evaluations.ts';
import type { Store } from '../store/store.ts';
import { sameRun } from './work.ts';

const Shares = z.record(z.string(), z.number().min(0).max(1));
const System = z.strictObject({
  id: z.string().regex(/^[a-z0-9-]+$/),
  title: z.string().min(3),
  /** The write-up, by its number. */
  source: z.string().regex(/^\d{3}$/),
  preset: z.string(),
  set: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).default({}),
  /** What its authors expected, and what they measured, in words. */
  expected: z.string(),
  reported: z.string(),
  /** Success by category and shares of the failures, where they gave them. */
  categories: Shares.default({}),
  failures: Shares.default({}),
});
export type System = z.infer<typeof System>;

export function loadSystems(): readonly System[] {
  const text = readFileSync(resourceFile('sources.json'), 'utf8');
  return z.strictObject({ systems: z.array(System).min(1) }).parse(JSON.parse(text)).systems;
}

/** The config of a system's run, with one thread, so that several can train at once; `changes` are the caller's, as `--set` has them. */
export function systemConfig(catalog: Catalog, system: System, size: Size, seed: number, changes: readonly string[] = []): RunConfig {
  const own = Object.entries(system.set).map(([key, value]) => `${key}=${value}`);
  return applyOverrides(catalog, sized(catalog, loadPreset(catalog, system.preset), size), [
    'threads=1',
    ...own,
    ...changes,
    `seed=${seed}`,
    `name=${system.id}-${size}`,
  ]);
}

/** The evaluation of a run's final policy on a split; on training tasks it is one that was asked for. */
export const evaluationOn = (store: Store, run: number, split: 'test' | 'train'): Evaluation | undefined =>
  store.evaluations
    .list(run)
    .findLast((one) => one.agent === 'policy' && one.split === split && (split === 'train' ? one.kind === 'manual' : one.kind === 'final'));

export interface MeasuredRun {
  readonly run: number;
  readonly seed: number;
  readonly table: EvaluationTable;
  readonly conduct: Conduct;
  /** Success on training tasks; null until it is measured. */
  readonly train: Proportion | null;
}

export interface MeasuredSystem {
  readonly system: System;
  readonly updates: number;
  readonly runs: readonly MeasuredRun[];
}

/** Finds the run of a config; one for all systems, because it goes through every run. */

/** What the finished runs of a system say. */
export function measureSystem(
  store: Store,
  system: System,
  { size, seeds, changes = [] }: { readonly size: Size; readonly seeds: readonly number[]; readonly changes?: readonly string[] },
): MeasuredSystem {
  const runs = seeds.flatMap((seed): MeasuredRun[] => {
    const config = systemConfig(store.catalog, system, size, seed, changes);
    const run = sameRun(store, config);
    const final = run?.state === 'done' ? evaluationOn(store, run.id, 'test') : undefined;
    if (!run || !final) return [];
    const results = store.evaluations.results(final.id);
    const environment = findWorld(store.catalog, config.world.name).create(config.world.settings);
    const kept = (index: number) => {
      const episode = results[index]?.episode ?? null;
      return episode === null ? null : store.trajectories.read(episode).steps;
    };
    const train = evaluationOn(store, run.id, 'train')?.success;
    const conduct = conductOf(environment, conductedEpisodes(environment, final.split, results, kept));
    return [{ run: run.id, seed, table: tabulate(results), conduct, train: train ? wilson(train.k, train.n) : null }];
  });
  return { system, updates: systemConfig(store.catalog, system, size, 1, changes).training.updates, runs };
}
