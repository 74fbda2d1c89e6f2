// OAPL: A*PO's regression on V of the group just drawn.

import { expect, test } from 'vitest';
import { smoothMaximum } from '../../main/algorithm/vstar.ts';
import { runLoss, shortEpisode } from './batch.ts';
import { algorithmOf } from '../catalog.ts';

test('the loss is the squared distance of β · log-ratio from r − V of the group', async () => {
  const episodes = [
    shortEpisode('a', true, 0, [-1, -2], [-1.5, -2]),
    shortEpisode('a', false, 0, [-0.5, -1], [-0.4, -1.2]),
    shortEpisode('b', true, 0, [-3, -1], [-2, -1]),
    shortEpisode('b', true, 0, [-1, -1], [-1, -1]),
  ];
  const beta = 0.2;
  const algorithm = algorithmOf({ id: 'oapl', beta, entropyBonus: 0 });
  expect(algorithm.needs).toMatchObject({ referenceLag: 10, vstar: false, reference: 'tokens' });
  const prepared = algorithm.prepare(episodes, { update: 0, updates: 1, reward: 'binary' });
  const logProbs = Float32Array.of(-1, -2, -0.5, -1, -3, -1, -1, -1);
  const zeros = new Float32Array(8);
  const { loss, gradients } = await runLoss(algorithm, episodes, prepared, { logProbs, entropies: zeros, values: zeros, kl: zeros });
  const value = smoothMaximum([1, 0], beta);
  const residuals = [beta * 0.5 - (1 - value), beta * 0.1 - (0 - value), beta * -1, 0];
  expect(loss).toBeCloseTo(residuals.reduce((sum, one) => sum + one * one, 0) / 4, 5);
  expect([...gradients.logProbs]).toEqual(residuals.flatMap((one) => Array(2).fill(expect.closeTo((2 * one * beta) / 4, 5))));
});
