// When a claim holds. Two arms are compared on the same test tasks with the same seeds; the difference of each pair (task,
// seed) is averaged, and its interval comes from resampling seeds and tasks at once (the pigeonhole bootstrap, mildly
// conservative for crossed effects). A test holds when the whole interval lies on the claimed side of zero, fails when it
// lies on the other side, and is undecided else, or with a single seed. A claim holds when all of its tests hold and fails
// when one fails.

import { type Estimate, mcnemar, mean, quantile } from '../statistics.ts';
import { Random } from '../random.ts';
import type { Verdict } from '../vocabulary.ts';
import type { EvaluationResult } from '../evaluation/evaluation-report.ts';
import type { Measure } from './definition.ts';

/** The final results of an arm: one list per seed. A baseline has the same list under every seed. */
export type ResultsBySeed = ReadonlyMap<number, readonly EvaluationResult[]>;

export interface Paired extends Estimate {
  readonly seeds: readonly number[];
  /** Tasks that both sides played under every one of these seeds. */
  readonly tasks: number;
  /** Mean of a and of b over those pairs. */
  readonly a: number;
  readonly b: number;
  /** Pairs in which only a, or only b, has the outcome. */
  readonly onlyA: number;
  readonly onlyB: number;
  /** McNemar's exact p over all pairs; it knows nothing of seeds, so it is too small when seeds differ much. */
  readonly p: number;
  /** Difference of each seed. */
  readonly bySeed: readonly number[];
  /** The smallest true difference that a study of this size would call decided four times out of five. */
  readonly detectable: number;
}

const RESAMPLES = 2000;
/** (z of 97.5% + z of 80%) / z of 97.5%: from the half-width of an interval to the effect that 80% power needs. */
const POWER = 1.43;

export function valueOf(result: EvaluationResult, measure: Measure): number {
  if (measure === 'success') return result.success ? 1 : 0;
  return result.failure === measure ? 1 : 0;
}

/** Both sides on the tasks they share, seed by seed; undefined when they share none. */
export function pairArms(a: ResultsBySeed, b: ResultsBySeed, measure: Measure): Paired | undefined {
  const seeds = [...a.keys()].filter((seed) => b.has(seed));
  const values = (results: readonly EvaluationResult[]): Map<string, number> =>
    new Map(results.map((result) => [`${result.task}\n${result.seed}`, valueOf(result, measure)]));
  const sides = seeds.map((seed) => ({ a: values(a.get(seed) ?? []), b: values(b.get(seed) ?? []) }));
  const [first] = sides;
  const tasks = [...(first?.a.keys() ?? [])].filter((task) => sides.every((side) => side.a.has(task) && side.b.has(task)));
  if (tasks.length === 0) return undefined;
  const differences = sides.map((side) => tasks.map((task) => (side.a.get(task) ?? 0) - (side.b.get(task) ?? 0)));
  const { low, high } = pigeonhole(differences);
  const all = differences.flat();
  const onlyA = all.filter((difference) => difference > 0).length;
  const onlyB = all.filter((difference) => difference < 0).length;
  return {
    seeds,
    tasks: tasks.length,
    value: mean(all),
    low,
    high,
    a: mean(sides.flatMap((side) => tasks.map((task) => side.a.get(task) ?? 0))),
    b: mean(sides.flatMap((side) => tasks.map((task) => side.b.get(task) ?? 0))),
    onlyA,
    onlyB,
    p: mcnemar(onlyA, onlyB),
    bySeed: differences.map((row) => mean(row)),
    // Where no pair differs, resampling knows no spread: the rule of three bounds what was missed.
    detectable: onlyA + onlyB === 0 ? Math.min(1, 3 / tasks.length) : (POWER * (high - low)) / 2,
  };
}

/** 95% interval of the mean of a table (seeds × tasks) whose rows and columns are both samples. */
export function pigeonhole(table: readonly (readonly number[])[], seed = 0): { low: number; high: number } {
  const random = Random.from('pigeonhole', seed);
  const columns = table[0]?.length ?? 0;
  const means = Array.from({ length: RESAMPLES }, () => {
    const times = new Uint32Array(columns);
    for (let drawn = 0; drawn < columns; drawn++) times[random.below(columns)]! += 1;
    let sum = 0;
    for (let drawn = 0; drawn < table.length; drawn++) {
      const row = table[random.below(table.length)] ?? [];
      for (let column = 0; column < columns; column++) sum += times[column]! * row[column]!;
    }
    return sum / (table.length * columns);
  }).sort((x, y) => x - y);
  return { low: quantile(means, 0.025), high: quantile(means, 0.975) };
}

/** One seed says nothing of their spread. Two say little: the resampling then asks each of them to show the difference. */
export const LEAST_SEEDS = 2;

export function judge({ low, high, seeds }: Pick<Paired, 'low' | 'high' | 'seeds'>, expect: 'higher' | 'lower'): Verdict {
  if (seeds.length < LEAST_SEEDS) return 'undecided';
  if (low > 0) return expect === 'higher' ? 'holds' : 'fails';
  if (high < 0) return expect === 'lower' ? 'holds' : 'fails';
  return 'undecided';
}

/** A test without runs to decide it is undecided. */
export function together(verdicts: readonly Verdict[]): Verdict {
  if (verdicts.includes('fails')) return 'fails';
  return verdicts.length > 0 && verdicts.every((verdict) => verdict === 'holds') ? 'holds' : 'undecided';
}

/** The rule in words, for the report and the window. */
export const RULE =
  'Both sides play the same test tasks with the same seeds. The difference is the mean over all pairs (task, seed); its 95% interval comes from resampling seeds and tasks together (pigeonhole bootstrap, 2000 times). A test **holds** when the whole interval lies on the claimed side of zero, **fails** when it lies wholly on the other side, and is **undecided at this size** otherwise; then the smallest difference is given that a study of this size would have found four times out of five. One seed decides nothing; where there are only two, their spread is hardly known and the text says so. A claim holds when all of its tests hold, and fails as soon as one fails. There is no correction for the number of claims: of twenty claims about nothing, one would come out decided by chance.';
