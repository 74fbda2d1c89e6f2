// Two sides on the same tasks: arms seed by seed, or single runs. Tasks about one product or of one template succeed and fail
// together, so they enter as one cluster (evaluation/inference.ts says how sure a difference is).

import { type Estimate, mean } from '../statistics.ts';
import type { ClusteredResult } from './clusters.ts';
import type { EvaluationResult } from './evaluation-report.ts';
import { type Difference, type DifferenceTable, meanDifference } from './inference.ts';

/** The final results of an arm: one list per seed. A baseline has the same list under every seed. */
export type ResultsBySeed = ReadonlyMap<number, readonly ClusteredResult[]>;

export const successValue = ({ success }: EvaluationResult): number => (success ? 1 : 0);

export interface PairedTable extends DifferenceTable {
  readonly seeds: readonly number[];
  /** Mean of a and of b over all pairs. */
  readonly a: number;
  readonly b: number;
}

const keyOf = ({ task, seed }: EvaluationResult): string => `${task}\n${seed}`;

/** Differences on the tasks that both sides share, seed by seed; undefined when they share none. */
export function pairedDifferences(
  a: ResultsBySeed,
  b: ResultsBySeed,
  valueOf: (result: EvaluationResult) => number,
): PairedTable | undefined {
  const seeds = [...a.keys()].filter((seed) => b.has(seed));
  const values = (results: readonly EvaluationResult[]): Map<string, number> =>
    new Map(results.map((result) => [keyOf(result), valueOf(result)]));
  const sides = seeds.map((seed) => ({ a: values(a.get(seed) ?? []), b: values(b.get(seed) ?? []) }));
  const [first = -1] = seeds;
  const played = (a.get(first) ?? [])
    .map((result) => ({ result, key: keyOf(result) }))
    .filter(({ key }) => sides.every((side) => side.a.has(key) && side.b.has(key)));
  if (played.length === 0) return undefined;
  const of = (side: ReadonlyMap<string, number>): number[] => played.map(({ key }) => side.get(key) ?? 0);
  const both = sides.map((side) => ({ mine: of(side.a), theirs: of(side.b) }));
  return {
    seeds,
    clusters: played.map(({ result }) => result.cluster),
    rows: both.map(({ mine, theirs }) => mine.map((value, task) => value - (theirs[task] ?? 0))),
    a: mean(both.flatMap(({ mine }) => mine)),
    b: mean(both.flatMap(({ theirs }) => theirs)),
  };
}

export interface PairedArms extends Estimate {
  readonly seeds: readonly number[];
  /** Tasks that both sides played under every one of these seeds. */
  readonly tasks: number;
  /** Groups of tasks that are about the same product or template, and so count as one. */
  readonly clusters: number;
  /** Mean of a and of b over those pairs. */
  readonly a: number;
  readonly b: number;
  /** Pairs in which only a, or only b, has the outcome. */
  readonly onlyA: number;
  readonly onlyB: number;
  /** Standard error of the difference over seeds and clusters, and the freedom it is judged with. */
  readonly error: number;
  readonly freedom: number;
  /** Difference of each seed. */
  readonly bySeed: readonly number[];
}

/** The mean difference over seeds and tasks, and what it rests on. */
export function pairedArms(table: PairedTable): PairedArms & { readonly difference: Difference } {
  const difference = meanDifference(table);
  const all = table.rows.flat();
  const { value, low, high, error, freedom, clusters } = difference;
  return {
    difference,
    seeds: table.seeds,
    tasks: table.clusters.length,
    clusters,
    value,
    low,
    high,
    error: Number.isFinite(error) ? error : 1,
    freedom,
    a: table.a,
    b: table.b,
    onlyA: all.filter((one) => one > 0).length,
    onlyB: all.filter((one) => one < 0).length,
    bySeed: table.rows.map((row) => mean(row)),
  };
}
