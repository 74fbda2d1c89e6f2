// The rule that decides claims, on numbers whose answer is known.

import { expect, test } from 'vitest';
import { judge, pairArms, pigeonhole, type ResultsBySeed, together } from '../../main/study/verdict.ts';
import type { EvaluationResult } from '../../main/evaluation/evaluation-report.ts';

/** Results of tasks 0, 1, …: solved where the text has a 1, else failed as a wrong purchase. */
function results(solved: string, failure = 'wrong-purchase'): EvaluationResult[] {
  return [...solved].map((one, task) => ({
    task: String(task),
    category: 'shoes',
    tier: 'plain',
    seed: 7,
    success: one === '1',
    return: Number(one),
    steps: 2,
    failure: one === '1' ? null : failure,
  }));
}
const arm = (...seeds: EvaluationResult[][]): ResultsBySeed => new Map(seeds.map((own, index) => [index + 1, own]));

test('a test holds when the whole interval is on the claimed side, fails on the other, and is undecided across zero', () => {
  expect(judge({ low: 0.01, high: 0.2, seeds: [1, 2, 3] }, 'higher')).toBe('holds');
  expect(judge({ low: 0.01, high: 0.2, seeds: [1, 2, 3] }, 'lower')).toBe('fails');
  expect(judge({ low: -0.2, high: -0.01, seeds: [1, 2, 3] }, 'lower')).toBe('holds');
  expect(judge({ low: -0.2, high: -0.01, seeds: [1, 2, 3] }, 'higher')).toBe('fails');
  expect(judge({ low: -0.01, high: 0.2, seeds: [1, 2, 3] }, 'higher')).toBe('undecided');
  expect(judge({ low: 0, high: 0, seeds: [1, 2, 3] }, 'higher')).toBe('undecided');
  expect(judge({ low: 0.1, high: 0.2, seeds: [1] }, 'higher')).toBe('undecided'); // one seed decides nothing
});

test('a claim needs all of its tests, and one that fails is enough against it', () => {
  expect(together(['holds', 'holds'])).toBe('holds');
  expect(together(['holds', 'undecided'])).toBe('undecided');
  expect(together(['undecided', 'fails', 'holds'])).toBe('fails');
  expect(together([])).toBe('undecided');
});

test('pairs are the same task under the same seed: means, counts, McNemar and the difference of each seed', () => {
  const paired = pairArms(arm(results('1111100000'), results('1111000000')), arm(results('1000000001'), results('1100000000')), 'success');
  expect(paired).toMatchObject({ seeds: [1, 2], tasks: 10, a: 0.45, b: 0.2, onlyA: 6, onlyB: 1 });
  expect(paired?.value).toBeCloseTo(0.25, 12);
  expect(paired?.bySeed.map((difference) => Number(difference.toFixed(12)))).toEqual([0.3, 0.2]);
  expect(paired?.p).toBeCloseTo(0.125, 12); // 2 · (1 + 7) / 2⁷
});

test('failure classes are measured as shares of all episodes, and arms with other seeds or tasks have nothing to compare', () => {
  const loops = pairArms(arm(results('1000', 'search-loop')), arm(results('1100', 'timeout')), 'search-loop');
  expect(loops).toMatchObject({ a: 0.75, b: 0, onlyA: 3, onlyB: 0 });
  expect(pairArms(arm(results('11')), new Map([[9, results('11')]]), 'success')).toBeUndefined();
  expect(pairArms(arm([]), arm(results('11')), 'success')).toBeUndefined();
});

test('the interval covers the spread of seeds as well as that of tasks, and repeats to the last digit', () => {
  const tasks = Array.from({ length: 400 }, (_, task) => (task % 2 === 0 ? 1 : 0));
  const alike = pigeonhole([tasks, tasks, tasks, tasks]);
  // Only tasks vary: about ± 1.96 · 0.5 / √400 around a half.
  expect(alike.low).toBeGreaterThan(0.5 - 0.06);
  expect(alike.low).toBeLessThan(0.5 - 0.04);
  // Seeds that disagree completely: the interval has to admit it.
  const apart = pigeonhole([tasks.map(() => 1), tasks.map(() => 1), tasks.map(() => 0), tasks.map(() => 0)]);
  expect(apart.low).toBeLessThanOrEqual(0.25);
  expect(apart.high).toBeGreaterThanOrEqual(0.75);
  expect(pigeonhole([tasks, tasks])).toEqual(pigeonhole([tasks, tasks]));
});

test('with two seeds the difference must show in each of them', () => {
  const even = Array.from({ length: 300 }, (_, task) => (task % 4 === 0 ? 1 : 0));
  const nothing = even.map(() => 0);
  expect(pigeonhole([even, even]).low).toBeGreaterThan(0);
  expect(pigeonhole([even, nothing]).low).toBe(0);
});

test('where no pair differs the verdict stays open, and what could have been missed is bounded by the rule of three', () => {
  const same = pairArms(arm(results('1'.repeat(300))), arm(results('1'.repeat(300))), 'success');
  expect(same).toMatchObject({ value: 0, low: 0, high: 0, p: 1, detectable: 0.01 });
});
