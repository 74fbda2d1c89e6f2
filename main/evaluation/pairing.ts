// Two sides on the same tasks: arms seed by seed, or single runs. Tasks about one product or of one template succeed and fail
// together, so they enter as one cluster (evaluation/inference.ts says how sure a difference is).

import { type Estimate, mean } from '../base/statistics.ts';
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

/** Whether all lists have the same tasks with the same seeds in the same order, as evaluations of one study do. */
export function samePlays(lists: readonly (readonly EvaluationResult[])[]): boolean {
  const [first = []] = lists;
  return lists.every(
    (list) =>
      list.length === first.length && list.every(({ task, seed }, place) => task === first[place]?.task && seed === first[place].seed),
  );
}

/** Differences on the tasks that both sides share, seed by seed; undefined when they share none. */
export function pairedDifferences(
  a: ResultsBySeed,
  b: ResultsBySeed,
  valueOf: (result: EvaluationResult) => number,
): PairedTable | undefined {
  const seeds = [...a.keys()].filter((seed) => b.has(seed));
  const lists = seeds.flatMap((seed) => [a.get(seed) ?? [], b.get(seed) ?? []]);
  const { played, rows } = sharedPlays(lists, valueOf);
  if (played.length === 0) return undefined;
  const both = seeds.map((_, place) => ({ mine: rows[2 * place] ?? [], theirs: rows[2 * place + 1] ?? [] }));
  return {
    seeds,
    clusters: played.map(({ cluster }) => cluster),
    rows: both.map(({ mine, theirs }) => mine.map((value, task) => value - (theirs[task] ?? 0))),
    a: mean(both.flatMap(({ mine }) => mine)),
    b: mean(both.flatMap(({ theirs }) => theirs)),
  };
}

/** The plays of the first list that all lists have, and for each list the values of those. */
export function sharedPlays(
  lists: readonly (readonly ClusteredResult[])[],
  valueOf: (result: EvaluationResult) => number,
): { readonly played: readonly ClusteredResult[]; readonly rows: readonly (readonly number[])[] } {
  const [first = []] = lists;
  // Nothing to look up, unless a play was listed twice: then its last value counts.
  if (samePlays(lists) && new Set(first.map(keyOf)).size === first.length) {
    return { played: first, rows: lists.map((list) => list.map(valueOf)) };
  }
  const values = lists.map((list) => new Map(list.map((result) => [keyOf(result), valueOf(result)])));
  const played = first.filter((result) => values.every((side) => side.has(keyOf(result))));
  return { played, rows: values.map((side) => played.map((result) => side.get(keyOf(result)) ?? 0)) };
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
