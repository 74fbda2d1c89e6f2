// The statistics the lab reports, each the textbook one and each checked against values computed elsewhere: Wilson's interval,
// the inter-quartile mean with stratified bootstrap intervals (rliable), McNemar's exact test,
// probability of improvement and pass@k. Resampling is seeded, so a report repeats to the last digit. The window computes with them too.

import { Random } from './random.ts';

/** 97.5% quantile of the normal distribution: two-sided 95%. */
const Z = 1.959963984540054;

export function mean(values: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i]!;
  return values.length === 0 ? 0 : sum / values.length;
}

/** Sample standard deviation (divided by n − 1, as torch.std does); 0 for fewer than two values. */
export function deviation(values: ArrayLike<number>): number {
  if (values.length < 2) return 0;
  const centre = mean(values);
  let squares = 0;
  for (let i = 0; i < values.length; i++) squares += (values[i]! - centre) ** 2;
  return Math.sqrt(squares / (values.length - 1));
}

export interface Interval {
  readonly low: number;
  readonly high: number;
}

export interface Proportion extends Interval {
  readonly k: number;
  readonly n: number;
  readonly rate: number;
}

/** k successes among n with Wilson's 95% score interval. With n = 0 the interval is 0 to 1. */
export function wilson(k: number, n: number, z = Z): Proportion {
  if (n === 0) return { k, n, rate: 0, low: 0, high: 1 };
  const rate = k / n;
  const centre = (rate + (z * z) / (2 * n)) / (1 + (z * z) / n);
  const half = (z / (1 + (z * z) / n)) * Math.sqrt((rate * (1 - rate)) / n + (z * z) / (4 * n * n));
  return { k, n, rate, low: k === 0 ? 0 : Math.max(0, centre - half), high: k === n ? 1 : Math.min(1, centre + half) };
}

/** Mean of the middle half: the lowest and highest quarter (rounded down) are left out, as in rliable. */
export function interquartileMean(values: ArrayLike<number>): number {
  const sorted = Float64Array.from(values).sort();
  const cut = Math.floor(sorted.length / 4);
  return mean(sorted.subarray(cut, sorted.length - cut));
}

/** Value below which the share q of the sorted values lies, interpolated linearly. */
export function quantile(sorted: ArrayLike<number>, q: number): number {
  if (sorted.length === 0) return Number.NaN;
  const position = q * (sorted.length - 1);
  const below = Math.floor(position);
  const low = sorted[below]!;
  const high = sorted[Math.min(below + 1, sorted.length - 1)]!;
  return low + (position - below) * (high - low);
}

/** NaN of none. */
export const median = (values: ArrayLike<number>): number => quantile(Float64Array.from(values).sort(), 0.5);

const RESAMPLES = 2000;

export interface Estimate extends Interval {
  readonly value: number;
}

/**
 * A statistic of scores with its percentile bootstrap 95% interval. Resampling is stratified: each stratum (a task, a
 * category, an environment) is drawn with replacement from its scores, so that strata keep their sizes.
 */
export function bootstrap(
  strata: readonly (readonly number[])[],
  statistic: (scores: ArrayLike<number>) => number,
  seed = 0,
  resamples = RESAMPLES,
): Estimate {
  const value = statistic(strata.flat());
  // One score a stratum can only be drawn as itself.
  if (strata.every(({ length }) => length < 2)) return { value, low: value, high: value };
  const random = Random.from('bootstrap', seed);
  const drawn = new Float64Array(strata.reduce((sum, { length }) => sum + length, 0));
  const values = Float64Array.from({ length: resamples }, () => {
    let place = 0;
    for (const scores of strata) for (let i = 0; i < scores.length; i++) drawn[place++] = scores[random.below(scores.length)]!;
    return statistic(drawn);
  }).sort();
  return { value, low: quantile(values, 0.025), high: quantile(values, 0.975) };
}

export interface Aggregate {
  readonly n: number;
  readonly mean: Estimate;
  readonly iqm: Estimate;
}

/** Mean and inter-quartile mean over runs; `strata` holds the runs' scores of each task group. */
export function aggregate(strata: readonly (readonly number[])[], seed = 0): Aggregate {
  return { n: strata[0]?.length ?? 0, mean: bootstrap(strata, mean, seed), iqm: bootstrap(strata, interquartileMean, seed) };
}

