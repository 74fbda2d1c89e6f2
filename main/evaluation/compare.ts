// Runs side by side: where their curves end, final success with intervals, the same tasks paired one by one, groups of seeds,
// and only the settings that differ. Every number also comes as a sentence, because that is what people take away.

import { type Mismatch, mismatches } from './comparable.ts';
import { diffConfigs, type Difference } from '../config/overrides.ts';
import { type Arm, type ArmPair, compareArms } from './arms.ts';
import { byConfiguration } from '../base/arms.ts';
import { points, pValue, signedPoints } from '../base/format.ts';
import { ALPHA, clusteredDifference } from './inference.ts';
import type { ClusteredResult } from './clusters.ts';
import type { EvaluationResult } from './evaluation-report.ts';
import { successOf } from './evaluate.ts';
import { type Aggregate, type Estimate, type Interval, type Proportion, aggregate, improvementEstimate, mean } from '../base/statistics.ts';

/** What a comparison needs to know of a run. */
export interface Contender {
  readonly run: number;
  readonly name: string;
  readonly variant: string;
  readonly seed: number;
  /** Equal for runs that differ in their seed only. */
  readonly group: string;
  readonly updates: number;
  readonly config: unknown;
  /** Last value of each metric with its update. */
  readonly ends: Readonly<Record<string, readonly [number, number]>>;
  /** The evaluation that counts, task by task; empty when there is none yet. */
  readonly results: readonly ClusteredResult[];
  /** World and split of the evaluation; only equal places can be paired. */
  readonly place: string;
  /** The world with all its settings. */
  readonly worldHash: string;
  /** How it was made; null when there is none yet. */
  readonly evaluated: { readonly split: string; readonly temperature: number } | null;
}

export interface ComparedRun {
  readonly run: number;
  readonly name: string;
  readonly variant: string;
  readonly seed: number;
  readonly updates: number;
  readonly success: Proportion | null;
  readonly return: number | null;
  readonly steps: number | null;
  readonly ends: Contender['ends'];
}

export interface Pair extends Interval {
  readonly a: number;
  readonly b: number;
  /** Shared tasks, and the clusters that they form: tasks of one product or template count as one. */
  readonly n: number;
  readonly clusters: number;
  /** Rate of A minus rate of B. */
  readonly difference: number;
  readonly both: number;
  readonly onlyA: number;
  readonly onlyB: number;
  readonly neither: number;
  /** Exact, two-sided, over clusters; McNemar's where every task is a cluster of its own. */
  readonly p: number;
  /** Tasks that each of them played; `n` of them are shared, and only those count here. */
  readonly ofA: number;
  readonly ofB: number;
  /** Chance that A does better than B on a task both played, ties counting half. */
  readonly improvement: number;
  /** Return of A minus return of B, mean over the shared tasks with its interval over clusters. */
  readonly returns: Estimate;
  readonly words: string;
}

export interface SeedGroup {
  readonly name: string;
  readonly runs: readonly number[];
  readonly success: Aggregate;
}

export interface GroupPair {
  readonly a: string;
  readonly b: string;
  readonly improvement: Estimate;
  /** Paired over the seeds and tasks that both have; null when they have none in common. */
  readonly paired: ArmPair | null;
  readonly words: string;
}

export interface Comparison {
  readonly runs: readonly ComparedRun[];
  readonly groups: readonly SeedGroup[];
  readonly groupPairs: readonly GroupPair[];
  readonly paired: readonly Pair[];
  readonly diff: readonly Difference[];
  /** What keeps the runs from being compared with each other. */
  readonly mismatches: readonly Mismatch[];
  readonly words: readonly string[];
}

