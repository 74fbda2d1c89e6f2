// More of what device-run.test.ts does: a critic, several optimizer steps an update, thoughts, and how much an update of shop-demo exchanges.

import { expect, test, vi } from 'vitest';
import { compareRuns, playedUpdates } from './compare-runs.ts';
import { deviceHosts, metricsOf } from './device-host.ts';
import { smallest } from './host.ts';

vi.mock('../../main/engine/gpu/device.ts', async (original) => ({
  ...(await original<typeof import('../../main/engine/gpu/device.ts')>()),
  requireDevice: async (id: string) => (id === 'cpu' ? {} : { target: 'gpu' }),
}));

const play = deviceHosts();

test('draws the same tasks and tokens as on the CPU with a critic, several optimizer steps an update and thoughts', async () => {
  const changes = {
    algorithm: { id: 'ppo', bilevel: true, minibatches: 4, epochs: 2 },
    policy: { ...smallest().policy, thoughts: true, thoughtTokens: 12 },
    training: { ...smallest().training, updates: 3, reward: 'shaped' },
  };
  const { tasks, tokens, worst } = compareRuns(
    playedUpdates(await play(changes)),
    playedUpdates(await play({ ...changes, device: 'webgpu' })),
  );
  expect(tasks).toBe(true);
  expect(tokens.different).toBe(0);
  expect(tokens.all).toBeGreaterThan(200);
  expect(worst.difference, worst.name).toBeLessThan(1e-3);
});

/** The model, the batch and the algorithm of shop-demo, hardly trained: its episodes are longer than those of a policy that has learned. */
const DEMO = {
  device: 'webgpu',
  algorithm: { id: 'astar-po', beta2: 0.03 },
  policy: {},
  reference: { demonstrations: 96, batch: 32, steps: 4, warmup: 2, checkEvery: 4, checkTasks: 4 },
  vstar: { samples: [1] },
  training: { updates: 2, batch: 96, tasks: 48, warmup: 1 },
  evaluation: { every: 0, tasks: 4, finalTasks: 0 },
  checkpoints: { every: 0 },
};

test('an update of shop-demo exchanges at most 1% of the size of the weights, and 200 bytes for every token that is drawn', async () => {
  const metrics = metricsOf(await play(DEMO)).at(-1) ?? {}; // the first update takes the weights there
  expect(metrics['update.tokens']).toBeGreaterThan(500);
  expect(metrics['system/device.learning']).toBeGreaterThan(0.1);
  expect(metrics['system/device.learning']).toBeLessThan(1);
  expect(metrics['system/device.perToken']).toBeGreaterThan(48);
  expect(metrics['system/device.perToken']).toBeLessThan(200);
});
