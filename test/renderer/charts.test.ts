// The arithmetic of the charts and the looks of runs.

import { describe, expect, test } from 'vitest';
import { nextX } from '../../renderer/charts/crosshair.ts';
import { extent, nearest, smooth } from '../../renderer/charts/series.ts';
import type { Series } from '../../renderer/charts/series.ts';
import { linearTicks, logTicks } from '../../renderer/charts/ticks.ts';
import { sparkPath } from '../../renderer/charts/sparkline.tsx';
import { formatBytes, formatDuration, formatTick, formatValue } from '../../renderer/format.ts';

describe('smoothing', () => {
  test('starts at the first value and then weighs the past', () => {
    // debiased: (0.5·(0.5·2) + 0.5·4) ÷ (1 − 0.5²) = 2.5 ÷ 0.75
    expect(smooth([2, 4], 0.5)).toEqual([2, 2.5 / 0.75]);
  });
  test('leaves a constant and the unsmoothed alone, and keeps gaps', () => {
    expect(smooth([3, 3, 3], 0.9).map((value) => Number(value.toFixed(12)))).toEqual([3, 3, 3]);
    expect(smooth([1, 5], 0)).toEqual([1, 5]);
    expect(smooth([2, Number.NaN, 2], 0.5)).toEqual([2, Number.NaN, 2]);
  });
});

describe('smoothing on a log axis', () => {
  test('averages the logarithms, and what the axis cannot show is a gap', () => {
    expect(smooth([1, 100], 0.5, 'log').map((value) => Number(value.toFixed(6)))).toEqual([1, Number((100 ** (2 / 3)).toFixed(6))]);
    const gaps = smooth([10, 0, -5, 10], 0.9, 'log');
    expect(gaps.map((value) => Number(value.toFixed(9)))).toEqual([10, Number.NaN, Number.NaN, 10]);
  });
});

describe('ticks', () => {
  test('a zoomed update axis has whole numbers only', () => {
    expect(linearTicks(12.374, 15.9, 8, 'whole')).toEqual([13, 14, 15]);
    expect(linearTicks(0.2, 1.4, 10, 'whole')).toEqual([1]);
    expect(linearTicks(0, 60, 7, 'whole')).toEqual([0, 10, 20, 30, 40, 50, 60]);
  });
  test('numbers are round, and times are those that people count in', () => {
    expect(linearTicks(0.31, 0.62, 5)).toEqual([0.4, 0.5, 0.6]);
    expect(linearTicks(-1, 1, 5)).toEqual([-1, -0.5, 0, 0.5, 1]);
    expect(linearTicks(0.24, 0.36, 3)).toEqual([0.25, 0.3, 0.35]);
    expect(linearTicks(0, 3700, 5, 'time')).toEqual([0, 1800, 3600]);
    expect(linearTicks(0, 7, 8, 'time')).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(linearTicks(3, 3, 5)).toEqual([3]);
  });
  test('a log axis has 1, 2, 5 of a decade, single decades where there are many, and no tick outside', () => {
    expect(logTicks(0.9, 120, 8)).toEqual([1, 2, 5, 10, 20, 50, 100]);
    expect(logTicks(1e-6, 1, 7)).toEqual([1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1]);
    expect(logTicks(1e-9, 1, 5)).toEqual([1e-9, 1e-7, 1e-5, 1e-3, 0.1]);
    expect(logTicks(31, 48, 5)).toEqual([35, 40, 45]);
    expect(logTicks(0, 1, 5)).toEqual([]);
  });
});

describe('looking up', () => {
  test.each([
    [[], 3, -1],
    [[5], 99, 0],
    [[0, 10, 20], -4, 0],
    [[0, 10, 20], 4.9, 0],
    [[0, 10, 20], 5.1, 1],
    [[0, 10, 20], 99, 2],
  ])('nearest of %j to %f is at %i', (xs, x, index) => {
    expect(nearest(xs, x)).toBe(index);
  });
  test('arrow keys visit the points of all series in order', () => {
    const xs = [
      [0, 10, 20],
      [5, 10, 15],
    ];
    const visited: number[] = [];
    for (let x = nextX(xs, null, 1); x !== null; x = nextX(xs, x, 1)) visited.push(x);
    expect(visited).toEqual([0, 5, 10, 15, 20]);
    expect(nextX(xs, null, -1)).toBe(20);
    expect(nextX(xs, 5, -1)).toBe(0);
    expect(nextX(xs, 0, -1)).toBe(null);
  });
  test('the extent covers all series and ignores empty ones', () => {
    const series = (x: number[]): Series => ({ id: '', label: '', look: { colour: '', dash: [] }, x, y: x });
    expect(extent([series([3, 9]), series([]), series([1, 4])])).toEqual({ min: 1, max: 9 });
    expect(extent([series([])])).toBe(null);
  });
});

test('a spark line spans its box and lifts the pen at gaps', () => {
  expect(sparkPath([0, 1, Number.NaN, 0.5], { min: 0, max: 1 }, 90, 22)).toBe('M0.0 21.0L30.0 1.0M90.0 11.0');
});

describe('numbers for people', () => {
  test.each([
    [0.62416, 'share', '62.4%'],
    [0.018349, 'nats', '0.0183'],
    [-1.5, '', '−1.500'],
    [4120.4, 'tokens/s', '4,120'],
    [3.21e-5, '', '3.2e−5'],
    [Number.NaN, 'share', '–'],
    [7, 'steps', '7'],
  ])('%d %s is written %s', (value, unit, text) => {
    expect(formatValue(value, unit)).toBe(text);
  });
  test('ticks, durations and bytes', () => {
    expect([0.2, 1].map((value) => formatTick(value, 'share'))).toEqual(['20%', '100%']);
    expect([2500, 250_000, 0.05].map((value) => formatTick(value))).toEqual(['2,500', '250K', '0.05']);
    expect([8.25, 42, 200, 7500].map(formatDuration)).toEqual(['8.3 s', '42 s', '3 min 20 s', '2 h 05 min']);
    expect([999, 1500, 3.2e9].map(formatBytes)).toEqual(['999 B', '1.5 kB', '3.2 GB']);
  });
});