/** Every pair, or with `baseline` only the pairs of that run with each other one: what twenty runs can be read by. */
export function compare(contenders: readonly Contender[], baseline?: number): Comparison {
  const runs = contenders.map(comparedRun);
  const groups = seedGroups(contenders);
  // One seed says nothing about the spread between seeds: those runs are compared task by task only.
  const base = contenders.find(({ run }) => run === baseline);
  const several = groups.filter((group) => group.runs.length > 1);
  const groupPairs = pairedGroups(several, base).map(([a, b]) => groupPair(a, b, contenders));
  const { paired, words } = pairRuns(wantedPairs(contenders, base));
  return {
    runs,
    groups,
    groupPairs,
    paired,
    mismatches: mismatches(contenders),
    diff: diffConfigs(contenders.map((contender) => contender.config)).filter(({ key }) => key !== 'name'),
    words: [...groupPairs.map((one) => one.words), ...words],
  };
}

/** Every pair, or those with the baseline. */
function wantedPairs(contenders: readonly Contender[], base: Contender | undefined): [Contender, Contender][] {
  if (!base) return pairsOf(contenders);
  return contenders.flatMap((other): [Contender, Contender][] => (other === base ? [] : [[other, base]]));
}

/** Single runs, two and two, task by task. */
export function pairRuns(pairs: readonly (readonly [Contender, Contender])[]): Pick<Comparison, 'paired' | 'words'> {
  const paired = pairs.flatMap(([a, b]) => pair(a, b) ?? []);
  const unpaired = pairs.length - paired.length;
  const missing = `${unpaired} of the pairs played no task in common and cannot be compared task by task.`;
  return { paired, words: [...paired.map((one) => one.words), ...(unpaired > 0 ? [missing] : [])] };
}

function comparedRun(contender: Contender): ComparedRun {
  const { run, name, variant, seed, updates, ends, results } = contender;
  const known = results.length > 0;
  return {
    run,
    name,
    variant,
    seed,
    updates,
    success: known ? successOf(results) : null,
    return: known ? mean(results.map((result) => result.return)) : null,
    steps: known ? mean(results.map((result) => result.steps)) : null,
    ends,
  };
}

/** Every pair of a few groups; of many only those with the baseline's group, or the page would be a wall of sentences. */
function pairedGroups(groups: readonly SeedGroup[], base: Contender | undefined): [SeedGroup, SeedGroup][] {
  if (!base || groups.length <= 6) return pairsOf(groups);
  const own = groups.find(({ runs }) => runs.includes(base.run));
  return own ? groups.filter((group) => group !== own).map((group) => [group, own]) : [];
}

function pairsOf<T>(items: readonly T[]): [T, T][] {
  return items.flatMap((a, i) => items.slice(i + 1).map((b): [T, T] => [a, b]));
}

/** Both on the tasks they share, in the same world (where its settings differ, that is said) with the same episode seeds. */
function pair(a: Contender, b: Contender): Pair | undefined {
  if (a.place !== b.place) return undefined;
  const key = (result: EvaluationResult) => `${result.task}\n${result.seed}`;
  const other = new Map(b.results.map((result) => [key(result), result]));
  const shared = a.results.flatMap((mine) => {
    const theirs = other.get(key(mine));
    return theirs ? [{ mine, theirs }] : [];
  });
  if (shared.length === 0) return undefined;
  const count = (mine: boolean, theirs: boolean): number =>
    shared.filter((both) => both.mine.success === mine && both.theirs.success === theirs).length;
  const clusters = shared.map(({ mine }) => mine.cluster);
  const won = clusteredDifference(
    shared.map(({ mine, theirs }) => Number(mine.success) - Number(theirs.success)),
    clusters,
  );
  const returns = clusteredDifference(
    shared.map(({ mine, theirs }) => mine.return - theirs.return),
    clusters,
  );
  const outcome = {
    n: shared.length,
    clusters: won.clusters,
    difference: won.value,
    low: Math.max(-1, won.low),
    high: Math.min(1, won.high),
    both: count(true, true),
    onlyA: count(true, false),
    onlyB: count(false, true),
    neither: count(false, false),
    p: won.p,
  };
  return {
    a: a.run,
    b: b.run,
    ofA: a.results.length,
    ofB: b.results.length,
    ...outcome,
    improvement: (outcome.onlyA + 0.5 * (outcome.both + outcome.neither)) / outcome.n,
    returns: { value: returns.value, low: returns.low, high: returns.high },
    words: pairWords(a, b, outcome),
  };
}

