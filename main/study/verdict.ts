// When a claim is supported. Two arms are compared on the same test tasks with the same seeds (evaluation/inference.ts says how sure the
// mean difference is). A test is supported when the difference is clear and on the claimed side, refuted when it is clear and on the
// other, equivalent when a margin was stated beforehand and a difference that large is ruled out, and inconclusive else. Every test
// is judged twice: by itself, and corrected for the number of tests in the study (Holm).

import { holm, mcnemar } from '../base/statistics.ts';
import type { Verdict } from '../base/vocabulary.ts';
import type { EvaluationResult } from '../evaluation/evaluation-report.ts';
import type { Measure, Test } from './definition.ts';
import { ALPHA, componentsOf, detectableDifference, type Difference, equivalenceP, notHigherP, outsideP } from '../evaluation/inference.ts';
import { type PairedArms, pairedArms, pairedDifferences, type ResultsBySeed } from '../evaluation/pairing.ts';

export function valueOf(result: EvaluationResult, measure: Measure): number {
  if (measure === 'success') return result.success ? 1 : 0;
  return result.failure === measure ? 1 : 0;
}

/** Differences of a measure on the tasks that both sides share, seed by seed; undefined when they share none. */
export const differencesOf = (a: ResultsBySeed, b: ResultsBySeed, measure: Measure): ReturnType<typeof pairedDifferences> =>
  pairedDifferences(a, b, (result) => valueOf(result, measure));

export interface Paired extends PairedArms {
  /** McNemar's exact p over all pairs; it knows nothing of seeds and clusters, so it is too small when they differ much. */
  readonly p: number;
  /** The smallest true difference that a study of this size would call decided four times out of five. */
  readonly detectable: number;
}

export function pairArms(a: ResultsBySeed, b: ResultsBySeed, measure: Measure): (Paired & { readonly difference: Difference }) | undefined {
  const table = differencesOf(a, b, measure);
  if (!table) return undefined;
  const { difference, ...paired } = pairedArms(table);
  const { onlyA, onlyB, tasks } = paired;
  const components = componentsOf(table);
  const size = { seeds: table.seeds.length, tasks, clusterSize: tasks / difference.clusters };
  const detectable = onlyA + onlyB === 0 ? difference.high : components ? detectableDifference(components, size) : 1;
  return { ...paired, difference, p: mcnemar(onlyA, onlyB), detectable };
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
  if (expect === 'not-higher') {
    const beyond = margin ?? 0;
    return { different: difference.value > beyond ? outsideP(difference, beyond) : 1, equivalent: notHigherP(difference, beyond) };
  }
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
  if (expect === 'equivalent' || expect === 'not-higher')
    return equivalent <= ALPHA ? 'supported' : different <= ALPHA ? 'refuted' : 'inconclusive';
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
