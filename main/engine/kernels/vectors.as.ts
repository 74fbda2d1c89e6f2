// Loops over long vectors: adding gradients up, the sum of squares, AdamW. Between two runs of a graph nothing else computes, so their time counts in full. Every
// number is that of the plain loop in double precision, rounded where it would round. Counts are multiples of 4; vectors.ts pads them.

import { VECTOR } from './simd.as';

/** sum += more */
export function add(sum: usize, more: usize, count: i32): void {
  const end = sum + <usize>count * 4;
  for (; sum < end; sum += VECTOR, more += VECTOR) v128.store(sum, f32x4.add(v128.load(sum), v128.load(more)));
}

/** Adds x² to four sums in double precision at `sums`: those of numbers 0, 4, 8, … and so on. */
export function addSquares(x: usize, sums: usize, count: i32): void {
  let low = v128.load(sums);
  let high = v128.load(sums, 16);
  for (const end = x + <usize>count * 4; x < end; x += VECTOR) {
    const a = twoAt(x);
    low = f64x2.add(low, f64x2.mul(a, a));
    const b = twoAt(x + 8);
    high = f64x2.add(high, f64x2.mul(b, b));
  }
  v128.store(sums, low);
  v128.store(sums, high, 16);
}

/** m = β1·m + share1·g, v = β2·v + share2·g², values = values·kept − stepSize·m / (√v + ε) */
export function adamW(
  values: usize,
  first: usize,
  second: usize,
  gradient: usize,
  count: i32,
  beta1: f64,
  share1: f64,
  beta2: f64,
  share2: f64,
  kept: f64,
  stepSize: f64,
  epsilon: f64,
): void {
  const b1 = f64x2.splat(beta1);
  const s1 = f64x2.splat(share1);
  const b2 = f64x2.splat(beta2);
  const s2 = f64x2.splat(share2);
  const keep = f64x2.splat(kept);
  const size = f64x2.splat(stepSize);
  const least = f64x2.splat(epsilon);
  for (const end = values + <usize>count * 4; values < end; values += 8, first += 8, second += 8, gradient += 8) {
    const g = twoAt(gradient);
    const m = f64x2.add(f64x2.mul(b1, twoAt(first)), f64x2.mul(s1, g));
    const v = f64x2.add(f64x2.mul(b2, twoAt(second)), f64x2.mul(f64x2.mul(s2, g), g));
    const change = f64x2.div(f64x2.mul(size, m), f64x2.add(f64x2.sqrt(v), least));
    putTwo(first, m);
    putTwo(second, v);
    putTwo(values, f64x2.sub(f64x2.mul(twoAt(values), keep), change));
  }
}

/** Two numbers, widened to double precision. */
function twoAt(address: usize): v128 {
  return f64x2.promote_low_f32x4(v128.load64_zero(address));
}

/** Two numbers, narrowed. */
function putTwo(address: usize, x: v128): void {
  v128.store64_lane(address, f32x4.demote_f64x2_zero(x), 0);
}
