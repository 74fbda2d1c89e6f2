import { expect, test } from 'vitest';
import { Random } from '../main/base/random.ts';

test('the same keys give the same stream, different keys a different one', () => {
  const draw = (...keys: (number | string)[]) => Array.from({ length: 5 }, Random.from(...keys).next);
  expect(draw('episode', 7)).toEqual(draw('episode', 7));
  expect(draw('episode', 7)).not.toEqual(draw('episode', 8));
  expect(draw('1')).not.toEqual(draw(1));
});

test('draws are uniform and normals have mean 0 and variance 1', () => {
  const random = Random.from('moments');
  const n = 50_000;
  const bins = new Array<number>(10).fill(0);
  let sum = 0;
  let squares = 0;
  for (let i = 0; i < n; i++) {
    const bin = random.below(10);
    bins[bin] = (bins[bin] ?? 0) + 1;
    const z = random.normal();
    sum += z;
    squares += z * z;
  }
  for (const count of bins) expect(Math.abs(count - n / 10)).toBeLessThan(4 * Math.sqrt(n * 0.1 * 0.9));
  expect(Math.abs(sum / n)).toBeLessThan(0.02);
  expect(Math.abs(squares / n - 1)).toBeLessThan(0.03);
});
