// Policies taken out of the store to act without learning: a run's (its newest sound checkpoint, or a given one) or the
// reference of a config. For evaluation, for replay's "what if", and for anyone who wants to play against them.

import { availableParallelism } from 'node:os';
import type { TrainingState } from '../engine/runtime/training-step.ts';
import type { TrainedModel } from '../policy/model/files/export.ts';
import { ModelRegistry } from '../policy/model/files/registry.ts';
import { ModelError } from '../policy/model/files/tensor-source.ts';
import { Sampler } from '../policy/sampling/sampler.ts';
import type { Actor } from '../rollout/rollout.ts';
import type { Store } from '../store/store.ts';
import { cloneReference, keepReference, referenceRecipe } from '../training/reference/reference.ts';
import { storedPolicy } from '../training/reference/stored-policy.ts';
import { loadState, loadWeights } from '../training/weights.ts';
import { trainedPart } from '../training/model-policy.ts';
import { type RunSetup, openRun } from '../training/run-setup.ts';

export interface StoredPolicy {
  readonly player: Actor;
  readonly setup: RunSetup;
  /** The update whose weights act; 0 is the reference. */
  readonly update: number;
}

const threadsOf = (setup: RunSetup): number => setup.config.threads || availableParallelism();

/** The policy of a run: after `update`, or its newest checkpoint. */
export function policyOfRun(store: Store, run: number, update?: number): StoredPolicy {
  const { setup, state, update: found } = stateOfRun(store, run, update);
  const sampler = new Sampler(setup.model, state.values, { capacity: 128, threads: threadsOf(setup) });
  return { setup, update: found, player: { environment: setup.environment, codec: setup.codec, sampler } };
}

/** A run's set-up and the weights of a checkpoint: after `update`, or the newest. */
function stateOfRun(store: Store, run: number, update?: number): { setup: RunSetup; state: TrainingState; update: number } {
  const setup = openRun(store.catalog, store.runs.get(run).config, { dataFolder: store.dataFolder });
  const checkpoint =
    update === undefined
      ? store.checkpoints.newestSound(run)
      : store.checkpoints.list(run).find((candidate) => candidate.update === update);
  if (!checkpoint) {
    const kept = store.checkpoints.list(run).map((candidate) => candidate.update);
    throw new Error(
      update === undefined
        ? `Run ${run} has no checkpoint yet, so there is no policy to act with`
        : `Run ${run} has no checkpoint of update ${update}; there are ${kept.join(', ') || 'none'}`,
    );
  }
  const { state } = loadState(store.checkpoints.path(checkpoint), setup.layout);
  return { setup, state, update: checkpoint.update };
}

/** The language model of a run with what training has made of it, for export; its update 0 is the reference, checkpoint or not. */
export function trainedModelOfRun(store: Store, run: number, update?: number): TrainedModel {
  const { config } = store.runs.get(run);
  const { policy } = config;
  if (policy.kind !== 'model') throw new ModelError(`Run ${run} has trained a small Transformer; only language models can be exported`);
  const part = { source: new ModelRegistry(store.dataFolder).open(policy.model.name), trained: trainedPart(policy) };
  const setup = openRun(store.catalog, config, { dataFolder: store.dataFolder });
  const reference = update === 0 ? store.references.find(referenceRecipe(setup)) : undefined;
  if (reference) {
    const layout = setup.referenceLayout;
    return { ...part, layout, values: loadWeights(store.references.path(reference), layout) };
  }
  return { ...part, layout: setup.layout, values: stateOfRun(store, run, update).state.values };
}

/** The reference policy of a config: found in the store, or cloned now and kept. */
export async function referencePolicy(
  store: Store,
  setup: RunSetup,
  progress: (done: number, total: number) => void = () => {},
): Promise<StoredPolicy> {
  const known = store.references.find(referenceRecipe(setup));
  let weights = known && loadWeights(store.references.path(known), setup.referenceLayout);
  if (!weights && setup.config.reference.from !== '') weights = storedPolicy(setup, store.references);
  if (!weights) {
    const made = await cloneReference(setup, threadsOf(setup), { report: ({ step, steps }) => progress(step, steps) });
    store.references.add(keepReference(store.dataFolder, setup, made.weights, made.success));
    ({ weights } = made);
  }
  const sampler = new Sampler(setup.referenceModel, weights, { capacity: 128, threads: threadsOf(setup) });
  return { setup, update: 0, player: { environment: setup.environment, codec: setup.codec, sampler } };
}
