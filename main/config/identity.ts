// What a run is an experiment in, and what of it is found again in caches. Nothing else compares configs: two runs are the same when
// their identities are, seeds of one arm when their arms are.

import { contentHash, omitEntries } from '../base/canonical.ts';
import type { Worlds } from '../environment/registry.ts';
import type { RunConfig } from './config.ts';

/** Neither a name nor how much memory a process may take is a part of the experiment. */
function experiment({
  name: _name,
  memory: _memory,
  deviceMemory: _device,
  ...rest
}: RunConfig): Omit<RunConfig, 'name' | 'memory' | 'deviceMemory'> {
  return rest;
}

/** Equal for configs that give the same numbers. */
export const runIdentity = (config: RunConfig): string => contentHash(experiment(config));

/** Equal for configs that differ in their seed at most: the seeds of one arm. */
export function armIdentity(config: RunConfig): string {
  const { seed: _seed, ...rest } = experiment(config);
  return contentHash(rest);
}

/**
 * Names of cached files and of measurements are hashes, and must stay the same when a setting is added: these were, and are left out of
 * the hash at the value that does nothing.
 */
const ADDED = {
  reference: { from: '', skipMistakes: false, hold: 0.5, tiers: '', group: 1 },
  aids: { similarIds: false },
} as const;

function referenceSettings({ worlds }: Worlds, { world, reference }: Pick<RunConfig, 'world' | 'reference'>) {
  const { imperfection, ...settings } = reference;
  const mistakes = worlds.find(({ name }) => name === world.name)?.mistakes ?? {};
  const added = Object.entries(mistakes).filter(([, { added: later }]) => later === true);
  const defaults = Object.fromEntries(added.map(([name, { chance }]) => [name, chance]));
  return { settings: omitEntries(settings, ADDED.reference), imperfection: omitEntries(imperfection, defaults), mistakes };
}

/** The settings of a reference as its recipe spells them: a mistake that was renamed keeps its first name there. */
export function recipeSettings(catalog: Worlds, config: Pick<RunConfig, 'world' | 'reference'>): object {
  const { settings, imperfection, mistakes } = referenceSettings(catalog, config);
  const spelled = Object.entries(imperfection).map(([name, chance]) => [mistakes[name]?.firstName ?? name, chance]);
  return { ...settings, imperfection: Object.fromEntries(spelled) };
}

/** Runs with equal keys have the same reference; computed without opening the world, unlike the recipe. */
export function referenceKey(catalog: Worlds, { world, policy, reference }: Pick<RunConfig, 'world' | 'policy' | 'reference'>): string {
  const { settings, imperfection } = referenceSettings(catalog, { world, reference });
  return contentHash({ world, policy: unpricedPolicy(policy), reference: { ...settings, imperfection } });
}

/** A policy without the price of invalid actions, which changes neither its reference nor its speed. */
export function unpricedPolicy(policy: RunConfig['policy']): object {
  const { invalidPenalty: _price, ...model } = policy.model;
  return { ...policy, model, aids: omitEntries(policy.aids, ADDED.aids) };
}
