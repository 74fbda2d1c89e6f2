// What the kernels share: four numbers in single precision (f32x4) or two in double precision (f64x2) at a time. The order of operations is part of the
// result: a run repeats itself bit for bit. Files named *.as.ts are AssemblyScript; scripts/kernels.mjs compiles them.

/** Bytes of four or two numbers. */
export const VECTOR: usize = 16;

/** a · b + c, rounded once where the runtime has relaxed SIMD (and the processor the instruction). */
export function madd(a: v128, b: v128, c: v128): v128 {
  if (ASC_FEATURE_RELAXED_SIMD) return f32x4.relaxed_madd(a, b, c);
  return f32x4.add(f32x4.mul(a, b), c);
}

export function madd64(a: v128, b: v128, c: v128): v128 {
  if (ASC_FEATURE_RELAXED_SIMD) return f64x2.relaxed_madd(a, b, c);
  return f64x2.add(f64x2.mul(a, b), c);
}

/** The sum of all four numbers, in every place. */
export function sumAll(x: v128): v128 {
  const halves = f32x4.add(x, f32x4.shuffle(x, x, 2, 3, 0, 1));
  return f32x4.add(halves, f32x4.shuffle(halves, halves, 1, 0, 3, 2));
}

/** The largest of all four numbers, in every place. */
export function maxAll(x: v128): v128 {
  const halves = f32x4.pmax(x, f32x4.shuffle(x, x, 2, 3, 0, 1));
  return f32x4.pmax(halves, f32x4.shuffle(halves, halves, 1, 0, 3, 2));
}

/** [Σa, Σb, Σc, Σd] */
export function sumEach(a: v128, b: v128, c: v128, d: v128): v128 {
  const ab = f32x4.add(f32x4.shuffle(a, b, 0, 4, 1, 5), f32x4.shuffle(a, b, 2, 6, 3, 7));
  const cd = f32x4.add(f32x4.shuffle(c, d, 0, 4, 1, 5), f32x4.shuffle(c, d, 2, 6, 3, 7));
  return f32x4.add(f32x4.shuffle(ab, cd, 0, 1, 4, 5), f32x4.shuffle(ab, cd, 2, 3, 6, 7));
}

/** The whole number nearest to x, which is in the range of one. */
function toWhole(x: v128): v128 {
  if (ASC_FEATURE_RELAXED_SIMD) return i32x4.relaxed_trunc_f32x4_s(x);
  return i32x4.trunc_sat_f32x4_s(x);
}

/** eˣ of numbers up to 88, to the last digit or two; 0 below −87. NaN stays NaN. */
export function exp(x: v128): v128 {
  const tiny = f32x4.lt(x, f32x4.splat(-87));
  x = f32x4.pmax(x, f32x4.splat(-87));
  const power = f32x4.nearest(f32x4.mul(x, f32x4.splat(1.4426950408889634))); // log₂ e
  // ln 2 in two parts, of which the first is exact in few digits.
  x = madd(power, f32x4.splat(2.1219444e-4), madd(power, f32x4.splat(-0.693359375), x));
  let series = f32x4.splat(1.98756915e-4);
  series = madd(series, x, f32x4.splat(1.3981999507e-3));
  series = madd(series, x, f32x4.splat(8.3334519073e-3));
  series = madd(series, x, f32x4.splat(4.1665795894e-2));
  series = madd(series, x, f32x4.splat(1.6666665459e-1));
  series = madd(series, x, f32x4.splat(5.0000001201e-1));
  series = madd(series, x, f32x4.splat(1));
  series = madd(series, x, f32x4.splat(1));
  const twoToThePower = i32x4.shl(i32x4.add(toWhole(power), i32x4.splat(127)), 23);
  return v128.andnot(f32x4.mul(series, twoToThePower), tiny);
}
