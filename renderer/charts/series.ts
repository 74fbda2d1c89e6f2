// What a chart is given, and the arithmetic on it: smoothing, looking up a point, leaving out what an axis cannot show.
// No canvas and no React in here.

import type { RunStyle } from '../theme/runs.ts';

export interface Series {
  readonly id: string;
  readonly label: string;
  readonly look: RunStyle;
  /** Ascending, as long as `y`. */
  readonly x: readonly number[];
  readonly y: readonly number[];
  /** An interval around `y`, drawn as a band. */
  readonly low?: readonly number[];
  readonly high?: readonly number[];
}

export interface Mark {
  readonly x: number;
  readonly label: string;
  /** Alerts stand at the upper edge, so that they cover no curve; those that have cleared are pale. */
  readonly kind: 'checkpoint' | 'evaluation' | 'level' | 'alert' | 'cleared';
}

export interface Range {
  readonly min: number;
  readonly max: number;
}

export type Scale = 'linear' | 'log';

/**
 * Exponential moving average with weight `smoothing` on the past (0 = none), corrected for its start so that the first
 * value is the first value (as TensorBoard does). Gaps (NaN) stay gaps and do not disturb what follows. On a log axis the
 * logarithms are averaged, so that the line runs through the middle of what is drawn; values ≤ 0, which it cannot show, are gaps.
 */
export function smooth(values: readonly number[], smoothing: number, scale: Scale = 'linear'): number[] {
  if (smoothing <= 0) return [...values];
  const log = scale === 'log';
  let average = 0;
  let weight = 0;
  return values.map((raw) => {
    const value = log ? (raw > 0 ? Math.log(raw) : Number.NaN) : raw;
    if (!Number.isFinite(value)) return value;
    average = average * smoothing + (1 - smoothing) * value;
    weight = weight * smoothing + (1 - smoothing);
    return log ? Math.exp(average / weight) : average / weight;
  });
}

/** Index of the entry nearest to `x` in an ascending list; −1 for an empty one. */
export function nearest(xs: readonly number[], x: number): number {
  let low = 0;
  let high = xs.length - 1;
  if (high < 0) return -1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((xs[middle] ?? 0) <= x) low = middle;
    else high = middle;
  }
  return x - (xs[low] ?? 0) <= (xs[high] ?? 0) - x ? low : high;
}

/** How many values a logarithmic axis cannot show. */
export function countNotPositive(series: readonly Series[]): number {
  let count = 0;
  for (const { y } of series) for (const value of y) if (value <= 0) count++;
  return count;
}

export function extent(series: readonly Series[]): Range | null {
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  for (const { x } of series) {
    min = Math.min(min, x[0] ?? min);
    max = Math.max(max, x.at(-1) ?? max);
  }
  return min <= max ? { min, max } : null;
}

/** Whether the x of these series are counts: then a tick between two of them would stand for nothing. */
export function wholeX(series: readonly Series[]): boolean {
  return series.every(({ x }) => [x[0], x[1], x.at(-1)].every((value) => value === undefined || Number.isInteger(value)));
}
