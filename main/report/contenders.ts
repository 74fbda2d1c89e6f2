// A run of the store as a comparison wants it: its final evaluation task by task, where its curves end, its config.

import { completeConfig } from '../config/config.ts';
import { armHash } from '../config/identity.ts';
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

/** Results that were read lately: the parts of a comparison are asked for one after the other, and each needs them. */
const read = new WeakMap<Store, Map<string, ClusteredStoredResult[]>>();
const MOST_READ = 200_000;

/** What an evaluation measured never changes; should its number be given again, its run, date or outcome differ. */
function resultsOf(store: Store, run: Run, evaluation: Evaluation | undefined): readonly ClusteredStoredResult[] {
  if (!evaluation) return [];
  let known = read.get(store);
  if (!known) read.set(store, (known = new Map()));
  const { id, createdAt, success } = evaluation;
  const key = [id, run.uid, createdAt, success.k, success.n].join(' ');
  let results = known.get(key);
  if (!results) {
    results = clusters.mark(run.config, store.evaluations.results(id));
    if ([...known.values()].reduce((sum, { length }) => sum + length, results.length) > MOST_READ) known.clear();
    known.set(key, results);
  }
  return results;
}

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
