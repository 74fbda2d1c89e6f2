// What the runs of a study say: every arm's test success over its seeds, and every claim's tests with their verdicts.
// Reads the store only; the same runs always give the same numbers.

import type { Worlds } from '../environment/registry.ts';
import { aggregate } from '../base/statistics.ts';
import { successOf } from '../evaluation/evaluate.ts';
import { budgetOf, meanBudget } from '../report/budget.ts';
import type { RunSummary } from '../store/runs.ts';
import type { Store } from '../store/store.ts';
import type { StoredResult } from '../store/evaluations.ts';
import { BASELINES, type Claim, measureWords, type Test } from './definition.ts';
import type { ResultsBySeed } from '../evaluation/pairing.ts';
import type { ClaimRecord, StudyRecord, TestRecord } from './record.ts';
import { TaskClusters } from '../evaluation/clusters.ts';
import { ALPHA } from '../evaluation/inference.ts';
import { type Chances, chancesOf, correctedChances, judge, LEAST_SEEDS, pairArms, type Paired, together } from './verdict.ts';
import { points, pValue, signedPoints } from '../base/format.ts';
import type { Verdict } from '../base/vocabulary.ts';

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
  const budget = meanBudget(runs.map(({ id: run }) => budgetOf(store, store.runs.get(run))));
  return { id, title, runs: rows, mean, iqm, budget };
}

type Sides = Pick<StudyRecord, 'arms' | 'baselines' | 'seeds'>;

/** The results of every arm by seed, and of every baseline under all seeds. */
export function resultsOf(store: Store, record: Sides): Map<string, ResultsBySeed> {
  const sides = new Map<string, ResultsBySeed>();
  const clusters = new TaskClusters(store.catalog);
  const marked = (run: number, results: readonly StoredResult[]) => clusters.mark(store.runs.get(run).config, results);
  for (const { id, runs } of record.arms) {
    const bySeed = runs.flatMap(({ uid, seed }) => {
      const run = store.runs.findByUid(uid);
      const results = run ? marked(run.id, finalResults(store, run.id)) : [];
      return results.length > 0 ? [[seed, results] as const] : [];
    });
    sides.set(id, new Map(bySeed));
  }
  const holder = record.baselines === null ? undefined : store.runs.findByUid(record.baselines);
  const evaluations = holder ? store.evaluations.list(holder.id) : [];
  for (const name of BASELINES) {
    const own = evaluations.findLast(({ agent, split }) => agent === name && split === 'test');
    const results = holder && own ? marked(holder.id, store.evaluations.results(own.id)) : [];
    sides.set(name, new Map(results.length > 0 ? record.seeds.map((seed) => [seed, results]) : []));
  }
  return sides;
}

interface Claimed {
  readonly claims: readonly Claim[];
  readonly margin?: number | undefined | null;
}

/** Every claim with the verdicts of its tests, each by itself and corrected for all tests of the study. */
export function decide(
  catalog: Worlds,
  { claims, margin = null }: Claimed,
  sides: ReadonlyMap<string, ResultsBySeed>,
  titles: (id: string) => string,
): ClaimRecord[] {
  const asked: (Asked & { readonly claim: Claim })[] = [];
  for (const claim of claims) {
    for (const test of claim.tests) {
      const paired = pairArms(sides.get(test.a) ?? new Map(), sides.get(test.b) ?? new Map(), test.measure);
      const own = test.margin ?? margin;
      asked.push({ claim, test, paired, margin: own, chances: chancesOf(paired?.difference, test, own) });
    }
  }
  const corrected = correctedChances(asked.map(({ chances }) => chances));
  const tests = asked.map(({ claim, ...one }, index) => ({
    claim,
    record: testRecord(one, corrected[index] ?? one.chances, compared(catalog, titles, one.test)),
  }));
  return claims.map((claim) => {
    const { id, claim: sentence, source, experiment, discussion } = claim;
    const own = tests.flatMap(({ claim: of, record }) => (of === claim ? [record] : []));
    return {
      id,
      claim: sentence,
      source,
      experiment,
      discussion,
      verdict: together(own.map(({ verdict }) => verdict)),
      corrected: together(own.map((test) => test.corrected ?? test.verdict)),
      tests: own,
    };
  });
}