/** Two-sided exact McNemar test: `onlyA` tasks were solved by A alone, `onlyB` by B alone. */
export function mcnemar(onlyA: number, onlyB: number): number {
  const n = onlyA + onlyB;
  if (n === 0) return 1;
  let tail = 0;
  for (let i = 0; i <= Math.min(onlyA, onlyB); i++) tail += Math.exp(logChoose(n, i) - n * Math.LN2);
  return Math.min(1, 2 * tail);
}

/**
 * Two-sided exact test that whole numbers scatter evenly around zero: how likely a total at least this far from zero is when each
 * number has either sign with equal chance. Of ones it is McNemar's test; a number may also be the sum over a cluster.
 */
export function signFlip(sums: readonly number[]): number {
  const sizes = sums.map(Math.abs).filter((size) => size > 0);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const observed = Math.abs(sums.reduce((sum, value) => sum + value, 0));
  // Chance of every total, from −total to total.
  let chances = new Float64Array(2 * total + 1);
  chances[total] = 1;
  let reach = 0;
  for (const size of sizes) {
    const next = new Float64Array(2 * total + 1);
    for (let at = total - reach; at <= total + reach; at++) {
      const half = chances[at]! / 2;
      if (half === 0) continue;
      next[at - size]! += half;
      next[at + size]! += half;
    }
    reach += size;
    chances = next;
  }
  let tail = 0;
  for (let at = 0; at < chances.length; at++) if (Math.abs(at - total) >= observed) tail += chances[at]!;
  return Math.min(1, tail);
}

/** One-sided exact test of Fisher: how likely `a` of `n` successes or fewer are, if they were as frequent as `b` of `m`. */
export function fisher(a: number, n: number, b: number, m: number): number {
  const successes = a + b;
  let term = Math.exp(logChoose(n, a) + logChoose(m, b) - logChoose(n + m, successes));
  let tail = 0;
  for (let k = a; k >= Math.max(0, successes - m); k--) {
    tail += term;
    term *= (k * (m - successes + k)) / ((n - k + 1) * (successes - k + 1));
  }
  return Math.min(1, tail);
}

function logChoose(n: number, k: number): number {
  let sum = 0;
  for (let i = 1; i <= k; i++) sum += Math.log((n - k + i) / i);
  return sum;
}

/** Spearman's: Pearson's correlation of the ranks, ties sharing theirs; null where one side does not vary. */
export function rankCorrelation(a: readonly number[], b: readonly number[]): number | null {
  const [x, y] = [ranks(a), ranks(b)];
  const [middleX, middleY] = [mean(x), mean(y)];
  let [product, squareX, squareY] = [0, 0, 0];
  for (const [i, rank] of x.entries()) {
    const [left, right] = [rank - middleX, (y[i] ?? middleY) - middleY];
    product += left * right;
    squareX += left ** 2;
    squareY += right ** 2;
  }
  return squareX === 0 || squareY === 0 ? null : product / Math.sqrt(squareX * squareY);
}

/** Places in ascending order, from 1; equal values share the mean of theirs. */
function ranks(values: readonly number[]): number[] {
  return values.map((value) => {
    const below = values.filter((other) => other < value).length;
    return below + (values.filter((other) => other === value).length + 1) / 2;
  });
}

/** Probability that a random score of A is above a random score of B, ties counting half (Mann–Whitney). */
export function probabilityOfImprovement(a: readonly number[], b: readonly number[]): number {
  if (a.length === 0 || b.length === 0) return Number.NaN;
  let won = 0;
  for (const x of a) for (const y of b) won += x > y ? 1 : x === y ? 0.5 : 0;
  return won / (a.length * b.length);
}

/** The same with a bootstrap interval over the runs of both sides. */
export function improvementEstimate(a: readonly number[], b: readonly number[], seed = 0, resamples = 2000): Estimate {
  const random = Random.from('improvement', seed);
  const again = (scores: readonly number[]) => scores.map(() => scores[random.below(scores.length)]!);
  const values = Array.from({ length: resamples }, () => probabilityOfImprovement(again(a), again(b))).sort((x, y) => x - y);
  return { value: probabilityOfImprovement(a, b), low: quantile(values, 0.025), high: quantile(values, 0.975) };
}

