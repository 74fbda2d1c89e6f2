// The parts of a Transformer's layer beside its products and attention, for rows one after the other. Strides and sizes are in bytes.

import { VECTOR, exp, madd, sumAll } from './simd.as';

/** y = x / √(mean of x² + ε) · gain */
export function rmsNorm(x: usize, gain: usize, y: usize, width: i32, stride: usize, count: i32, epsilon: f32): void {
  const bytes = <usize>width * 4;
  for (; count > 0; count--, x += stride, y += stride) {
    let squares = f32x4.splat(0);
    for (let i: usize = 0; i < bytes; i += VECTOR) {
      const part = v128.load(x + i);
      squares = madd(part, part, squares);
    }
    const mean = f32x4.div(sumAll(squares), f32x4.splat(<f32>width));
    const scale = f32x4.div(f32x4.splat(1), f32x4.sqrt(f32x4.add(mean, f32x4.splat(epsilon))));
    for (let i: usize = 0; i < bytes; i += VECTOR) {
      v128.store(y + i, f32x4.mul(f32x4.mul(v128.load(x + i), scale), v128.load(gain + i)));
    }
  }
}

/** The numbers of a gate, as gates.ts names them. */
const SWIGLU = 0;
const SILU = 1;
const RELU = 2;
const RELU2 = 3;

/** y = gate(x). For SwiGLU x holds `up` and behind it the gate, `bytes` each. */
export function gate(kind: i32, x: usize, xStride: usize, y: usize, bytes: usize, count: i32): void {
  for (; count > 0; count--, x += xStride, y += bytes) {
    for (let i: usize = 0; i < bytes; i += VECTOR) {
      let up = v128.load(x + i);
      if (kind == SWIGLU) up = f32x4.mul(up, silu(v128.load(x + i + bytes)));
      else if (kind == SILU) up = silu(up);
      else {
        up = f32x4.pmax(up, f32x4.splat(0));
        if (kind == RELU2) up = f32x4.mul(up, up);
      }
      v128.store(y + i, up);
    }
  }
}

/** x · sigmoid(x) */
function silu(x: v128): v128 {
  return f32x4.div(x, f32x4.add(f32x4.splat(1), exp(f32x4.pmin(f32x4.neg(x), f32x4.splat(88)))));
}

/** Turns a head by its position: `table` holds the position's cosines and behind them the sines, `half` bytes each. */
export function rotate(from: usize, to: usize, table: usize, half: usize, scale: v128): void {
  for (let i: usize = 0; i < half; i += VECTOR) {
    const a = v128.load(from + i);
    const b = v128.load(from + half + i);
    const cosine = v128.load(table + i);
    const sine = v128.load(table + half + i);
    v128.store(to + i, f32x4.mul(f32x4.sub(f32x4.mul(a, cosine), f32x4.mul(b, sine)), scale));
    v128.store(to + half + i, f32x4.mul(f32x4.add(f32x4.mul(b, cosine), f32x4.mul(a, sine)), scale));
  }
}

export function copy(from: usize, to: usize, bytes: usize): void {
  for (let i: usize = 0; i < bytes; i += VECTOR) v128.store(to + i, v128.load(from + i));
}
