// A run of the store as a comparison wants it: its final evaluation task by task, where its curves end, its config.

import { armHash, completeConfig } from '../config/config.ts';
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

/** What the worlds say of their tasks, asked once. */
const clusters = new TaskClusters();

const resultsOf = (store: Store, run: Run, evaluation: Evaluation | undefined): ClusteredStoredResult[] =>
  evaluation ? clusters.mark(run.config, store.evaluations.results(evaluation.id)) : [];

/** `whole`: with its arm and the last value of every metric, which take a while of many runs. */
export function contenderOf(store: Store, id: number, whole = true): StoredContender {
  const run = store.runs.get(id);
  const evaluation = store.evaluations.finalOrLatest(id);
  const config = configOf(run);
  return {
    run: run.id,
    name: run.name,
    variant: run.variant,
    seed: run.seed,
    group: whole ? armHash(config) : '',
    updates: run.updates,
    config,
    ends: whole ? store.metrics.latest(id) : {},
    results: resultsOf(store, run, evaluation),
    evaluated: evaluation ? { split: evaluation.split, temperature: evaluation.temperature } : null,
    place: placeOf(evaluation),
  };
}

/** Only what it was evaluated on and how that went. */
export function evaluatedRun(store: Store, id: number): Member & { readonly results: readonly ClusteredStoredResult[] } {
  const run = store.runs.get(id);
  const evaluation = store.evaluations.finalOrLatest(id);
  return { run: id, seed: run.seed, place: placeOf(evaluation), results: resultsOf(store, run, evaluation) };
}

const placeOf = (evaluation: Evaluation | undefined): string => (evaluation ? `${evaluation.worldHash} ${evaluation.split}` : '');

/** Complete configs by what is stored, name and seed apart: parsing is slow, and the seeds of an arm are alike. */
const completed = new Map<string, unknown>();
const MOST = 500;

function configOf({ config, seed }: Run): unknown {
  const { name, seed: _seed, ...rest } = config;
  const key = JSON.stringify(rest);
  let known = completed.get(key);
  if (known === undefined) {
    known = completeConfig(config);
    if (completed.size >= MOST) completed.clear();
    completed.set(key, known);
  }
  return typeof known === 'object' && known !== null ? { ...known, ...(name !== undefined && { name }), seed } : config;
}
