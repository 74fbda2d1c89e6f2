// A run of the store as a comparison wants it: its final evaluation task by task, where its curves end, its config.

import type { Member } from '../evaluation/arms.ts';
import { type ClusteredResult, TaskClusters } from '../evaluation/clusters.ts';
import type { Contender } from '../evaluation/compare.ts';
import type { Evaluation, StoredResult } from '../store/evaluations.ts';
import type { Run } from '../store/runs.ts';
import type { Store } from '../store/store.ts';

/** The results also say which episode of the store each is. */
export interface StoredContender extends Contender {
  readonly results: readonly ClusteredStoredResult[];
}

type ClusteredStoredResult = StoredResult & ClusteredResult;

/** Results that were read lately: the parts of a comparison are asked for one after the other, and each needs them. */
const read = new WeakMap<Store, { clusters: TaskClusters; results: Map<string, ClusteredStoredResult[]> }>();
const MOST_READ = 200_000;

/** What an evaluation measured never changes; should its number be given again, its run, date or outcome differ. */
function resultsOf(store: Store, run: Run, evaluation: Evaluation | undefined): readonly ClusteredStoredResult[] {
  if (!evaluation) return [];
  let known = read.get(store);
  if (!known) read.set(store, (known = { clusters: new TaskClusters(store.catalog), results: new Map() }));
  const { id, createdAt, success } = evaluation;
  const key = [id, run.uid, createdAt, success.k, success.n].join(' ');
  let results = known.results.get(key);
  if (!results) {
    results = known.clusters.mark(run.config, store.evaluations.results(id));
    if ([...known.results.values()].reduce((sum, { length }) => sum + length, results.length) > MOST_READ) known.results.clear();
    known.results.set(key, results);
  }
  return results;
}

/** `whole`: with the last value of every metric, which takes a while of many runs. */
export function contenderOf(store: Store, id: number, whole = true): StoredContender {
  const run = store.runs.get(id);
  const evaluation = store.evaluations.finalOrLatest(id);
  return {
    run: run.id,
    name: run.name,
    variant: run.variant,
    seed: run.seed,
    group: run.groupHash,
    updates: run.updates,
    config: run.config,
    ends: whole ? store.metrics.latest(id) : {},
    results: resultsOf(store, run, evaluation),
    evaluated: evaluation ? { split: evaluation.split, temperature: evaluation.temperature } : null,
    place: placeOf(evaluation),
    worldHash: evaluation?.worldHash ?? '',
  };
}

/** Only what it was evaluated on and how that went. */
export function evaluatedRun(store: Store, id: number): Member & { readonly results: readonly ClusteredStoredResult[] } {
  const run = store.runs.get(id);
  const evaluation = store.evaluations.finalOrLatest(id);
  return {
    run: id,
    seed: run.seed,
    place: placeOf(evaluation),
    worldHash: evaluation?.worldHash ?? '',
    results: resultsOf(store, run, evaluation),
  };
}

const placeOf = (evaluation: Evaluation | undefined): string => (evaluation ? `${evaluation.world} ${evaluation.split}` : '');
