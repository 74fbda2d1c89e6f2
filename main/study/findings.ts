// What the runs of a study say: every arm's test success over its seeds, and every claim's tests with their verdicts.
// Reads the store only; the same runs always give the same numbers.

import { aggregate } from '../statistics.ts';
import { successOf } from '../evaluation/evaluate.ts';
import { budgetOf, meanBudget } from '../report/budget.ts';
import type { RunSummary } from '../store/runs.ts';
import type { Store } from '../store/store.ts';
import type { StoredResult } from '../store/evaluations.ts';
import { BASELINES, type Claim, measureWords, type Test } from './definition.ts';
import type { ClaimRecord, StudyRecord, TestRecord } from './record.ts';
import { judge, LEAST_SEEDS, pairArms, type Paired, type ResultsBySeed, together } from './verdict.ts';
import { points, pValue } from '../format.ts';
import type { Verdict } from '../vocabulary.ts';

type ArmRecord = StudyRecord['arms'][number];

/** The final test results of a run; empty when it has none. */
export function finalResults(store: Store, run: number): readonly StoredResult[] {
  const final = store.evaluations.list(run).findLast(({ kind, agent }) => kind === 'final' && agent === 'policy');
  return final ? store.evaluations.results(final.id) : [];
}

export function armRecord(store: Store, id: string, title: string, runs: readonly RunSummary[]): ArmRecord {
  const rows = runs.map(({ id: run, uid, seed }) => {
    const results = finalResults(store, run);
    return { uid, seed, success: results.length > 0 ? successOf(results).rate : null };
  });
  const rates = rows.flatMap(({ success }) => success ?? []);
  const { mean, iqm } = rates.length > 0 ? aggregate([rates]) : { mean: null, iqm: null };
  const budget = meanBudget(runs.flatMap(({ id: run }) => budgetOf(store, store.runs.get(run)) ?? []));
  return { id, title, runs: rows, mean, iqm, budget };
}

/** The results of every arm by seed, and of every baseline under all seeds. */
export function resultsOf(store: Store, record: Pick<StudyRecord, 'arms' | 'baselines' | 'seeds'>): Map<string, ResultsBySeed> {
  const sides = new Map<string, ResultsBySeed>();
  for (const { id, runs } of record.arms) {
    const bySeed = runs.flatMap(({ uid, seed }) => {
      const run = store.runs.findByUid(uid);
      const results = run ? finalResults(store, run.id) : [];
      return results.length > 0 ? [[seed, results] as const] : [];
    });
    sides.set(id, new Map(bySeed));
  }
  const holder = record.baselines === null ? undefined : store.runs.findByUid(record.baselines);
  const evaluations = holder ? store.evaluations.list(holder.id) : [];
  for (const name of BASELINES) {
    const own = evaluations.findLast(({ agent, split }) => agent === name && split === 'test');
    const results = own ? store.evaluations.results(own.id) : [];
    sides.set(name, new Map(results.length > 0 ? record.seeds.map((seed) => [seed, results]) : []));
  }
  return sides;
}

export function decide(claims: readonly Claim[], sides: ReadonlyMap<string, ResultsBySeed>, titles: (id: string) => string): ClaimRecord[] {
  return claims.map(({ id, claim, source, experiment, discussion, tests }) => {
    const decided = tests.map((test) => decideTest(test, sides, titles));
    return { id, claim, source, experiment, discussion, verdict: together(decided.map(({ verdict }) => verdict)), tests: decided };
  });
}

function decideTest(test: Test, sides: ReadonlyMap<string, ResultsBySeed>, titles: (id: string) => string): TestRecord {
  const paired = pairArms(sides.get(test.a) ?? new Map(), sides.get(test.b) ?? new Map(), test.measure) ?? null;
  const verdict = paired ? judge(paired, test.expect) : 'undecided';
  return { ...test, verdict, paired, words: wordsOf(test, paired, verdict, titles) };
}

function wordsOf(test: Test, paired: Paired | null, verdict: Verdict, titles: (id: string) => string): string {
  const what = `${titles(test.a)} against ${titles(test.b)}, ${measureWords(test.measure)}`;
  if (!paired) return `${what}: no finished runs to compare yet.`;
  const { value, low, high, a, b, seeds, tasks, onlyA, onlyB, p, bySeed } = paired;
  const sign = value > 0 ? '+' : '';
  const agree = bySeed.filter((difference) => (test.expect === 'higher' ? difference > 0 : difference < 0)).length;
  const chance = pValue(p);
  const open = remark(paired, verdict);
  return (
    `${what}: ${points(a)}% against ${points(b)}%, difference ${sign}${points(value)} points (95% interval ${points(low)} to ${points(high)}; ` +
    `${tasks} tasks × ${seeds.length} seeds, only the first ${onlyA}, only the second ${onlyB}, McNemar p = ${chance}; ` +
    `${agree} of ${seeds.length} seeds in the claimed direction).${open}`
  );
}

/** What the reader should keep in mind about the size of the experiment. */
function remark({ seeds, detectable }: Paired, verdict: Verdict): string {
  if (seeds.length < LEAST_SEEDS) return ' One seed decides nothing.';
  if (verdict === 'undecided') return ` Minimum detectable difference: ${points(detectable)} points.`;
  return seeds.length === LEAST_SEEDS ? ' Only two seeds: how far seeds differ is hardly known.' : '';
}
