// Which configs mean the same: names and hashes by which runs, arms and references are found again. Settings that came after version 0.1.0 and are
// as if they did not exist are left out, so that the hashes of older configs stay.

import { canonicalJson, contentHash } from '../base/canonical.ts';
import { completeConfig, type RunConfig } from './config.ts';
import { modelIdentity } from './language-model.ts';

/** Neither a name nor how much memory a process may take is a part of the experiment. */
const OUTSIDE = new Set(['name', 'memory', 'deviceMemory']);

/** What a run is an experiment in: the complete config, so that old and new runs agree, without what lies outside of it. */
export function experimentHash(stored: unknown, ...without: readonly string[]): string {
  const config = completeConfig(stored);
  if (typeof config !== 'object' || config === null) return contentHash(config);
  return contentHash(Object.fromEntries(Object.entries(config).filter(([key]) => !OUTSIDE.has(key) && !without.includes(key))));
}

/** What the seeds of one arm have in common. */
export const armHash = (stored: unknown): string => experimentHash(stored, 'seed');

/** Equal configs, equal text, whatever the order of their keys. */
export const canonicalConfig = (config: RunConfig): string => canonicalJson(config);

/** The settings of a reference without those that came after version 0.1.0 and are as if they did not exist: hashes of older ones stay. */
export function recipeSettings({ from, skipMistakes, hold, tiers, group, ...rest }: RunConfig['reference']): object {
  return {
    ...rest,
    ...(from !== '' && { from }),
    ...(skipMistakes && { skipMistakes }),
    ...(hold !== 0.5 && { hold }),
    ...(tiers !== '' && { tiers }),
    ...(group > 1 && { group }),
  };
}

/** The same of an algorithm: A*PO had one rollout of each task. */
function algorithmIdentity(algorithm: RunConfig['algorithm']): object {
  const { group, ...rest }: { readonly id: string; readonly group?: unknown } = algorithm;
  return algorithm.id === 'astar-po' && group === 1 ? rest : algorithm;
}

/** The same of the aids: ids traded places with all others. */
function aidsIdentity({ similarIds, ...rest }: RunConfig['policy']['aids']): Omit<RunConfig['policy']['aids'], 'similarIds'> {
  return { ...rest, ...(similarIds && { similarIds }) };
}

/** Runs with equal keys have the same reference; known without opening the world, unlike the recipe. */
export const referenceKey = ({ world, policy, reference }: RunConfig): string =>
  contentHash({ world, policy: unpricedPolicy(policy), reference: recipeSettings(reference) });

/** A policy without the price of invalid actions, which changes neither its reference nor its speed. */
export function unpricedPolicy(policy: RunConfig['policy']): object {
  const { invalidPenalty: _price, ...model } = policy.model;
  return { ...policy, model, aids: aidsIdentity(policy.aids) };
}

/** Short name of everything that decides a run's numbers: the config without its name. */
export function configHash(config: RunConfig): string {
  const { name: _name, algorithm, policy, reference, training, evaluation, ...rest } = config;
  // A small Transformer is what every config meant before there were language models, LSTMs and words by their letters: its hash stays.
  const { kind, model, architecture, aids: allAids, ...others } = policy;
  const { letters, ...aids } = aidsIdentity(allAids);
  const scratch = { ...others, aids: { ...aids, ...(letters > 0 && { letters }) } };
  const network =
    kind === 'scratch'
      ? { ...scratch, ...(architecture !== 'transformer' && { architecture }) }
      : { kind, model: modelIdentity(model), ...scratch };
  const { beam, ...measured } = evaluation;
  const { minP, ...learning } = training;
  return contentHash({
    ...rest,
    policy: network,
    algorithm: algorithmIdentity(algorithm),
    reference: recipeSettings(reference),
    training: { ...learning, ...(minP > 0 && { minP }) },
    evaluation: { ...measured, ...(beam.width > 1 && { beam }) },
  }).slice(0, 16);
}
