// The arithmetic of a draw: e to the power of every score less the largest, in double precision, two at a time, with their sums. Exponentials are exact to the last digit or two.
// The largest weight of every eight is kept, so that the likeliest are found quickly.

import { madd64 } from '../../engine/kernels/simd.as';

const PAIR: usize = 16;
/** Four pairs are computed side by side, because each waits for its own series. */
const GROUP: usize = 4 * PAIR;

/**
 * `count`, a multiple of 8, scores become weights. `largest` takes the largest weight of every eight, twice each; `results` the largest score, twice, and in two parts each the
 * sum of the weights and that of weight · score.
 */
export function weigh(scores: usize, count: i32, weights: usize, largest: usize, results: usize): void {
  const end = scores + <usize>count * 8;
  const most = largestOf(scores, end);
  let total = f64x2.splat(0);
  let moment = f64x2.splat(0);
  for (; scores < end; scores += GROUP, weights += GROUP, largest += PAIR) {
    const s0 = v128.load(scores),
      s1 = v128.load(scores, 16),
      s2 = v128.load(scores, 32),
      s3 = v128.load(scores, 48);
    const x0 = f64x2.sub(s0, most),
      x1 = f64x2.sub(s1, most),
      x2 = f64x2.sub(s2, most),
      x3 = f64x2.sub(s3, most);
    const p0 = powerIn(x0),
      p1 = powerIn(x1),
      p2 = powerIn(x2),
      p3 = powerIn(x3);
    const r0 = restOf(x0, p0),
      r1 = restOf(x1, p1),
      r2 = restOf(x2, p2),
      r3 = restOf(x3, p3);
    let e0 = number(SERIES),
      e1 = e0,
      e2 = e0,
      e3 = e0;
    for (let n = SERIES + 1; n < SERIES + TERMS; n++) {
      const term = number(n);
      e0 = madd64(e0, r0, term);
      e1 = madd64(e1, r1, term);
      e2 = madd64(e2, r2, term);
      e3 = madd64(e3, r3, term);
    }
    const w0 = raised(e0, p0, x0),
      w1 = raised(e1, p1, x1),
      w2 = raised(e2, p2, x2),
      w3 = raised(e3, p3, x3);
    v128.store(weights, w0);
    v128.store(weights, w1, 16);
    v128.store(weights, w2, 32);
    v128.store(weights, w3, 48);
    total = f64x2.add(f64x2.add(f64x2.add(f64x2.add(total, w0), w1), w2), w3);
    moment = f64x2.add(f64x2.add(f64x2.add(f64x2.add(moment, product(w0, s0)), product(w1, s1)), product(w2, s2)), product(w3, s3));
    const best = f64x2.pmax(f64x2.pmax(f64x2.pmax(w0, w1), w2), w3);
    v128.store(largest, f64x2.pmax(best, swapped(best)));
  }
  v128.store(results, most);
  v128.store(results, total, 16);
  v128.store(results, moment, 32);
}

/** The largest of all, twice. */
function largestOf(scores: usize, end: usize): v128 {
  let a = f64x2.splat(-Infinity),
    b = a,
    c = a,
    d = a;
  for (; scores < end; scores += GROUP) {
    a = f64x2.pmax(a, v128.load(scores));
    b = f64x2.pmax(b, v128.load(scores, 16));
    c = f64x2.pmax(c, v128.load(scores, 32));
    d = f64x2.pmax(d, v128.load(scores, 48));
  }
  const most = f64x2.pmax(f64x2.pmax(f64x2.pmax(a, b), c), d);
  return f64x2.pmax(most, swapped(most));
}

function swapped(x: v128): v128 {
  return f64x2.shuffle(x, x, 1, 0);
}

/** weight · score; 0 where the weight is 0, also for a score of −∞. */
function product(weight: v128, score: v128): v128 {
  return v128.andnot(f64x2.mul(weight, score), f64x2.eq(weight, f64x2.splat(0)));
}

/** In memory, because one instruction fetches a number and three make it. */
const NUMBERS = memory.data<f64>([
  -708, 1.4426950408889634, -0.6931471803691238, -1.9082149292705877e-10, 6755399441055744, 1.6059043836821613e-10, 2.08767569878681e-9,
  2.505210838544172e-8, 2.755731922398589e-7, 0.0000027557319223985893, 0.0000248015873015873, 0.0001984126984126984, 0.001388888888888889,
  0.008333333333333333, 0.041666666666666664, 0.16666666666666666, 0.5, 1, 1,
]);
/** e to a power below this is taken for 0. */
const LEAST: usize = 0;
const LOG2_E: usize = 1;
/** −ln 2 in two parts, the first of 32 bits: its product is exact. */
const LN_2: usize = 2;
const LN_2_REST: usize = 3;
/** 2⁵² + 2⁵¹: a whole number that is added to it stands in its lowest bits. */
const WHOLE: usize = 4;
/** 1/n! for n = 13 … 0: the series is exact to the last digit for |x| ≤ ln 2 / 2. */
const SERIES: usize = 5;
const TERMS: usize = 14;

function number(index: usize): v128 {
  return v128.load64_splat(NUMBERS + 8 * index);
}

/** eˣ = 2ᵖ · eʳ with a whole p and a small rest r. */
function powerIn(x: v128): v128 {
  return f64x2.nearest(f64x2.mul(f64x2.pmax(x, number(LEAST)), number(LOG2_E)));
}

function restOf(x: v128, power: v128): v128 {
  return madd64(power, number(LN_2_REST), madd64(power, number(LN_2), f64x2.pmax(x, number(LEAST))));
}

function raised(series: v128, power: v128, x: v128): v128 {
  const twoToThePower = i64x2.add(i64x2.shl(f64x2.add(power, number(WHOLE)), 52), f64x2.splat(1));
  return v128.andnot(f64x2.mul(series, twoToThePower), f64x2.lt(x, number(LEAST)));
}
