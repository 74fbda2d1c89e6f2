// Arms side by side: runs that belong together (usually seeds of one setting) against the baseline arm, on the tasks and seeds that
// both have, with the interval over seeds and clusters of tasks and p corrected for the number of comparisons (Holm). Where an arm
// has a single run, only tasks are a sample, and that is said.

import { points, pValue, signedPoints } from '../base/format.ts';
import { type Estimate, holm, interquartileMean, type Interval, mean, wilson } from '../base/statistics.ts';
import type { ClusteredResult } from './clusters.ts';
import { ALPHA, clusteredDifference, type Difference, type DifferenceTable, meanDifference } from './inference.ts';
import { type PairedTable, pairedDifferences, type ResultsBySeed, sharedPlays, successValue } from './pairing.ts';

/** A run as part of an arm. */
export interface Member {
  readonly run: number;
  readonly seed: number;
  /** World and split it was evaluated on; tasks of different places are different tasks. */
  readonly place: string;
  /** The world with all its settings. */
  readonly worldHash: string;
  readonly results: readonly ClusteredResult[];
}

export interface Arm {
  readonly key: string;
  readonly members: readonly Member[];
}

export interface ArmSummary {
  readonly key: string;
  readonly runs: readonly number[];
  /** Runs that were evaluated. */
  readonly evaluated: number;
  readonly success: Estimate | null;
  /** Inter-quartile mean over the runs. */
  readonly iqm: number | null;
}

/** How seeds were paired: the same seeds, in their order because the arms share none, or not at all because there is only one. */
export type SeedPairing = 'same' | 'order' | 'one';

export interface ArmPair extends Interval {
  readonly key: string;
  readonly baseline: string;
  readonly a: number;
  readonly b: number;
  readonly difference: number;
  readonly p: number;
  /** Corrected for the number of comparisons with this baseline. */
  readonly holm: number;
  readonly seeds: number;
  readonly pairing: SeedPairing;
  readonly tasks: number;
  readonly clusters: number;
  readonly onlyA: number;
  readonly onlyB: number;
  /** The worlds of the two have other settings (rewards, rules), though the same tasks. */
  readonly otherSettings: boolean;
  readonly words: string;
}

/**
 * Rows of results: one per seed. A seed that occurs twice in one place is two rows; its runs in several places are one. With `several`
 * places the names of tasks hold theirs.
 */
function rowsOf({ members }: Arm, several: boolean): Map<string, readonly ClusteredResult[]> {
  const rows = new Map<string, readonly ClusteredResult[]>();
  const seen = new Map<string, number>();
  for (const { seed, place, results } of members) {
    if (results.length === 0) continue;
    const count = (seen.get(`${seed} ${place}`) ?? 0) + 1;
    seen.set(`${seed} ${place}`, count);
    const key = count === 1 ? String(seed) : `${seed}, ${count}`;
    const named = (result: ClusteredResult): ClusteredResult => ({
      ...result,
      task: `${place}\t${result.task}`,
      cluster: `${place}\t${result.cluster}`,
    });
    rows.set(key, several ? [...(rows.get(key) ?? []), ...results.map(named)] : results);
  }
  return rows;
}

const severalPlaces = (arms: readonly Arm[]): boolean => new Set(arms.flatMap(({ members }) => members.map(({ place }) => place))).size > 1;

type Rows = ReturnType<typeof rowsOf>;

export function summarise(arm: Arm): ArmSummary {
  const rows = [...rowsOf(arm, severalPlaces([arm])).values()];
  return {
    key: arm.key,
    runs: arm.members.map(({ run }) => run),
    evaluated: arm.members.filter(({ results }) => results.length > 0).length,
    success: rows.length === 0 ? null : meanSuccess(rows),
    iqm: rows.length === 0 ? null : interquartileMean(rows.map((row) => mean(row.map(successValue)))),
  };
}

/** Mean success with its 95% interval over seeds and clusters; of one run over clusters only. */
function meanSuccess(rows: readonly (readonly ClusteredResult[])[]): Estimate {
  const shared = sharedPlays(rows, successValue);
  const table: DifferenceTable = { rows: shared.rows, clusters: shared.played.map(({ cluster }) => cluster) };
  const all = rows.flat();
  const value = all.reduce((sum, result) => sum + successValue(result), 0) / all.length;
  const { low, high, error, freedom, clusters } =
    table.rows.length > 1 ? meanDifference(table) : clusteredDifference(table.rows[0] ?? [], table.clusters);
  if (freedom > 0 && error > 0 && value > 0 && value < 1) return { value, low: Math.max(0, low), high: Math.min(1, high) };
  // All alike, or nothing known of the spread: Wilson's interval, clusters counting as single tasks.
  const found = wilson(Math.round(value * clusters), clusters);
  return { value, low: Math.min(value, found.low), high: Math.max(value, found.high) };
}

