// Studies made up by chance, with what real ones have: tasks that come in clusters, clusters that are easy or hard for everybody,
// clusters that suit one arm better, and seeds that come out better or worse. The true difference of the arms is known.

import { Random } from '../../main/base/random.ts';
import { type Components, componentsOf, type DifferenceTable, meanDifference, powerOf } from '../../main/evaluation/inference.ts';
import { holm } from '../../main/base/statistics.ts';

export interface World {
  readonly seeds: number;
  readonly clusters: number;
  readonly clusterSize: number;
  /** Standard deviations on the scale of success: of an arm's seeds, and of clusters that suit one arm better. */
  readonly seedSpread: number;
  readonly clusterSpread: number;
  readonly difference: number;
}

const BASE = 0.5;
const DIFFICULTY = 0.15;
const bounded = (p: number): number => Math.max(0, Math.min(1, p));

export function simulate(world: World, random: Random): DifferenceTable {
  const { seeds, clusters, clusterSize, seedSpread, clusterSpread, difference } = world;
  const spread = (count: number, deviation: number): number[] => Array.from({ length: count }, () => deviation * random.normal());
  const difficulty = spread(clusters, DIFFICULTY);
  const suited = [spread(clusters, clusterSpread), spread(clusters, clusterSpread)];
  const names = Array.from({ length: clusters * clusterSize }, (_, task) => String(Math.floor(task / clusterSize)));
  const rows = Array.from({ length: seeds }, () => {
    const [a = 0, b = 0] = spread(2, seedSpread);
    return names.map((_, task) => {
      const cluster = Math.floor(task / clusterSize);
      const common = BASE + (difficulty[cluster] ?? 0);
      const solved = (own: number): number => (random.next() < bounded(common + own) ? 1 : 0);
      return solved(difference / 2 + a + (suited[0]?.[cluster] ?? 0)) - solved(-difference / 2 + b + (suited[1]?.[cluster] ?? 0));
    });
  });
  return { rows, clusters: names };
}

export interface Row {
  readonly world: World;
  readonly studies: number;
  /** Share of tests that come out decided, and of studies of `TESTS` tests with any decided after Holm's correction. */
  readonly decided: number;
  readonly corrected: number;
  /** The same if tasks counted one by one. */
  readonly unclustered: number;
  /** What the planner says of `decided`. */
  readonly planned: number;
}

export const TESTS = 8;
const PILOTS = 60;

export function measure(world: World, studies: number): Row {
  const random = Random.from('simulated studies', JSON.stringify(world));
  let [decided, any, naive] = [0, 0, 0];
  for (let study = 0; study < studies; study++) {
    const tables = Array.from({ length: TESTS }, () => simulate(world, random));
    const ps = tables.map((table) => meanDifference(table).p);
    const [first] = tables;
    decided += ps.filter((p) => p <= 0.05).length / TESTS;
    any += holm(ps).some((p) => p <= 0.05) ? 1 : 0;
    if (first) naive += meanDifference({ ...first, clusters: first.clusters.map((_, task) => String(task)) }).p <= 0.05 ? 1 : 0;
  }
  const { seeds, clusters, clusterSize } = world;
  const size = { seeds, tasks: clusters * clusterSize, clusterSize };
  const planned = powerOf(world.difference, pilot(world, random), size);
  return { world, studies, decided: decided / studies, corrected: any / studies, unclustered: naive / studies, planned };
}

/** What a planner would know from earlier studies like this one. */
function pilot(world: World, random: Random): Components {
  const found = Array.from({ length: PILOTS }, () => componentsOf(simulate({ ...world, seeds: Math.max(5, world.seeds) }, random))).flatMap(
    (one) => one ?? [],
  );
  const mean = (of: (one: Components) => number): number => found.reduce((sum, one) => sum + of(one), 0) / found.length;
  return { seed: mean(({ seed }) => seed), cluster: mean(({ cluster }) => cluster), rest: mean(({ rest }) => rest) };
}

const usual = { clusters: 60, clusterSize: 5, seedSpread: 0.02, clusterSpread: 0.1 };
export const NULLS: readonly World[] = [
  { ...usual, seeds: 3, difference: 0 },
  { ...usual, seeds: 5, difference: 0 },
  { ...usual, seeds: 10, difference: 0 },
  { ...usual, seeds: 5, seedSpread: 0.08, difference: 0 },
  { ...usual, seeds: 10, seedSpread: 0, clusterSpread: 0.2, difference: 0 },
  { ...usual, seeds: 10, clusters: 15, clusterSize: 20, clusterSpread: 0.2, difference: 0 },
];
export const EFFECTS: readonly World[] = [
  { ...usual, seeds: 5, difference: 0.05 },
  { ...usual, seeds: 10, difference: 0.05 },
  { ...usual, seeds: 10, difference: 0.08 },
  { ...usual, seeds: 5, seedSpread: 0.06, difference: 0.1 },
  { ...usual, seeds: 10, clusters: 30, clusterSize: 10, clusterSpread: 0.15, difference: 0.08 },
];
