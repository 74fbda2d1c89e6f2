// The rule behind the verdicts against simulated studies with clustered tasks: its error rate when nothing differs, and how
// often it finds what the planner says it finds. The slow tests have 2,000 studies of each kind and write docs/STATISTICS.md.

import { expect, test } from 'vitest';
import { componentsOf, detectableDifference, equivalenceP, meanDifference, powerOf } from '../../main/evaluation/inference.ts';
import { fisher, holm, noncentralTail, normalBelow, studentQuantile, studentTail } from '../../main/base/statistics.ts';
import { EFFECTS, measure, NULLS, TESTS } from './simulated.ts';

const STUDIES = 100;

test('Student’s t, the normal and the noncentral t have the values of the tables', () => {
  expect(studentQuantile(0.025, 4)).toBeCloseTo(2.7764451, 6);
  expect(studentQuantile(0.025, 9)).toBeCloseTo(2.2621572, 6);
  expect(studentTail(12.7062047, 1)).toBeCloseTo(0.025, 8);
  expect(studentTail(-1, 5)).toBeCloseTo(1 - studentTail(1, 5), 12);
  expect(normalBelow(1.959964)).toBeCloseTo(0.975, 5);
  expect(noncentralTail(2.2621572, 9, 0)).toBeCloseTo(0.025, 3);
  // One-sample t test, n = 10, d = 1, α = 0.05 two-sided: power 0.8031 (G*Power).
  expect(noncentralTail(2.2621572, 9, Math.sqrt(10))).toBeCloseTo(0.8031, 3);
});

test('the distributions agree with those of another library (@stdlib/stats-base-dists-*) to twelve digits', () => {
  const same = (found: number, theirs: number): void => expect(found / theirs).toBeCloseTo(1, 12);
  same(studentTail(0.3, 1), 0.4072264209222577);
  same(studentTail(2.5, 4), 0.033383272405994084);
  same(studentTail(-1.7, 9), 0.9383261689280881);
  same(studentTail(3.1, 59), 0.0014824278968036165);
  same(studentQuantile(0.05, 9), 1.8331129326562368);
  same(studentQuantile(0.005, 30), 2.749995653567225);
  same(studentQuantile(0.1, 1), 3.077683537175254);
  same(normalBelow(-7), 1.2798125438858352e-12);
  same(normalBelow(-3.5), 0.00023262907903552502);
  same(normalBelow(0.4), 0.6554217416103242);
  same(fisher(3, 10, 6, 12), 0.30495356037151816);
  same(fisher(0, 7, 5, 9), 0.028846153846153834);
  same(fisher(11, 20, 4, 15), 0.979663174277941);
});

test('Holm adjusts in order and never turns an order around', () => {
  expect(holm([0.01, 0.04, 0.03, 0.005]).map((p) => Number(p.toFixed(12)))).toEqual([0.03, 0.06, 0.06, 0.02]);
  expect(holm([0.9, 0.8])).toEqual([1, 1]);
  expect(holm([])).toEqual([]);
});

test('clusters count as one task: the same table with ten copies of each task is no surer', () => {
  const rows = [
    [1, 0, 0, 1, 0, -1, 0, 1],
    [1, 0, 1, 0, 0, 0, 0, 1],
    [0, 0, 1, 1, -1, 0, 0, 1],
  ];
  const clusters = rows[0]!.map((_, task) => String(task));
  const copied = {
    rows: rows.map((row) => row.flatMap((value) => new Array<number>(10).fill(value))),
    clusters: clusters.flatMap((c) => new Array<string>(10).fill(c)),
  };
  const once = meanDifference({ rows, clusters });
  const tenfold = meanDifference(copied);
  expect(tenfold.error).toBeCloseTo(once.error, 12);
  expect(tenfold.p).toBeCloseTo(once.p, 12);
  expect(meanDifference({ ...copied, clusters: copied.clusters.map((_, task) => String(task)) }).error).toBeLessThan(0.9 * once.error);
  expect(equivalenceP(once, 0.9)).toBeLessThan(0.05);
  expect(equivalenceP(once, 0.3)).toBeGreaterThan(0.05);
});

test(`over ${STUDIES} simulated studies of ${TESTS} tests about nothing, hardly more than 5% decide anything`, () => {
  for (const world of NULLS.slice(0, 4)) {
    const { decided, corrected } = measure(world, STUDIES);
    // Monte Carlo error: three standard errors of 5% over the studies.
    const error = 3 * Math.sqrt((0.05 * 0.95) / STUDIES);
    expect(decided, JSON.stringify(world)).toBeLessThan(0.05 + error);
    expect(corrected, JSON.stringify(world)).toBeLessThan(0.05 + error);
  }
});

test('a real difference is found as often as the planner says', () => {
  for (const world of EFFECTS.slice(1, 3)) {
    const { decided, planned } = measure(world, STUDIES);
    expect(Math.abs(decided - planned), `${JSON.stringify(world)}: ${decided} against ${planned}`).toBeLessThan(0.08);
  }
});

test('more seeds, more tasks and larger differences are found more often, and the detectable difference has the power asked for', () => {
  const components = { seed: 0.002, cluster: 0.01, rest: 0.3 };
  const size = { seeds: 5, tasks: 300, clusterSize: 3 };
  const power = powerOf(0.05, components, size);
  expect(powerOf(0.05, components, { ...size, seeds: 10 })).toBeGreaterThan(power);
  expect(powerOf(0.05, components, { ...size, tasks: 900 })).toBeGreaterThan(power);
  expect(powerOf(0.1, components, size)).toBeGreaterThan(power);
  expect(powerOf(0.05, components, size, 0.01)).toBeLessThan(power);
  expect(powerOf(detectableDifference(components, size), components, size)).toBeCloseTo(0.8, 3);
  expect(componentsOf({ rows: [[0, 1]], clusters: ['a', 'b'] })).toBeUndefined();
});
