// The draw's arithmetic against the plain one.

import { expect, it } from 'vitest';
import { Softmax, GROUP } from '../../main/policy/sampling/softmax.ts';
import { Random } from '../../main/base/random.ts';

/** The weights of these scores; and the sums as plain loops make them. */
function weighed(scores: readonly number[]) {
  const softmax = new Softmax(40);
  softmax.scores.set(scores);
  const found = softmax.run(scores.length);
  const most = Math.max(...scores);
  const plain = scores.map((score) => Math.exp(score - most));
  const total = plain.reduce((sum, weight) => sum + weight, 0);
  const moment = plain.reduce((sum, weight, i) => (weight > 0 ? sum + weight * (scores[i] ?? 0) : sum), 0);
  return { found, weights: [...softmax.weights.subarray(0, scores.length)], plain: { weights: plain, most, total, moment } };
}

it('gives weights and sums to the last digits, for even and odd numbers of scores of any size', () => {
  const random = Random.from('scores');
  for (let count = 1; count <= 40; count++) {
    for (const spread of [0.01, 1, 30, 400]) {
      const { found, weights, plain } = weighed(Array.from({ length: count }, () => spread * random.normal()));
      expect(found.most).toBe(plain.most);
      expect(Math.abs(found.total / plain.total - 1)).toBeLessThan(1e-14);
      expect(Math.abs(found.moment - plain.moment)).toBeLessThan(1e-13 * count * (1 + Math.abs(plain.most)));
      for (const [i, weight] of weights.entries()) {
        const expected = plain.weights[i] ?? Number.NaN;
        expect(Math.abs(weight - expected)).toBeLessThanOrEqual(expected < 1e-300 ? 1e-300 : 1e-15 * expected);
      }
    }
  }
});

it('knows the largest weight of every group, the last one filled up with nothing', () => {
  const random = Random.from('groups');
  const softmax = new Softmax(40);
  for (const count of [40, 17, 8, 3]) {
    for (let i = 0; i < count; i++) softmax.scores[i] = random.normal();
    softmax.run(count);
    for (let start = 0; start < count; start += GROUP) {
      const largest = Math.max(...softmax.weights.subarray(start, Math.min(count, start + GROUP)));
      expect([softmax.largest[(2 * start) / GROUP], softmax.largest[(2 * start) / GROUP + 1]]).toEqual([largest, largest]);
    }
  }
});

it('gives a score of −∞ no weight, and lets what is no number show', () => {
  const { weights, found } = weighed([1, Number.NEGATIVE_INFINITY, 1]);
  expect(weights).toEqual([1, 0, 1]);
  expect(found).toEqual({ most: 1, total: 2, moment: 2 });
  for (const damage of [Number.NaN, Number.POSITIVE_INFINITY]) expect(weighed([1, damage, 2, 3]).found.total).toBeNaN();
  expect(weighed([Number.NEGATIVE_INFINITY]).found.total).toBeNaN();
});
