// A small, honest tuner: every subject (an algorithm with its base config) gets the same number of trials on the same
// validation tasks, its default setting first. Trials are ordinary runs, found again when they are there already. The
// best is the one with the most validation tasks solved, ties broken by return; whether that differs from the default
// by more than chance is said with it. A trial is one run, so this is the test of a single pair of runs (clusters of tasks
// are the sample, evaluation/inference.ts): it holds for the tuner's seed only. Test tasks are never played.

import type { Catalog } from '../config/catalog.ts';
import type { RunConfig } from '../config/config.ts';
import { applyOverrides } from '../config/overrides.ts';
import { successOf } from '../evaluation/evaluate.ts';
import { successValue } from '../evaluation/pairing.ts';
import { ALPHA, clusteredDifference, type Difference } from '../evaluation/inference.ts';
import { type ClusteredResult, TaskClusters } from '../evaluation/clusters.ts';
import { points, pValue, signedPoints } from '../base/format.ts';
import { type Proportion, mean } from '../base/statistics.ts';
import type { StoredResult } from '../store/evaluations.ts';
import type { Run } from '../store/runs.ts';
import type { Store } from '../store/store.ts';
import type { Settings } from './definition.ts';
import { overridesOf } from './plan.ts';
import { trialSettings } from './search-space.ts';
import { finishedRuns, trainAll, type WorkOptions } from './work.ts';

export interface Subject {
  readonly id: string;
  readonly preset: string;
  readonly config: RunConfig;
}

export interface TuneOptions {
  readonly trials: number;
  readonly seed: number;
  /** Validation tasks that every trial is judged by. */
  readonly tasks: number;
}

export interface Trial {
  readonly trial: number;
  readonly settings: Settings;
  readonly run: number;
  readonly uid: string;
  readonly state: Run['state'];
  /** Null when the run failed before it was evaluated: it then counts as the worst. */
  readonly success: Proportion | null;
  readonly return: number | null;
}

export interface Tuning {
  readonly subject: string;
  readonly variant: string;
  readonly best: Trial;
  readonly trials: readonly Trial[];
  /** The best against the default on the same tasks; null when the default is the best. */
  readonly against: Difference | null;
  readonly words: string;
}

/** The config of a trial: the subject's, its settings, the tuner's seed, validation at the end and no test. */
export function trialConfig(catalog: Catalog, { id, config }: Subject, trial: number, options: TuneOptions): RunConfig {
  const settings = trialSettings(catalog, config.algorithm.id, trial, options.seed);
  return applyOverrides(catalog, config, [
    ...overridesOf(settings),
    `seed=${options.seed}`,
    `evaluation.every=${config.training.updates}`,
    `evaluation.tasks=${options.tasks}`,
    'evaluation.split=validation',
    'evaluation.finalTasks=0',
    'retention.keep=evaluation',
    `name=tune ${id}, trial ${trial}`,
  ]);
}

/** Without `work` nothing is trained: finished trials decide, and a subject that has none is left out. */
export async function tune(store: Store, subjects: readonly Subject[], options: TuneOptions, work: WorkOptions | null): Promise<Tuning[]> {
  const numbers = Array.from({ length: options.trials }, (_, trial) => trial);
  const planned = subjects.flatMap((subject) =>
    numbers.map((trial) => ({ subject, config: trialConfig(store.catalog, subject, trial, options) })),
  );
  const wanted = planned.map(({ subject, config }) => ({ config, preset: subject.preset, tags: ['tune', subject.id] }));
  const runs = work ? await trainAll(store, wanted, work) : finishedRuns(store, wanted);
  const clusters = new TaskClusters(store.catalog);
  return subjects.flatMap((subject, place) => {
    const own = runs.slice(place * options.trials, (place + 1) * options.trials);
    const outcomes = own.flatMap((run, trial) => {
      const settings = trialSettings(store.catalog, subject.config.algorithm.id, trial, options.seed);
      return run ? [{ trial, run, settings, results: clusters.mark(run.config, lastResults(store, run)) }] : [];
    });
    return outcomes.length > 0 ? [judge(subject, outcomes)] : [];
  });
}

interface Outcome {
  readonly trial: number;
  readonly run: Run;
  readonly settings: Settings;
  readonly results: readonly ClusteredResult[];
}

function lastResults(store: Store, run: Run): readonly StoredResult[] {
  const evaluation = run.state === 'done' ? store.evaluations.finalOrLatest(run.id) : undefined;
  return evaluation ? store.evaluations.results(evaluation.id) : [];
}

function judge(subject: Subject, outcomes: readonly Outcome[]): Tuning {
  const trials = outcomes.map(({ trial, run, settings, results }): Trial => {
    const played = results.length > 0;
    return {
      trial,
      settings,
      run: run.id,
      uid: run.uid,
      state: run.state,
      success: played ? successOf(results) : null,
      return: played ? mean(results.map((result) => result.return)) : null,
    };
  });
  const best = bestOf(trials);
  if (best.success === null) {
    const reasons = outcomes.map(({ run }) => `run ${run.id}: ${run.reason ?? run.state}`);
    throw new Error(`No trial of ${subject.id} could be evaluated, so there is no setting to take. ${reasons.join('; ')}`);
  }
  const initial = outcomes.find(({ trial }) => trial === 0);
  const chosen = outcomes.find(({ trial }) => trial === best.trial);
  const against = best.trial !== 0 && initial && chosen ? (againstDefault(chosen.results, initial.results) ?? null) : null;
  return { subject: subject.id, variant: subject.config.algorithm.id, best, trials, against, words: wordsOf(subject.id, best, against) };
}

/** Undefined when they played no task in common: the default could not be evaluated. */
export function againstDefault(chosen: readonly ClusteredResult[], initial: readonly ClusteredResult[]): Difference | undefined {
  const keyOf = ({ task, seed }: ClusteredResult): string => `${task}\n${seed}`;
  const before = new Map(initial.map((result) => [keyOf(result), successValue(result)]));
  const pairs = chosen.flatMap((result) => {
    const other = before.get(keyOf(result));
    return other === undefined ? [] : [{ cluster: result.cluster, difference: successValue(result) - other }];
  });
  if (pairs.length === 0) return undefined;
  return clusteredDifference(
    pairs.map(({ difference }) => difference),
    pairs.map(({ cluster }) => cluster),
  );
}

/** The most tasks solved, then the highest return, then the earliest. */
export function bestOf(trials: readonly Trial[]): Trial {
  const [best] = trials.toSorted(
    (a, b) => (b.success?.rate ?? -1) - (a.success?.rate ?? -1) || (b.return ?? -Infinity) - (a.return ?? -Infinity) || a.trial - b.trial,
  );
  if (!best) throw new RangeError('Tuning needs at least one trial; found none. Give --trials 1 or more.');
  return best;
}

function wordsOf(id: string, best: Trial, against: Difference | null): string {
  if (best.trial === 0) return `${id}: no trial does better than the default setting.`;
  const changes = Object.entries(best.settings).map(([key, value]) => `${key} ${String(value)}`);
  const setting = `${id}: trial ${best.trial} (${changes.join(', ')})`;
  if (!against) return `${setting} is the best; the default setting could not be evaluated.`;
  const { value, low, high, clusters, p } = against;
  const range = `${signedPoints(value)} points against the default, 95% interval ${points(low)} to ${points(high)} over ${clusters} clusters of tasks, p = ${pValue(p)}, one seed`;
  if (p <= ALPHA) return `${setting} is better than the default: ${range}.`;
  return `${setting} solves the most, but does not differ from the default by more than chance: ${range}.`;
}