/** Unbiased probability that at least one of k samples succeeds, from c successes among n ≥ k. */
export function passAtK(n: number, c: number, k: number): number {
  if (k > n) throw new RangeError(`pass@${k} needs at least ${k} samples; found ${n}`);
  if (n - c < k) return 1;
  return 1 - Math.exp(logChoose(n - c, k) - logChoose(n, k));
}

/** ln Γ(x) for x > 0 (Lanczos, 15 digits). */
function logGamma(x: number): number {
  const series = LANCZOS.reduce((sum, coefficient, i) => sum + (i === 0 ? coefficient : coefficient / (x + i - 1)), 0);
  const base = x + 6.5;
  return (x - 0.5) * Math.log(base) - base + Math.log(Math.sqrt(2 * Math.PI) * series);
}

const LANCZOS = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059, 12.507343278686905,
  -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
];

/** The regularised incomplete beta function I_x(a, b), by its continued fraction (Lentz). */
function incompleteBeta(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(1 - x, b, a);
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x)) / a;
  let c = 1;
  let d = 1 / Math.max(1e-300, 1 - ((a + b) * x) / (a + 1));
  let value = d;
  for (let m = 1; m < 500; m++) {
    for (const term of [
      (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m)),
      (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1)),
    ]) {
      d = 1 / (1 + term * d);
      c = 1 + term / c;
      value *= c * d;
    }
    if (Math.abs(c * d - 1) < 1e-14) break;
  }
  return front * value;
}

/** P(T > t) of Student's t. */
export function studentTail(t: number, freedom: number): number {
  const half = incompleteBeta(freedom / (freedom + t * t), freedom / 2, 0.5) / 2;
  return t >= 0 ? half : 1 - half;
}

/** The t that is exceeded with this probability (0 … ½). */
export function studentQuantile(tail: number, freedom: number): number {
  let [low, high] = [0, 2];
  while (studentTail(high, freedom) > tail) [low, high] = [high, 2 * high];
  for (let i = 0; i < 80; i++) {
    const middle = (low + high) / 2;
    if (studentTail(middle, freedom) > tail) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** P(Z < z) of the normal distribution, to about 15 digits: the series near the middle, the continued fraction in the tail. */
export function normalBelow(z: number): number {
  const size = Math.abs(z);
  const density = Math.exp((-size * size) / 2) / Math.sqrt(2 * Math.PI);
  if (size > 38) return z < 0 ? 0 : 1;
  if (size > 3) {
    let fraction = 0;
    for (let k = 60; k >= 1; k--) fraction = k / (size + fraction);
    const tail = density / (size + fraction);
    return z < 0 ? tail : 1 - tail;
  }
  let [term, sum] = [size, size];
  for (let k = 3; term > 1e-17 * sum; k += 2) sum += term *= (size * size) / k;
  return z < 0 ? 0.5 - density * sum : 0.5 + density * sum;
}

/** P(T > t) of the noncentral t: the normal tail averaged over the spread of the estimated deviation. */
export function noncentralTail(t: number, freedom: number, shift: number): number {
  const points = 400;
  const low = Math.max(0, 1 - 8 / Math.sqrt(2 * freedom));
  const high = 1 + 8 / Math.sqrt(2 * freedom);
  let [sum, weight] = [0, 0];
  for (let i = 0; i < points; i++) {
    // s/σ runs over what χ/√f can be; its density is s^(f−1)·exp(−f·s²/2) up to a factor.
    const s = low + ((high - low) * (i + 0.5)) / points;
    const density = Math.exp((freedom - 1) * Math.log(s) - (freedom * (s * s - 1)) / 2);
    sum += density * normalBelow(shift - t * s);
    weight += density;
  }
  return sum / weight;
}

/** Holm's step-down adjustment: with p ≤ 0.05 after it, the chance of any false rejection is at most 5%. */
export function holm(ps: readonly number[]): number[] {
  const order = ps.map((_, index) => index).sort((a, b) => (ps[a] ?? 1) - (ps[b] ?? 1));
  const adjusted = new Array<number>(ps.length).fill(1);
  let highest = 0;
  order.forEach((index, rank) => {
    highest = Math.max(highest, Math.min(1, (ps.length - rank) * (ps[index] ?? 1)));
    adjusted[index] = highest;
  });
  return adjusted;
}