type Outcome = Pick<Pair, 'n' | 'clusters' | 'difference' | 'low' | 'high' | 'p' | 'onlyA' | 'onlyB'>;

function pairWords(a: Contender, b: Contender, outcome: Outcome): string {
  const { difference, low, high, p, n, clusters, onlyA, onlyB } = outcome;
  const [ofA, ofB] = [a.results.length, b.results.length];
  const grouped = clusters < n ? ` in ${clusters} ${clusters === 1 ? 'cluster' : 'clusters'}` : '';
  const tasks = n === 1 ? 'task' : 'tasks';
  const shared =
    n === ofA && n === ofB ? `${n} shared ${tasks}${grouped}` : `the ${n} ${tasks}${grouped} that both played (of ${ofA} and ${ofB})`;
  const counts = `${onlyA} ${onlyA === 1 ? 'task' : 'tasks'} only by run ${a.run}, ${onlyB} only by run ${b.run}`;
  const range = `95% interval ${signedPoints(low)} to ${signedPoints(high)}, p = ${pValue(p)}`;
  if (difference === 0) return `Runs ${a.run} and ${b.run} solve equally many of ${shared} (${counts}; ${range}).`;
  const [better, worse] = difference > 0 ? [a, b] : [b, a];
  const doubt = p <= ALPHA ? '' : ' Not clear: this may be chance.';
  const sure = `${doubt}${a.worldHash === b.worldHash ? '' : ' Their worlds have different settings.'}`;
  return `Run ${better.run} (${better.name}) solves ${points(Math.abs(difference))} points more of ${shared} than run ${worse.run} (${worse.name}): ${counts}; difference ${a.run} − ${b.run}: ${range}.${sure}`;
}

/** Runs that differ in their seed only, where they were evaluated. */
function seedGroups(contenders: readonly Contender[]): SeedGroup[] {
  return byConfiguration(contenders.filter(({ results }) => results.length > 0)).map((members) => ({
    name: `${members[0]!.variant} (${members.map((member) => member.run).join(', ')})`,
    runs: members.map((member) => member.run),
    success: aggregate(scoresByCategory(members)),
  }));
}

/** Success rate of each run in each category: strata keep an easy category from hiding a hard one. */
function scoresByCategory(members: readonly Contender[]): number[][] {
  const categories = [...new Set(members.flatMap((member) => member.results.map((result) => result.category)))].sort();
  return categories.map((category) =>
    members.flatMap((member) => {
      const own = member.results.filter((result) => result.category === category);
      return own.length === 0 ? [] : [successOf(own).rate];
    }),
  );
}

function groupPair(a: SeedGroup, b: SeedGroup, contenders: readonly Contender[]): GroupPair {
  const membersOf = ({ runs }: SeedGroup) => contenders.filter(({ run }) => runs.includes(run));
  const arm = (group: SeedGroup): Arm => ({ key: group.name, members: membersOf(group) });
  const rates = (group: SeedGroup) => membersOf(group).map(({ results }) => successOf(results).rate);
  const improvement = improvementEstimate(rates(a), rates(b));
  const [paired = null] = compareArms([arm(a), arm(b)], b.name);
  const means = `${points(a.success.mean.value)}% against ${points(b.success.mean.value)}%`;
  const apart = mismatches([...membersOf(a), ...membersOf(b)]).map(({ what }) => what);
  const caution = apart.length > 0 ? ` They are not directly comparable (${apart.join(', ')}).` : '';
  const words = paired?.words ?? `${a.name} and ${b.name} played no task in common: ${means} on average over categories.`;
  return { a: a.name, b: b.name, improvement, paired, words: `${words}${caution}` };
}
