// Attention of one query over keys and values that lie one after the other, `size` bytes each: a multiple of 32 (eight numbers).

import { VECTOR, exp, madd, maxAll, sumAll, sumEach } from './simd.as';

/** Below every score. */
const LEAST: f32 = -3e38;
/** Bytes of the 32 numbers that are summed up together: eight sums keep both multipliers busy. */
const BLOCK: usize = 128;

/**
 * y = softmax(query · keys) · values, with room for the weights. More is read than is there, whatever it is: behind the last key there is room for three more, behind the
 * weights for four, behind the last value for a block.
 */
export function attention(query: usize, keys: usize, values: usize, size: usize, count: i32, weights: usize, y: usize): void {
  const share = f32x4.div(f32x4.splat(1), exponentials(query, keys, size, count, weights));
  const end = weights + <usize>count * 4;
  for (let i: usize = 0; i < size; i += BLOCK) {
    if (size - i > BLOCK / 2) sumOf32(weights, end, values + i, size, share, y + i, size - i);
    else sumOf16(weights, end, values + i, size, share, y + i, size - i);
  }
}

/** weights = softmax(query · keys), with the same room. */
export function softmax(query: usize, keys: usize, size: usize, count: i32, weights: usize): void {
  const share = f32x4.div(f32x4.splat(1), exponentials(query, keys, size, count, weights));
  const end = weights + <usize>((count + 3) & ~3) * 4;
  for (; weights < end; weights += VECTOR) v128.store(weights, f32x4.mul(v128.load(weights), share));
}

/** e to each score less the largest one, and their sum, in every place. */
function exponentials(query: usize, keys: usize, size: usize, count: i32, weights: usize): v128 {
  const end = weights + <usize>((count + 3) & ~3) * 4;
  for (let to = weights; to < end; to += VECTOR, keys += 4 * size) v128.store(to, fourScores(query, keys, size));
  v128.store(weights + <usize>count * 4, f32x4.splat(LEAST));
  let most = f32x4.splat(LEAST);
  for (let at = weights; at < end; at += VECTOR) most = f32x4.pmax(most, v128.load(at));
  most = maxAll(most);
  let total = f32x4.splat(0);
  for (let at = weights; at < end; at += VECTOR) {
    const weight = exp(f32x4.sub(v128.load(at), most));
    v128.store(at, weight);
    total = f32x4.add(total, weight);
  }
  return sumAll(total);
}

/** The query's products with four keys, each one sum in the order of the numbers. */
function fourScores(query: usize, key: usize, size: usize): v128 {
  const two = 2 * size;
  const three = two + size;
  let a = f32x4.splat(-0.0); // −0: the first sum is the product itself
  let b = a;
  let c = a;
  let d = a;
  for (const end = query + size; query < end; query += 32, key += 32) {
    const q = v128.load(query);
    a = madd(q, v128.load(key), a);
    b = madd(q, v128.load(key + size), b);
    c = madd(q, v128.load(key + two), c);
    d = madd(q, v128.load(key + three), d);
    const r = v128.load(query, 16);
    a = madd(r, v128.load(key, 16), a);
    b = madd(r, v128.load(key + size, 16), b);
    c = madd(r, v128.load(key + two, 16), c);
    d = madd(r, v128.load(key + three, 16), d);
  }
  return sumEach(a, b, c, d);
}

/** y = share · Σ weight · value, for the first 32 numbers of each value, of which `wanted` bytes are written. */
function sumOf32(weight: usize, end: usize, value: usize, size: usize, share: v128, y: usize, wanted: usize): void {
  let a = f32x4.splat(0);
  let b = a;
  let c = a;
  let d = a;
  let e = a;
  let f = a;
  let g = a;
  let h = a;
  for (; weight < end; weight += 4, value += size) {
    const w = v128.load32_splat(weight);
    a = madd(w, v128.load(value), a);
    b = madd(w, v128.load(value, 16), b);
    c = madd(w, v128.load(value, 32), c);
    d = madd(w, v128.load(value, 48), d);
    e = madd(w, v128.load(value, 64), e);
    f = madd(w, v128.load(value, 80), f);
    g = madd(w, v128.load(value, 96), g);
    h = madd(w, v128.load(value, 112), h);
  }
  put(y, a, b, share);
  put(y + 32, c, d, share);
  put(y + 64, e, f, share);
  if (wanted > 96) put(y + 96, g, h, share);
}

function sumOf16(weight: usize, end: usize, value: usize, size: usize, share: v128, y: usize, wanted: usize): void {
  let a = f32x4.splat(0);
  let b = a;
  let c = a;
  let d = a;
  for (; weight < end; weight += 4, value += size) {
    const w = v128.load32_splat(weight);
    a = madd(w, v128.load(value), a);
    b = madd(w, v128.load(value, 16), b);
    c = madd(w, v128.load(value, 32), c);
    d = madd(w, v128.load(value, 48), d);
  }
  put(y, a, b, share);
  if (wanted > 32) put(y + 32, c, d, share);
}

function put(y: usize, a: v128, b: v128, share: v128): void {
  v128.store(y, f32x4.mul(a, share));
  v128.store(y, f32x4.mul(b, share), 16);
}
