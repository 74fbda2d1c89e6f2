import { expect, test } from 'vitest';
import fc from 'fast-check';
import {
  aggregate,
  bootstrap,
  improvementEstimate,
  interquartileMean,
  mcnemar,
  mean,
  passAtK,
  probabilityOfImprovement,
  quantile,
  wilson,
} from '../main/base/statistics.ts';

test('Wilson: 67 of 100 is 57.3% to 75.4%', () => {
  const { rate, low, high } = wilson(67, 100);
  expect(rate).toBe(0.67);
  expect(low).toBeCloseTo(0.573, 3);
  expect(high).toBeCloseTo(0.754, 3);
});

test('Wilson has its published values at the edges', () => {
  // Newcombe 1998, table I: 81 of 263, 15 of 148, 0 of 20, 1 of 29.
  for (const [k, n, low, high] of [
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ] as const) {
    expect(wilson(k, n).low).toBeCloseTo(low, 4);
    expect(wilson(k, n).high).toBeCloseTo(high, 4);
  }
  expect(wilson(20, 20).high).toBe(1);
  expect(wilson(0, 0)).toEqual({ k: 0, n: 0, rate: 0, low: 0, high: 1 });
});

test('an interval holds the rate and gets narrower with more tasks', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 500 }), fc.integer({ min: 0, max: 500 }), (n, draw) => {
      const k = draw % (n + 1);
      const one = wilson(k, n);
      const ten = wilson(10 * k, 10 * n);
      expect(one.low).toBeLessThanOrEqual(one.rate + 1e-12);
      expect(one.high).toBeGreaterThanOrEqual(one.rate - 1e-12);
      expect(ten.high - ten.low).toBeLessThan(one.high - one.low);
    }),
  );
});

test('McNemar’s exact test is twice the smaller binomial tail', () => {
  // 2 · Σ_{i≤5} C(20, i) / 2^20 = 2 · 21700 / 1048576
  expect(mcnemar(5, 15)).toBeCloseTo((2 * 21700) / 1048576, 12);
  expect(mcnemar(0, 6)).toBeCloseTo(2 / 64, 12);
  expect(mcnemar(3, 3)).toBe(1);
  expect(mcnemar(0, 0)).toBe(1);
  expect(mcnemar(400, 600)).toBeGreaterThan(0);
});

test('the inter-quartile mean leaves out the lowest and highest quarter', () => {
  expect(interquartileMean([100, 1, 2, 3, 4, 5, 6, -50])).toBe(3.5);
  expect(interquartileMean([1, 2, 9])).toBe(4);
  expect(interquartileMean([])).toBe(0);
});

test('quantiles interpolate as numpy does', () => {
  expect(quantile([1, 2, 3, 4], 0.25)).toBe(1.75);
  expect(quantile([1, 2, 3, 4], 0.5)).toBe(2.5);
});

test('the bootstrap interval of a mean agrees with the normal one, and repeats with its seed', () => {
  const scores = Array.from({ length: 400 }, (_, i) => (i * 7919) % 101);
  const spread = Math.sqrt(mean(scores.map((score) => (score - mean(scores)) ** 2)) / scores.length);
  const { value, low, high } = bootstrap([scores], mean, 3);
  expect(value).toBe(mean(scores));
  expect(low).toBeCloseTo(value - 1.96 * spread, 0);
  expect(high).toBeCloseTo(value + 1.96 * spread, 0);
  expect(bootstrap([scores], mean, 3)).toEqual({ value, low, high });
  expect(bootstrap([scores], mean, 4).low).not.toBe(low);
});

test('strata are resampled by themselves: two constant strata have no uncertainty', () => {
  const { mean: average } = aggregate([
    [1, 1, 1],
    [0, 0, 0],
  ]);
  expect(average).toEqual({ value: 0.5, low: 0.5, high: 0.5 });
  const mixed = bootstrap([[1, 1, 1, 0, 0, 0]], mean);
  expect(mixed.high - mixed.low).toBeGreaterThan(0.5);
});

test('probability of improvement counts ties half', () => {
  expect(probabilityOfImprovement([3, 4], [1, 2])).toBe(1);
  expect(probabilityOfImprovement([1, 2], [1, 2])).toBe(0.5);
  expect(probabilityOfImprovement([1, 3], [2])).toBe(0.5);
  expect(improvementEstimate([3, 4, 5], [1, 2, 3]).value).toBeCloseTo(8.5 / 9, 12);
});

test('pass@k is 1 − C(n − c, k)/C(n, k)', () => {
  expect(passAtK(10, 3, 5)).toBeCloseTo(1 - 21 / 252, 12);
  expect(passAtK(8, 2, 1)).toBeCloseTo(0.25, 12);
  expect(passAtK(8, 0, 4)).toBeCloseTo(0, 12);
  expect(passAtK(8, 6, 4)).toBe(1);
  expect(() => passAtK(2, 1, 3)).toThrow(/at least 3 samples/);
});
