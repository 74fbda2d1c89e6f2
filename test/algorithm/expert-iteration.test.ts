// Filtered cloning: the mean cross-entropy of the successes, and nothing of the failures.

import { expect, test } from 'vitest';
import { runLoss, shortEpisode } from './batch.ts';
import { algorithmOf } from '../catalog.ts';

const episodes = [shortEpisode('a', true, 0, [-1, -2]), shortEpisode('a', false, 0, [-0.5, -0.5]), shortEpisode('b', true, 0, [-3])];
const leaf = (...values: number[]): Float32Array => Float32Array.from(values);
const leaves = {
  logProbs: leaf(-1, -2, -0.5, -0.5, -3, -30),
  entropies: leaf(1, 1, 1, 1, 1, 0),
  values: new Float32Array(6),
  kl: new Float32Array(6),
};

test('the loss is the mean of −log π / length over the successes', async () => {
  const algorithm = algorithmOf({ id: 'expert-iteration' });
  const prepared = algorithm.prepare(episodes, { update: 0, updates: 1, reward: 'binary' });
  expect(prepared.keep).toEqual([true, false, true]);
  const { loss, gradients } = await runLoss(algorithm, episodes, prepared, leaves);
  expect(loss).toBeCloseTo((1.5 + 3) / 2, 5);
  expect([...gradients.logProbs]).toEqual([-0.25, -0.25, 0, 0, -0.5, 0].map((value) => expect.closeTo(value, 6)));
});

test('without a success nothing is learned', () => {
  const prepared = algorithmOf({ id: 'expert-iteration' }).prepare([episodes[1]!], { update: 0, updates: 1, reward: 'binary' });
  expect(prepared.keep).toEqual([false]);
});
