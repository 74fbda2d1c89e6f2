// What the Compare page shows of a set of runs, part by part, because a hundred runs are too much for one answer: first the
// runs themselves with their validation curves, then arms, pairs, tasks, budgets and settings as they come into view.

import type { StoredResult } from '../store/evaluations.ts';
import type { Store } from '../store/store.ts';
import { type Arm, compareArms, summarise } from '../evaluation/arms.ts';
import { mismatches } from '../evaluation/comparable.ts';
import { pairRuns } from '../evaluation/compare.ts';
import { successOf, tabulate } from '../evaluation/evaluate.ts';
import { diffConfigs, type Difference, flatConfigs } from '../config/overrides.ts';
import { mean, wilson } from '../base/statistics.ts';
import { type Budget, budgetOf, meanBudget, unequalBudgets } from './budget.ts';
import { contenderOf, evaluatedRun, type StoredContender } from './contenders.ts';
import type { ComparedArm, ComparedPair, ComparedRun, Matrix, Pair } from './schema.ts';

export interface Grouped {
  readonly key: string;
  readonly runs: readonly number[];
}

/** What keeps the runs from being compared, the settings in which they differ, and the metrics that at least one of them recorded. */
interface Opened {
  readonly runs: ComparedRun[];
  readonly mismatches: { what: string; words: string }[];
  readonly diff: readonly Difference[];
  readonly metrics: string[];
}

/** The runs themselves, with what may keep them from being compared. */
export function openComparison(store: Store, ids: readonly number[]): Opened {
  const contenders: StoredContender[] = [];
  const runs: ComparedRun[] = [];
  const metrics = new Set<string>();
  for (const id of ids) {
    const contender = contenderOf(store, id, false);
    contenders.push(contender);
    runs.push(comparedRun(store, contender));
    for (const name of store.metrics.names(id)) metrics.add(name);
  }
  return {
    runs,
    mismatches: mismatches(contenders).map(({ what, words }) => ({ what, words })),
    diff: settingsThatDiffer(contenders),
    metrics: [...metrics].sort(),
  };
}

const settingsThatDiffer = (contenders: readonly StoredContender[]): readonly Difference[] =>
  diffConfigs(contenders.map(({ config }) => config)).filter(({ key }) => key !== 'name');

/** Every setting with one value per run, and whether they differ. */
export function allSettings(store: Store, ids: readonly number[]): (Difference & { readonly differs: boolean })[] {
  const contenders = ids.map((id) => contenderOf(store, id, false));
  const different = new Set(settingsThatDiffer(contenders).map(({ key }) => key));
  return flatConfigs(contenders.map(({ config }) => config))
    .filter(({ key }) => key !== 'name')
    .map((one) => ({ ...one, differs: different.has(one.key) }));
}

/** The arms as the statistics want them. */
export function armsOf(store: Store, groups: readonly Grouped[]): Arm[] {
  return groups.map(({ key, runs }) => ({ key, members: runs.map((id) => evaluatedRun(store, id)) }));
}

export function comparedArms(store: Store, groups: readonly Grouped[], baseline: string): { arms: ComparedArm[]; pairs: ComparedPair[] } {
  const arms = armsOf(store, groups);
  return {
    arms: arms.map((arm) => {
      const { runs, ...rest } = summarise(arm);
      return { ...rest, runs: [...runs] };
    }),
    pairs: compareArms(arms, baseline),
  };
}

export function comparedPairs(store: Store, pairs: readonly (readonly [number, number])[]): { paired: Pair[]; words: string[] } {
  const contenders = new Map([...new Set(pairs.flat())].map((id) => [id, contenderOf(store, id, false)]));
  const { paired, words } = pairRuns(
    pairs.flatMap(([a, b]) => {
      const [first, second] = [contenders.get(a), contenders.get(b)];
      return first && second ? [[first, second] as const] : [];
    }),
  );
  return { paired: paired.map((pair) => ({ ...pair })), words: [...words] };
}

export function armBudgets(store: Store, groups: readonly Grouped[]): { budgets: ({ key: string } & Budget)[]; unequal: string[] } {
  const sides = groups.map(({ key, runs }) => ({
    name: key,
    budget: meanBudget(runs.map((id) => budgetOf(store, store.runs.get(id)))),
  }));
  return {
    budgets: sides.flatMap(({ name, budget }) => (budget ? [{ key: name, ...budget }] : [])),
    unequal: unequalBudgets(sides),
  };
}

function comparedRun(store: Store, { run: id, results }: StoredContender): ComparedRun {
  const { name, variant, world, seed, groupHash: group, state, updates, planned, seconds, episodes, best } = store.runs.get(id);
  const all = store.evaluations.list(id);
  const shown = store.evaluations.finalOrLatest(id);
  // Tasks of the periodic evaluations: they make the curve; the final one may be on another split.
  const own = all.filter((evaluation) => evaluation.agent === 'policy' && evaluation.kind === 'periodic');
  const start = all.find(
    ({ agent, split, temperature }) => agent === 'reference' && split === shown?.split && temperature === shown.temperature,
  );
  const failures = Map.groupBy(
    store.evaluations.failures(id).filter(({ kind }) => kind === 'periodic'),
    ({ update }) => update,
  );
  const evaluated = results.length > 0;
  return {
    run: id,
    name,
    variant,
    world,
    seed,
    group,
    state,
    updates,
    planned,
    seconds,
    episodes,
    return: evaluated ? mean(results.map((result) => result.return)) : null,
    steps: evaluated ? mean(results.map((result) => result.steps)) : null,
    success: evaluated ? successOf(results) : null,
    best: best && { ...wilson(best.k, best.n), update: best.update },
    reference: start ? wilson(start.success.k, start.success.n) : null,
    evaluated: shown ? { update: shown.update, split: shown.split, kind: shown.kind } : null,
    categories: { ...tabulate(results).categories },
    evaluations: own.map(({ update, success }) => ({
      update,
      success: wilson(success.k, success.n),
      failures: Object.fromEntries((failures.get(update) ?? []).map(({ failure, count, n }) => [failure, n === 0 ? 0 : count / n])),
    })),
  };
}

/** Who solved what: a row for every task that any of the runs played. */
export function taskMatrix(store: Store, ids: readonly number[]): Matrix {
  const results = new Map<number, readonly StoredResult[]>(ids.map((id) => [id, evaluatedRun(store, id).results]));
  const rows = new Map<string, number>();
  const tasks: Matrix['tasks'] = [];
  for (const list of results.values()) {
    for (const { task, category, tier } of list) {
      if (rows.has(task)) continue;
      rows.set(task, tasks.length);
      tasks.push({ task, category, tier });
    }
  }
  const columns = [...results].map(([run, list]) => {
    const outcome = new Int8Array(tasks.length).fill(-1);
    const episode = new Float64Array(tasks.length);
    for (const result of list) {
      const row = rows.get(result.task) ?? 0;
      outcome[row] = result.success ? 1 : 0;
      episode[row] = result.episode ?? 0;
    }
    return { run, outcome, episode };
  });
  return { tasks, columns };
}
