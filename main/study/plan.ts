// From a study's definition to complete configs: base, budget, the arm (and the one it is like), its tuned settings, the
// caller's changes, seed. Arms whose configs are equal share their runs, because runs are found by their config.

import type { Catalog } from '../config/catalog.ts';
import type { RunConfig } from '../config/config.ts';
import { applyOverrides } from '../config/overrides.ts';
import { loadPreset } from '../config/presets.ts';
import { quantile } from '../base/statistics.ts';
import type { Arm, Settings, StudyDefinition } from './definition.ts';

/** What the caller may change about a definition without editing it. */
export interface PlanOptions {
  readonly updates: number;
  readonly seeds: readonly number[];
  readonly only: readonly string[] | null;
  /** `key=value` texts, applied last. */
  readonly set: readonly string[];
  /** Updates of single arms, where a study equalises tokens. */
  readonly updatesOf?: Readonly<Record<string, number>>;
}

/** Tuned settings by the arm they were found for. */
export type Tuned = Readonly<Record<string, Settings>>;

export interface PlannedRun {
  readonly arm: string;
  readonly seed: number;
  readonly config: RunConfig;
}

export const overridesOf = (settings: Settings): string[] =>
  Object.entries(settings).map(([key, value]) => `${key}=${Array.isArray(value) ? value.join(',') : String(value)}`);

function partsOf(parts: Readonly<Record<string, number>>, updates: number): string[] {
  return Object.entries(parts).map(([key, part]) => `${key}=${Math.max(1, Math.round(part * updates))}`);
}

/** The arm itself preceded by those it is like, the first of them first. */
function lineage(definition: StudyDefinition, arm: Arm): Arm[] {
  const parent = definition.arms.find(({ id }) => id === arm.like);
  return parent ? [...lineage(definition, parent), arm] : [arm];
}

/** The config of an arm, without its seed. */
export function armConfig(catalog: Catalog, definition: StudyDefinition, arm: Arm, options: PlanOptions, tuned: Tuned): RunConfig {
  const config = ownConfig(catalog, definition, arm, options.updatesOf?.[arm.id] ?? options.updates, tuned);
  const equal = definition.equalise === 'optimizerSteps' ? oneStep(config) : [];
  return applyOverrides(catalog, config, [...equal, ...options.set, `name=${arm.id}`]);
}

/** One optimizer step an update, on all its episodes: with equal batches and updates, equal steps. */
function oneStep({ algorithm }: RunConfig): string[] {
  return ['epochs', 'minibatches'].filter((key) => key in algorithm).map((key) => `algorithm.${key}=1`);
}

/** The updates that give every arm the same number of tokens, from what a pilot run of each took for one update. */
export function equalTokens(tokensPerUpdate: ReadonlyMap<string, number>, updates: number): Record<string, number> {
  const sorted = [...tokensPerUpdate.values()].sort((a, b) => a - b);
  const target = updates * quantile(sorted, 0.5);
  return Object.fromEntries([...tokensPerUpdate].map(([arm, tokens]) => [arm, Math.max(1, Math.round(target / Math.max(1, tokens)))]));
}

function ownConfig(catalog: Catalog, definition: StudyDefinition, arm: Arm, updates: number, tuned: Tuned): RunConfig {
  const parent = definition.arms.find(({ id }) => id === arm.like);
  const start = parent ? ownConfig(catalog, definition, parent, updates, tuned) : baseConfig(catalog, definition, updates);
  const { algorithm, ...set } = arm.set;
  const changed = algorithm === undefined ? start : applyOverrides(catalog, start, [`algorithm=${String(algorithm)}`]);
  return applyOverrides(catalog, changed, [
    ...(parent ? sharedSettings(start, changed) : []),
    ...overridesOf(set),
    ...partsOf(arm.parts, updates),
    ...overridesOf(tuned[arm.id] ?? {}),
  ]);
}

function baseConfig(catalog: Catalog, { base }: StudyDefinition, updates: number): RunConfig {
  return applyOverrides(catalog, loadPreset(catalog, base.preset).config, [
    ...overridesOf(base.set),
    `training.updates=${updates}`,
    ...partsOf(base.parts, updates),
  ]);
}

/** An arm that is like another but for its algorithm keeps that one's values of the settings that both algorithms have. */
function sharedSettings(before: RunConfig, after: RunConfig): string[] {
  return Object.entries(before.algorithm)
    .filter(([key]) => key !== 'id' && key in after.algorithm)
    .map(([key, value]) => `algorithm.${key}=${String(value)}`);
}

/** The arms that are asked for, in the definition's order. */
export function chosenArms(definition: StudyDefinition, only: readonly string[] | null): Arm[] {
  return definition.arms.filter(({ id }) => only === null || only.includes(id));
}

export function seedsOf(arm: Arm, seeds: readonly number[]): readonly number[] {
  return seeds.slice(0, arm.seeds ?? seeds.length);
}

/** Every run of the chosen arms, seed by seed, so that an interrupted study has whole comparisons early. */
export function planRuns(catalog: Catalog, definition: StudyDefinition, options: PlanOptions, tuned: Tuned): PlannedRun[] {
  const arms = chosenArms(definition, options.only).map((arm) => ({ arm, config: armConfig(catalog, definition, arm, options, tuned) }));
  return options.seeds.flatMap((seed) =>
    arms
      .filter(({ arm }) => seedsOf(arm, options.seeds).includes(seed))
      .map(({ arm, config }) => ({ arm: arm.id, seed, config: { ...config, seed } })),
  );
}

/** The arms that must be tuned for these: those with `tune` themselves, and those the others are like. */
export function armsToTune(definition: StudyDefinition, only: readonly string[] | null): Arm[] {
  const needed = new Set(chosenArms(definition, only).flatMap((arm) => lineage(definition, arm)));
  return definition.arms.filter((arm) => arm.tune && needed.has(arm));
}

/** The arms whose tuned settings an arm has. */
export const tunedRoots = (definition: StudyDefinition, arm: Arm): string[] =>
  lineage(definition, arm)
    .filter(({ tune }) => tune)
    .map(({ id }) => id);
