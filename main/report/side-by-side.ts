// Everything the Compare page shows of a set of runs, gathered from the store in one go: the comparison itself, validation
// success and failure classes over training, categories, and who solved which task.

import type { Answer } from '../../preload/contract.ts';
import type { ComparedRun, Matrix } from '../../preload/contract/compare.ts';
import type { StoredResult } from '../store/evaluations.ts';
import type { Store } from '../store/store.ts';
import { compare } from '../evaluation/compare.ts';
import { budgetsOf } from './budget.ts';
import { contenderOf } from './contenders.ts';
import { successOf, tabulate } from '../evaluation/evaluate.ts';
import { wilson } from '../statistics.ts';

type SideBySide = Omit<Answer<'compare.open'>, 'diff'> & { readonly diff: readonly { key: string; values: readonly unknown[] }[] };

export function sideBySide(store: Store, ids: readonly number[], baseline: number | null): SideBySide {
  const contenders = ids.map((id) => contenderOf(store, id));
  const comparison = compare(contenders, baseline ?? undefined);
  const results = new Map(contenders.map(({ run, results: own }) => [run, own]));
  const metrics = new Set(contenders.flatMap(({ ends }) => Object.keys(ends)));
  const { budgets, unequal } = budgetsOf(store, ids);
  return {
    budgets: [...budgets],
    unequal: [...unequal],
    runs: comparison.runs.map((one) => comparedRun(store, one.run, results.get(one.run) ?? [], one)),
    groups: comparison.groups.map(({ name, runs, success }) => ({ name, runs: [...runs], mean: success.mean, iqm: success.iqm })),
    groupWords: comparison.groupPairs.map(({ words }) => words),
    paired: comparison.paired.map((pair) => ({ ...pair })),
    words: [...comparison.words],
    mismatches: comparison.mismatches.map(({ what, words }) => ({ what, words })),
    diff: comparison.diff,
    matrix: matrixOf(results),
    metrics: [...metrics].sort(),
  };
}

function comparedRun(
  store: Store,
  id: number,
  results: readonly StoredResult[],
  ends: { readonly return: number | null; readonly steps: number | null },
): ComparedRun {
  const { name, variant, seed, state, updates, planned, seconds, episodes, best } = store.runs.get(id);
  const shown = store.evaluations.finalOrLatest(id);
  const all = store.evaluations.list(id);
  // Tasks of the periodic evaluations: they make the curve; the final one may be on another split.
  const own = all.filter((evaluation) => evaluation.agent === 'policy' && evaluation.kind === 'periodic');
  const start = all.find(
    ({ agent, split, temperature }) => agent === 'reference' && split === shown?.split && temperature === shown.temperature,
  );
  const failures = store.evaluations.failures(id);
  return {
    run: id,
    name,
    variant,
    seed,
    state,
    updates,
    planned,
    seconds,
    episodes,
    return: ends.return,
    steps: ends.steps,
    success: results.length > 0 ? successOf(results) : null,
    best: best && { ...wilson(best.k, best.n), update: best.update },
    reference: start ? wilson(start.success.k, start.success.n) : null,
    evaluated: shown ? { update: shown.update, split: shown.split, kind: shown.kind } : null,
    categories: { ...tabulate(results).categories },
    evaluations: own.map(({ update, success }) => ({
      update,
      success: wilson(success.k, success.n),
      failures: Object.fromEntries(
        failures
          .filter((entry) => entry.update === update && entry.kind === 'periodic')
          .map(({ failure, count, n }) => [failure, n === 0 ? 0 : count / n]),
      ),
    })),
  };
}

/** Who solved what: a row for every task that any of the runs played. */
function matrixOf(results: ReadonlyMap<number, readonly StoredResult[]>): Matrix {
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
