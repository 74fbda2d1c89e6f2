// The loops in WebAssembly give the very bits of plain loops, whatever the length.

import { describe, expect, it } from 'vitest';
import { addTo, adamWLoop, sumOfSquares } from '../../main/engine/kernels/vectors.ts';
import { Random } from '../../main/base/random.ts';

const LENGTHS = [0, 1, 3, 4, 5, 16_383, 16_384, 16_387, 50_001];
const FACTORS = { beta1: 0.9, share1: 0.07, beta2: 0.98, share2: 0.0123, kept: 0.9999, stepSize: 1.7e-3, epsilon: 3e-9 };

function numbers(length: number, name: string): Float32Array {
  const random = Random.from('vector loops', name, length);
  return Float32Array.from({ length }, () => random.normal() * 10 ** (random.below(12) - 8));
}

describe.each(LENGTHS)('vectors of %i numbers', (length) => {
  it('are added as a plain loop adds them', () => {
    const [sum, more] = [numbers(length, 'sum'), numbers(length, 'more')];
    const expected = sum.map((x, i) => x + more[i]!);
    addTo(sum, more);
    expect(sum).toEqual(expected);
  });

  it('have the plain sum of squares', () => {
    const x = numbers(length, 'squares');
    const sums = [0, 0, 0, 0];
    const whole = length - (length % 4);
    for (let i = 0; i < whole; i++) sums[i % 4]! += x[i]! * x[i]!;
    for (let i = whole; i < length; i++) sums[0]! += x[i]! * x[i]!;
    expect(sumOfSquares(x)).toBe(sums[0]! + sums[1]! + sums[2]! + sums[3]!);
  });

  it('take the step that a plain AdamW takes', () => {
    const part = {
      values: numbers(length, 'v'),
      first: numbers(length, 'm'),
      second: numbers(length, 's').map(Math.abs),
      gradient: numbers(length, 'g'),
    };
    const { beta1, share1, beta2, share2, kept, stepSize, epsilon } = FACTORS;
    const expected = {
      values: part.values.slice(),
      first: part.first.slice(),
      second: part.second.slice(),
      gradient: part.gradient.slice(),
    };
    for (let i = 0; i < length; i++) {
      const g = part.gradient[i]!;
      const m = beta1 * part.first[i]! + share1 * g;
      const v = beta2 * part.second[i]! + share2 * g * g;
      expected.first[i] = m;
      expected.second[i] = v;
      expected.values[i] = part.values[i]! * kept - (stepSize * m) / (Math.sqrt(v) + epsilon);
    }
    adamWLoop(part, FACTORS);
    expect(part).toEqual(expected);
  });
});

it('pass on what is not a number', () => {
  expect(sumOfSquares(Float32Array.of(1, Number.NaN, 2, 3))).toBeNaN();
  expect(sumOfSquares(Float32Array.of(1, 2, 3, Number.POSITIVE_INFINITY))).toBe(Number.POSITIVE_INFINITY);
});
