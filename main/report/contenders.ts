// A run of the store as a comparison wants it: its final evaluation task by task, where its curves end, its config.

import { armHash, completeConfig } from '../config/config.ts';
import type { Store } from '../store/store.ts';
import type { StoredResult } from '../store/evaluations.ts';
import type { Contender } from '../evaluation/compare.ts';

/** The results also say which episode of the store each is. */
interface StoredContender extends Contender {
  readonly results: readonly StoredResult[];
}

export function contenderOf(store: Store, id: number): StoredContender {
  const run = store.runs.get(id);
  const evaluation = store.evaluations.finalOrLatest(id);
  return {
    run: run.id,
    name: run.name,
    variant: run.variant,
    seed: run.seed,
    group: armHash(run.config),
    updates: run.updates,
    config: completeConfig(run.config),
    ends: store.metrics.latest(id),
    results: evaluation ? store.evaluations.results(evaluation.id) : [],
    evaluated: evaluation ? { split: evaluation.split, temperature: evaluation.temperature } : null,
    place: evaluation ? `${evaluation.worldHash} ${evaluation.split}` : '',
  };
}