/**
 * The record with its claims corrected for their number, where they were decided without.
 * The same record when there is nothing to do, or when none of its runs is here to decide by.
 */
export function redecide(store: Store, record: StudyRecord): StudyRecord {
  if (record.claims.every(({ corrected }) => corrected !== null)) return record;
  const sides = resultsOf(store, record);
  if ([...sides.values()].every(({ size }) => size === 0)) return record;
  const titles = (id: string): string => record.arms.find((arm) => arm.id === id)?.title ?? id;
  return { ...record, claims: decide(store.catalog, { claims: record.claims.map(asClaim) }, sides, titles) };
}

function asClaim({ id, claim, source, experiment, discussion, tests }: ClaimRecord): Claim {
  const asked = tests.map(({ a, b, measure, expect, margin }) => ({ a, b, measure, expect, ...(margin !== null && { margin }) }));
  return { id, claim, source, experiment, discussion, tests: asked };
}

interface Asked {
  readonly test: Test;
  readonly paired: ReturnType<typeof pairArms>;
  readonly margin: number | null;
  readonly chances: Chances;
}

/** What a test compares, in words. */
const compared = (catalog: Worlds, titles: (id: string) => string, { a, b, measure }: Test): string =>
  `${titles(a)} against ${titles(b)}, ${measureWords(catalog, measure)}`;

function testRecord({ test, paired, margin, chances }: Asked, holm: Chances, what: string): TestRecord {
  const { difference: _difference, ...shown } = paired ?? { difference: null };
  const verdict = paired ? judge(paired.value, test.expect, chances) : 'inconclusive';
  const corrected = paired ? judge(paired.value, test.expect, holm) : 'inconclusive';
  const { a, b, measure, expect } = test;
  return {
    a,
    b,
    measure,
    expect,
    margin,
    verdict,
    corrected,
    chances: { ...chances, differentHolm: holm.different, equivalentHolm: holm.equivalent },
    paired: paired && 'seeds' in shown ? shown : null,
    words: wordsOf(test, paired ?? null, { verdict, chances, holm, margin }, what),
  };
}

interface Judged {
  readonly verdict: Verdict;
  readonly chances: Chances;
  readonly holm: Chances;
  readonly margin: number | null;
}

function wordsOf(test: Test, paired: Paired | null, judged: Judged, what: string): string {
  if (!paired) return `${what}: no finished runs to compare yet.`;
  const { value, low, high, a, b, seeds, tasks, clusters, onlyA, onlyB, bySeed } = paired;
  const agree = bySeed.filter((difference) => (test.expect === 'higher' ? difference > 0 : difference < 0)).length;
  const direction =
    test.expect === 'equivalent' || test.expect === 'not-higher' ? '' : `; ${agree} of ${seeds.length} seeds in the claimed direction`;
  return (
    `${what}: ${points(a)}% against ${points(b)}%, difference ${signedPoints(value)} points (95% interval ${points(low)} to ${points(high)}; ` +
    `${tasks} tasks in ${clusters} clusters × ${seeds.length} seeds, only the first ${onlyA}, only the second ${onlyB}; ` +
    `p = ${pValue(judged.chances.different)}, ${pValue(judged.holm.different)} corrected${direction}).${remark(paired, judged, test.expect === 'not-higher')}`
  );
}

/** What the reader should keep in mind about the size of the experiment. */
function remark({ seeds, detectable }: Paired, { verdict, margin, chances, holm }: Judged, upwards: boolean): string {
  if (seeds.length < LEAST_SEEDS) return ' One seed decides nothing.';
  const ruledOut =
    margin === null || chances.equivalent > ALPHA
      ? ''
      : ` A difference of ${points(margin)} points${upwards ? ' upwards' : ''} is ruled out (p = ${pValue(chances.equivalent)}, ${pValue(holm.equivalent)} corrected).`;
  if (verdict === 'inconclusive') return ` Minimum detectable difference: ${points(detectable)} points.`;
  return `${ruledOut}${seeds.length === LEAST_SEEDS ? ' With only two seeds, the variance between seeds is poorly estimated.' : ''}`;
}
