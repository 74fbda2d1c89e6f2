// When a claim is supported. Two arms are compared on the same test tasks with the same seeds (study/inference.ts says how sure the
// mean difference is). A test is supported when the difference is clear and on the claimed side, refuted when it is clear and on the
// other, equivalent when a margin was stated beforehand and a difference that large is ruled out, and inconclusive else. Every test
// is judged twice: by itself, and corrected for the number of tests in the study (Holm).

import { type Estimate, holm, mcnemar, mean } from '../statistics.ts';
import type { Verdict } from '../vocabulary.ts';
import type { EvaluationResult } from '../evaluation/evaluation-report.ts';
import type { ClusteredResult } from './clusters.ts';
import type { Measure, Test } from './definition.ts';
import {
  ALPHA,
  componentsOf,
  detectableDifference,
  type Difference,
  type DifferenceTable,
  equivalenceP,
  meanDifference,
  outsideP,
} from './inference.ts';

/** The final results of an arm: one list per seed. A baseline has the same list under every seed. */
export type ResultsBySeed = ReadonlyMap<number, readonly ClusteredResult[]>;

export interface Paired extends Estimate {
  readonly seeds: readonly number[];
  /** Tasks that both sides played under every one of these seeds. */
  readonly tasks: number;
  /** Groups of tasks that are about the same thing, and so count as one. */
  readonly clusters: number;
  /** Mean of a and of b over those pairs. */
  readonly a: number;
  readonly b: number;
  /** Pairs in which only a, or only b, has the outcome. */
  readonly onlyA: number;
  readonly onlyB: number;
  /** McNemar's exact p over all pairs; it knows nothing of seeds and clusters, so it is too small when they differ much. */
  readonly p: number;
  /** Standard error of the difference over seeds and clusters, and the freedom it is judged with. */
  readonly error: number;
  readonly freedom: number;
  /** Difference of each seed. */
  readonly bySeed: readonly number[];
  /** The smallest true difference that a study of this size would call decided four times out of five. */
  readonly detectable: number;
}

export function valueOf(result: EvaluationResult, measure: Measure): number {
  if (measure === 'success') return result.success ? 1 : 0;
  return result.failure === measure ? 1 : 0;
}

/** Differences on the tasks that both sides share, seed by seed; undefined when they share none. */
export function differencesOf(a: ResultsBySeed, b: ResultsBySeed, measure: Measure): (DifferenceTable & Sides) | undefined {
  const seeds = [...a.keys()].filter((seed) => b.has(seed));
  const key = ({ task, seed }: EvaluationResult): string => `${task}\n${seed}`;
  const values = (results: readonly EvaluationResult[]): Map<string, number> =>
    new Map(results.map((result) => [key(result), valueOf(result, measure)]));
  const sides = seeds.map((seed) => ({ a: values(a.get(seed) ?? []), b: values(b.get(seed) ?? []) }));
  const [first = -1] = seeds;
  const played = (a.get(first) ?? []).filter((result) => sides.every((side) => side.a.has(key(result)) && side.b.has(key(result))));
  if (played.length === 0) return undefined;
  const tasks = played.map(key);
  const of = (side: ReadonlyMap<string, number>): number[] => tasks.map((task) => side.get(task) ?? 0);
  return {
    seeds,
    clusters: played.map(({ cluster }) => cluster),
    rows: sides.map((side) => {
      const [mine, theirs] = [of(side.a), of(side.b)];
      return mine.map((value, task) => value - (theirs[task] ?? 0));
    }),
    a: mean(sides.flatMap((side) => of(side.a))),
    b: mean(sides.flatMap((side) => of(side.b))),
  };
}

interface Sides {
  readonly seeds: readonly number[];
  /** Mean of a and of b over all pairs. */
  readonly a: number;
  readonly b: number;
}

export function pairArms(a: ResultsBySeed, b: ResultsBySeed, measure: Measure): (Paired & { readonly difference: Difference }) | undefined {
  const table = differencesOf(a, b, measure);
  if (!table) return undefined;
  const difference = meanDifference(table);
  const all = table.rows.flat();
  const onlyA = all.filter((one) => one > 0).length;
  const onlyB = all.filter((one) => one < 0).length;
  const tasks = table.clusters.length;
  const components = componentsOf(table);
  const size = { seeds: table.seeds.length, tasks, clusterSize: tasks / difference.clusters };
  const detectable = onlyA + onlyB === 0 ? difference.high : components ? detectableDifference(components, size) : 1;
  const { value, low, high, error, freedom, clusters } = difference;
  return {
    difference,
    seeds: table.seeds,
    tasks,
    clusters,
    value,
    low,
    high,
    error: Number.isFinite(error) ? error : 1,
    freedom,
    a: table.a,
    b: table.b,
    onlyA,
    onlyB,
    p: mcnemar(onlyA, onlyB),
    bySeed: table.rows.map((row) => mean(row)),
    detectable,
  };
}

/** One seed says nothing of their spread, and two next to nothing. */
export const LEAST_SEEDS = 2;

/** The two questions asked of a test: is there a difference (beyond the margin, where none is claimed), and is it ruled out? */
export interface Chances {
  readonly different: number;
  readonly equivalent: number;
}

export function chancesOf(difference: Difference | undefined, { expect }: Pick<Test, 'expect'>, margin: number | null): Chances {
  if (!difference) return { different: 1, equivalent: 1 };
  const different = expect === 'equivalent' ? outsideP(difference, margin ?? 0) : difference.p;
  return { different, equivalent: margin === null ? 1 : equivalenceP(difference, margin) };
}

/** Holm's correction over all tests of a study, for each of the two questions. */
export function correctedChances(all: readonly Chances[]): Chances[] {
  const different = holm(all.map((one) => one.different));
  const equivalent = holm(all.map((one) => one.equivalent));
  return all.map((_, index) => ({ different: different[index] ?? 1, equivalent: equivalent[index] ?? 1 }));
}

export function judge(value: number, expect: Test['expect'], { different, equivalent }: Chances): Verdict {
  if (expect === 'equivalent') return equivalent <= ALPHA ? 'supported' : different <= ALPHA ? 'refuted' : 'inconclusive';
  if (different <= ALPHA) return value > 0 === (expect === 'higher') ? 'supported' : 'refuted';
  return equivalent <= ALPHA ? 'equivalent' : 'inconclusive';
}

/** A claim needs all of its tests and falls with one of them; without the difference it names it is equivalent. */
export function together(verdicts: readonly Verdict[]): Verdict {
  if (verdicts.includes('refuted')) return 'refuted';
  if (verdicts.length === 0 || verdicts.includes('inconclusive')) return 'inconclusive';
  return verdicts.includes('equivalent') ? 'equivalent' : 'supported';
}

/** The rule in words, for the report and the window. */
export const RULE =
  'Both sides play the same test tasks with the same seeds. The difference is the mean over all pairs (task, seed); its 95% interval takes seeds and clusters of tasks (tasks about the same thing, such as a product) as the sample, with Student’s t of as many degrees of freedom as there are seeds less one. A test is **supported** when the difference is clear (p ≤ 0.05) and on the claimed side, **refuted** when it is clear and on the other side, **equivalent** when a difference of the margin stated beforehand is ruled out (two one-sided tests), and **inconclusive** otherwise; then the smallest difference is given that a study of this size would find four times out of five. A claim is supported when all of its tests are, and refuted as soon as one is. Each verdict is given twice: by itself, and corrected for the number of tests in the study (Holm), so that with 95% confidence none of the corrected ones is wrong by chance. docs/STATISTICS.md has the check by simulation.';
