// How large must a study be? From the spread that the pairs of a finished study had (or that the caller assumes) to the power of studies with more
// or fewer seeds and tasks: the same t test that decides the claims (evaluation/inference.ts), before anything is run.

import { armDifferences } from '../evaluation/arms.ts';
import { armsOf } from '../report/side-by-side.ts';
import { byConfiguration } from '../base/arms.ts';
import { median } from '../base/statistics.ts';
import type { Store } from '../store/store.ts';
import { resultsOf } from './findings.ts';
import { ALPHA, type Components, componentsOf, type DifferenceTable, powerOf, type Size } from '../evaluation/inference.ts';
import type { StudyRecord } from './record.ts';
import { differencesOf } from './verdict.ts';

/** Where nothing was measured: seeds of an arm differ by 2 points, clusters suit one arm by 10 points, and every third pair differs. */
export const ASSUMED: Components = { seed: 2 * 0.02 ** 2, cluster: 2 * 0.1 ** 2, rest: 0.33 };

/** Medians over the tests of a study; undefined when none of them has runs enough. */
export function measuredComponents(store: Store, record: StudyRecord): (Components & { readonly clusterSize: number }) | undefined {
  const sides = resultsOf(store, record);
  const tests = record.claims.flatMap((claim) => claim.tests);
  return spreadOf(tests.flatMap(({ a, b, measure }) => differencesOf(sides.get(a) ?? new Map(), sides.get(b) ?? new Map(), measure) ?? []));
}

/** Runs that a world's spread is measured on, the latest ones. */
const MOST_RUNS = 100;

/** The spread between settings that were trained in a world before, each with two seeds or more; undefined when there are no two of them. */
export function worldComponents(store: Store, world: string): ReturnType<typeof spreadOf> {
  const tested = store.runs.list().filter((run) => run.world === world && run.state === 'done' && run.test !== null);
  const latest = tested.toSorted((a, b) => b.id - a.id).slice(0, MOST_RUNS);
  const groups = byConfiguration(latest.map(({ id, groupHash: group }) => ({ id, group })))
    .map((runs) => ({ key: runs[0]?.group ?? '', runs: runs.map(({ id }) => id) }))
    .filter(({ runs }) => runs.length > 1)
    .toSorted((a, b) => b.runs.length - a.runs.length);
  const [baseline] = groups;
  return baseline && spreadOf(armDifferences(armsOf(store, groups), baseline.key));
}

/** Medians over tables of differences; undefined when none of them has two seeds. */
export function spreadOf(tables: readonly DifferenceTable[]): (Components & { readonly clusterSize: number }) | undefined {
  const found = tables.flatMap((table) => {
    const components = componentsOf(table);
    return components ? [{ ...components, clusterSize: table.clusters.length / new Set(table.clusters).size }] : [];
  });
  if (found.length === 0) return undefined;
  const of = (value: (one: (typeof found)[number]) => number): number => median(found.map(value));
  return {
    seed: of(({ seed }) => seed),
    cluster: of(({ cluster }) => cluster),
    rest: of(({ rest }) => rest),
    clusterSize: of(({ clusterSize }) => clusterSize),
  };
}

export interface PlanQuestion {
  readonly difference: number;
  readonly power: number;
  readonly clusterSize: number;
  /** Tests of the study: the first to be decided by Holm's correction needs p ≤ 0.05 ÷ tests. */
  readonly tests: number;
}

export interface Plan {
  readonly rows: readonly { readonly seeds: number; readonly tasks: number; readonly alone: number; readonly corrected: number }[];
  /** The fewest seeds that find the difference with the power asked for, by number of tasks; null when 200 are not enough. */
  readonly needed: readonly { readonly tasks: number; readonly alone: number | null; readonly corrected: number | null }[];
}

const SEEDS = [3, 5, 10, 20];
const TASKS = [100, 300, 1000];
const MOST_SEEDS = 200;

export interface Power {
  readonly alone: number;
  readonly corrected: number;
}

/** The power of one number of seeds and tasks. */
export function powerAt(
  components: Components,
  { difference, clusterSize, tests }: Omit<PlanQuestion, 'power'>,
  size: Omit<Size, 'clusterSize'>,
): Power {
  const at = (alpha: number): number => powerOf(difference, components, { ...size, clusterSize }, alpha);
  return { alone: at(ALPHA), corrected: at(ALPHA / tests) };
}

export function planStudy(components: Components, question: PlanQuestion): Plan {
  const { difference, power, clusterSize, tests } = question;
  const at = (size: Omit<Size, 'clusterSize'>, alpha: number): number => powerOf(difference, components, { ...size, clusterSize }, alpha);
  const fewest = (tasks: number, alpha: number): number | null => {
    if (at({ seeds: MOST_SEEDS, tasks }, alpha) < power) return null;
    // More seeds find more, so the fewest are found by halving.
    let [few, enough] = [1, MOST_SEEDS];
    while (enough - few > 1) {
      const seeds = (few + enough) >> 1;
      if (at({ seeds, tasks }, alpha) >= power) enough = seeds;
      else few = seeds;
    }
    return enough;
  };
  return {
    rows: SEEDS.flatMap((seeds) => TASKS.map((tasks) => ({ seeds, tasks, ...powerAt(components, question, { seeds, tasks }) }))),
    needed: TASKS.map((tasks) => ({ tasks, alone: fewest(tasks, ALPHA), corrected: fewest(tasks, ALPHA / tests) })),
  };
}