/** Every other arm against the baseline; arms without a task in common with it are left out. */
export function compareArms(arms: readonly Arm[], baseline: string): ArmPair[] {
  const base = arms.find(({ key }) => key === baseline);
  if (!base) return [];
  const several = severalPlaces(arms);
  const theirs = rowsOf(base, several);
  const found = arms.flatMap((arm) => {
    const pair = arm === base ? undefined : pairOf(arm.key, rowsOf(arm, several), baseline, theirs);
    return pair ? [{ ...pair, otherSettings: worldsOf(arm) !== worldsOf(base) }] : [];
  });
  const corrected = holm(found.map(({ p }) => p));
  return found.map((pair, index) => {
    const own = { ...pair, holm: corrected[index] ?? 1 };
    return { ...own, words: wordsOf(own, found.length) };
  });
}

const worldsOf = ({ members }: Arm): string => [...new Set(members.map(({ worldHash }) => worldHash))].sort().join();

type Found = Omit<ArmPair, 'holm' | 'words' | 'otherSettings'>;

function pairOf(key: string, mine: Rows, baseline: string, theirs: Rows): Found | undefined {
  const { a, b, pairing } = aligned(mine, theirs);
  const table = pairedDifferences(a, b, successValue);
  if (!table) return undefined;
  const { value, low, high, p, clusters } = differenceOf(table);
  const all = table.rows.flat();
  return {
    key,
    baseline,
    a: table.a,
    b: table.b,
    difference: value,
    low: Math.max(-1, low),
    high: Math.min(1, high),
    p,
    seeds: table.seeds.length,
    pairing,
    tasks: table.clusters.length,
    clusters,
    onlyA: all.filter((one) => one > 0).length,
    onlyB: all.filter((one) => one < 0).length,
  };
}

/** Over seeds and clusters, or with one seed over clusters alone. */
export function differenceOf(table: DifferenceTable): Difference {
  return table.rows.length > 1 ? meanDifference(table) : clusteredDifference(table.rows[0] ?? [], table.clusters);
}

/** Both sides under the seeds they share; with fewer than two of those, their runs in order. */
function aligned(mine: Rows, theirs: Rows): { a: ResultsBySeed; b: ResultsBySeed; pairing: SeedPairing } {
  const shared = [...mine.keys()].filter((key) => theirs.has(key));
  const count = Math.min(mine.size, theirs.size);
  const same = shared.length > 1 || (shared.length === 1 && count === 1);
  const [first, second] = same ? [shared, shared] : [[...mine.keys()].slice(0, count), [...theirs.keys()].slice(0, count)];
  const numbered = (rows: Rows, keys: readonly string[]): ResultsBySeed => new Map(keys.map((key, index) => [index, rows.get(key) ?? []]));
  return { a: numbered(mine, first), b: numbered(theirs, second), pairing: first.length < 2 ? 'one' : same ? 'same' : 'order' };
}

/** The tables of differences that a planner learns the spread from. */
export function armDifferences(arms: readonly Arm[], baseline: string): PairedTable[] {
  const base = arms.find(({ key }) => key === baseline);
  if (!base) return [];
  const several = severalPlaces(arms);
  const theirs = rowsOf(base, several);
  return arms.flatMap((arm) => {
    if (arm === base) return [];
    const { a, b } = aligned(rowsOf(arm, several), theirs);
    return pairedDifferences(a, b, successValue) ?? [];
  });
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

/** What a difference rests on: 300 tasks in 98 clusters × 5 seeds. */
function restsOn({ tasks, clusters, seeds, pairing }: Pick<ArmPair, 'tasks' | 'clusters' | 'seeds' | 'pairing'>): string {
  const played = clusters < tasks ? `${counted(tasks, 'task')} in ${counted(clusters, 'cluster')}` : counted(tasks, 'task');
  return `${played} × ${counted(seeds, 'seed')}${pairing === 'order' ? ' (different seeds, paired in order)' : ''}`;
}

function wordsOf(pair: Omit<ArmPair, 'words'>, comparisons: number): string {
  const { key, baseline, a, b, difference, low, high, p, holm: corrected } = pair;
  const better = difference > 0 ? 'does better than' : 'does worse than';
  const verdict = p <= ALPHA ? better : 'is not clearly different from';
  const only = p <= ALPHA && corrected > ALPHA ? ' (before correction only)' : '';
  const ps = comparisons > 1 ? `p = ${pValue(p)}, ${pValue(corrected)} corrected for ${comparisons} comparisons` : `p = ${pValue(p)}`;
  const seeds = pair.pairing === 'one' ? ' One seed each: this says nothing of other seeds.' : '';
  const caution = `${seeds}${pair.otherSettings ? ' The worlds of the two have different settings.' : ''}`;
  return `${key} ${verdict} ${baseline}${only}: ${points(a)}% against ${points(b)}%, difference ${signedPoints(difference)} points (95% interval ${signedPoints(low)} to ${signedPoints(high)}; ${restsOn(pair)}; ${ps}).${caution}`;
}
