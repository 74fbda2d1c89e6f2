// Attention of one query over keys and values that lie one after the other, `size` bytes each: a multiple of 32 (eight numbers).

import { VECTOR, exp, madd, maxAll, sumAll, sumEach } from './simd.as';

/** Below every score. */
const LEAST: f32 = -3e38;

/**
 * y = softmax(query · keys) · values, with room for the weights. Keys are read four at a time: behind the last there is room for three more, whatever they are, and behind the
 * weights for four.
 */
export function attention(query: usize, keys: usize, values: usize, size: usize, count: i32, weights: usize, y: usize): void {
  const share = f32x4.div(f32x4.splat(1), exponentials(query, keys, size, count, weights));
  const end = weights + <usize>count * 4;
  let i: usize = 0;
  for (; i + 128 <= size; i += 128) sumOf32(weights, end, values + i, size, share, y + i);
  if (i + 64 <= size) {
    sumOf16(weights, end, values + i, size, share, y + i);
    i += 64;
  }
  if (i < size) sumOf8(weights, end, values + i, size, share, y + i);
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
function fourScores(query: usize, key0: usize, size: usize): v128 {
  const key1 = key0 + size;
  const key2 = key1 + size;
  const key3 = key2 + size;
  let a = f32x4.splat(-0.0); // −0: the first sum is the product itself
  let b = a;
  let c = a;
  let d = a;
  let i: usize = 0;
  for (; i + 64 <= size; i += 64) {
    const q0 = v128.load(query + i);
    const q1 = v128.load(query + i, 16);
    const q2 = v128.load(query + i, 32);
    const q3 = v128.load(query + i, 48);
    a = dot8(q2, q3, key0 + i + 32, dot8(q0, q1, key0 + i, a));
    b = dot8(q2, q3, key1 + i + 32, dot8(q0, q1, key1 + i, b));
    c = dot8(q2, q3, key2 + i + 32, dot8(q0, q1, key2 + i, c));
    d = dot8(q2, q3, key3 + i + 32, dot8(q0, q1, key3 + i, d));
  }
  if (i < size) {
    const q0 = v128.load(query + i);
    const q1 = v128.load(query + i, 16);
    a = dot8(q0, q1, key0 + i, a);
    b = dot8(q0, q1, key1 + i, b);
    c = dot8(q0, q1, key2 + i, c);
    d = dot8(q0, q1, key3 + i, d);
  }
  return sumEach(a, b, c, d);
}

/** sum += query · key, for eight numbers. */
function dot8(q0: v128, q1: v128, key: usize, sum: v128): v128 {
  return madd(q1, v128.load(key, 16), madd(q0, v128.load(key), sum));
}

/** y = share · Σ weight · value, for 32 numbers of each value. */
function sumOf32(weight: usize, end: usize, value: usize, size: usize, share: v128, y: usize): void {
  let a = f32x4.splat(0),
    b = a,
    c = a,
    d = a,
    e = a,
    f = a,
    g = a,
    h = a;
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
  v128.store(y, f32x4.mul(a, share));
  v128.store(y, f32x4.mul(b, share), 16);
  v128.store(y, f32x4.mul(c, share), 32);
  v128.store(y, f32x4.mul(d, share), 48);
  v128.store(y, f32x4.mul(e, share), 64);
  v128.store(y, f32x4.mul(f, share), 80);
  v128.store(y, f32x4.mul(g, share), 96);
  v128.store(y, f32x4.mul(h, share), 112);
}

function sumOf16(weight: usize, end: usize, value: usize, size: usize, share: v128, y: usize): void {
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
  v128.store(y, f32x4.mul(a, share));
  v128.store(y, f32x4.mul(b, share), 16);
  v128.store(y, f32x4.mul(c, share), 32);
  v128.store(y, f32x4.mul(d, share), 48);
}

function sumOf8(weight: usize, end: usize, value: usize, size: usize, share: v128, y: usize): void {
  let a = f32x4.splat(0),
    b = a;
  for (; weight < end; weight += 4, value += size) {
    const w = v128.load32_splat(weight);
    a = madd(w, v128.load(value), a);
    b = madd(w, v128.load(value, 16), b);
  }
  v128.store(y, f32x4.mul(a, share));
  v128.store(y, f32x4.mul(b, share), 16);
}
