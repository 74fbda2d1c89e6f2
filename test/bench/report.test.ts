// How benchmark rows are judged.

import { expect, test } from 'vitest';
import { judge, median } from './report.ts';

const row = { name: 'step', ours: 80, peer: 100, unit: 'ms', better: 'lower', goal: 0.85 } as const;

test.each([
  ['a lower ratio than the goal meets it', row, 0.8, true],
  ['a higher ratio than the goal misses it', { ...row, ours: 90 }, 0.9, false],
  ['where higher is better the goal is a floor', { ...row, better: 'higher', ours: 90 } as const, 0.9, true],
  ['without a peer there is nothing to judge', { ...row, peer: null }, null, null],
  ['an absolute goal bounds our number', { ...row, peer: null, absolute: true, goal: 100 }, null, true],
  ['a row without a goal is information', { ...row, goal: null }, 0.8, null],
])('%s', (_, given, ratio, met) => {
  expect(judge(given)).toMatchObject({ ratio, met });
  expect(Object.keys(judge(given)).toSorted()).toEqual(['better', 'goal', 'met', 'name', 'ours', 'peer', 'ratio', 'unit']);
});

test('the median of an even number of values is the mean of the middle two', () => {
  expect(median([4, 1, 3, 2])).toBe(2.5);
  expect(median([3, 1, 2])).toBe(2);
  expect(() => median([])).toThrow('empty');
});
