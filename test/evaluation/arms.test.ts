// Arms against arms and runs against runs: clusters of tasks count once, seeds are paired, comparisons are corrected.

import { describe, expect, test } from 'vitest';
import { type Arm, compareArms, type Member, summarise } from '../../main/evaluation/arms.ts';
import type { ClusteredResult } from '../../main/evaluation/clusters.ts';
import { clusteredDifference } from '../../main/evaluation/inference.ts';
import { mcnemar, signFlip } from '../../main/base/statistics.ts';

/** Four tasks of each product; `solved` says which of them. */
function member(run: number, seed: number, tasks: number, solved: (task: number) => boolean, place = 'shop'): Member {
  const results = Array.from({ length: tasks }, (_, task): ClusteredResult => ({
    cluster: String(Math.floor(task / 4)),
    task: `${Math.floor(task / 4)}-plain-${task % 4}`,
    category: 'shoes',
    tier: 'plain',
    seed: 1,
    success: solved(task),
    return: solved(task) ? 1 : 0,
    steps: 2,
    failure: null,
  }));
  return { run, seed, place, worldHash: place, results };
}

const arm = (key: string, ...members: Member[]): Arm => ({ key, members });
const SEEDS = [1, 2, 3, 4];
/** Solves more of the tasks the higher `level` is, a little differently with every seed. */
const at = (level: number, seed: number) => (task: number) => (task * 7 + seed * 3) % 20 < level;
const armAt = (key: string, level: number): Arm => arm(key, ...SEEDS.map((seed) => member(seed, seed, 80, at(level, seed))));

describe('the exact test over clusters', () => {
  test('is McNemar’s where every task is a cluster of its own', () => {
    for (const [a, b] of [
      [12, 0],
      [15, 5],
      [3, 3],
      [0, 0],
    ] as const)
      expect(signFlip([...Array.from({ length: a }, () => 1), ...Array.from({ length: b }, () => -1), 0, 0])).toBeCloseTo(
        mcnemar(a, b),
        10,
      );
  });
  test('copies of a task make nothing surer', () => {
    const differences = [1, 1, 1, 0, 0, -1, 1, 0];
    const alone = clusteredDifference(
      differences,
      differences.map((_, index) => String(index)),
    );
    const copied = differences.flatMap((difference) => Array.from({ length: 10 }, () => difference));
    const clusters = copied.map((_, index) => String(Math.floor(index / 10)));
    const together = clusteredDifference(copied, clusters);
    expect(together).toMatchObject({ clusters: 8, freedom: 7 });
    expect([together.value, together.low, together.high, together.p].map((value) => value.toFixed(9))).toEqual(
      [alone.value, alone.low, alone.high, alone.p].map((value) => value.toFixed(9)),
    );
    expect(
      clusteredDifference(
        copied,
        copied.map((_, index) => String(index)),
      ).p,
    ).toBeLessThan(alone.p / 100);
  });
  test('no difference at all leaves what the rule of three leaves', () => {
    expect(clusteredDifference([0, 0, 0, 0], ['a', 'b', 'c', 'c'])).toMatchObject({ value: 0, low: -1, high: 1, p: 1, clusters: 3 });
  });
});

describe('arms', () => {
  test('are compared over the seeds and tasks they share, and corrected for the number of comparisons', () => {
    const pairs = compareArms([armAt('low', 6), armAt('middle', 10), armAt('high', 16)], 'low');
    expect(pairs.map(({ key, seeds, tasks, clusters, pairing }) => ({ key, seeds, tasks, clusters, pairing }))).toEqual([
      { key: 'middle', seeds: 4, tasks: 80, clusters: 20, pairing: 'same' },
      { key: 'high', seeds: 4, tasks: 80, clusters: 20, pairing: 'same' },
    ]);
    const [middle, high] = pairs;
    expect(middle?.difference).toBeCloseTo(0.2, 12);
    expect(high?.difference).toBeCloseTo(0.5, 12);
    const ps = pairs.map(({ p }) => p).sort((a, b) => a - b);
    expect(Math.min(...pairs.map(({ holm }) => holm))).toBeCloseTo(Math.min(1, 2 * (ps[0] ?? 1)), 12);
    expect(high?.words).toContain('high does better than low: 80.0% against 30.0%, difference +50.0 points');
    expect(high?.words).toContain('80 tasks in 20 clusters × 4 seeds');
  });
  test('with other seeds are paired in order, of one seed over tasks alone, and of another place not at all', () => {
    const base = armAt('base', 10);
    const shifted = arm('shifted', ...SEEDS.map((seed) => member(10 + seed, 100 + seed, 80, at(12, seed))));
    const single = arm('single', member(30, 1, 80, at(12, 1)));
    const elsewhere = arm('elsewhere', member(31, 1, 80, at(12, 1), 'maths'));
    const pairs = compareArms([base, shifted, single, elsewhere], 'base');
    expect(pairs.map(({ key, pairing, seeds }) => ({ key, pairing, seeds }))).toEqual([
      { key: 'shifted', pairing: 'order', seeds: 4 },
      { key: 'single', pairing: 'one', seeds: 1 },
    ]);
    expect(pairs[1]?.words).toContain('One seed each');
    const changed = { ...shifted, members: shifted.members.map((one) => ({ ...one, worldHash: 'paid otherwise' })) };
    expect(compareArms([base, changed], 'base')[0]?.words).toContain('The worlds of the two have different settings.');
    expect(pairs[0]?.otherSettings).toBe(false);
  });
  test('give the same numbers whatever the order in which their tasks were played', () => {
    const shuffled = (one: Member, by: number): Member => ({
      ...one,
      results: one.results
        .map((_, place) => one.results[(place * by) % one.results.length] ?? one.results[0])
        .filter((r) => r !== undefined),
    });
    const [better, base] = [armAt('better', 14), armAt('base', 8)];
    const mixed = arm('better', ...better.members.map((one, index) => shuffled(one, [1, 3, 7, 9][index] ?? 1)));
    const [sorted] = compareArms([better, base], 'base');
    const [other] = compareArms([mixed, base], 'base');
    for (const field of ['difference', 'low', 'high', 'p', 'a', 'b'] as const) expect(other?.[field]).toBeCloseTo(sorted?.[field] ?? 9, 12);
    expect(other).toMatchObject({ tasks: 80, onlyA: sorted?.onlyA, onlyB: sorted?.onlyB });
    expect(summarise(mixed).success?.low).toBeCloseTo(summarise(better).success?.low ?? 9, 12);
  });

  test('have a mean with an interval that holds it, also where everything was solved', () => {
    const { success } = summarise(armAt('some', 10));
    expect(success?.value).toBeCloseTo(0.5, 12);
    expect(success!.low).toBeLessThan(0.5);
    expect(success!.high).toBeGreaterThan(0.5);
    const all = summarise(armAt('all', 20)).success;
    expect(all).toMatchObject({ value: 1, high: 1 });
    expect(all!.low).toBeGreaterThan(0.8);
    expect(all!.low).toBeLessThan(0.9);
    expect(
      summarise(
        arm(
          'none',
          member(1, 1, 0, () => true),
        ),
      ),
    ).toMatchObject({ evaluated: 0, success: null });
  });
});
