// A whole run where the policy is trained, sampled and scored on a device. Without a graphics card the device's code path runs on the CPU:
// its graphs as they are spelled for a device, its buffers, its draws. (test/engine/device.slow.test.ts does the same over software Vulkan.)

import { afterAll, describe, expect, test, vi } from 'vitest';
import { train } from '../../main/training/train.ts';
import { compareRuns, playedUpdates } from './compare-runs.ts';
import { TestHost, smallest } from './host.ts';

vi.mock('../../main/engine/device.ts', async (original) => ({
  ...(await original<typeof import('../../main/engine/device.ts')>()),
  requireDevice: async (id: string) => (id === 'cpu' ? {} : { target: 'gpu' }),
}));

const hosts: TestHost[] = [];
afterAll(() => {
  for (const host of hosts.splice(0)) host.remove();
  TestHost.forgetReferences();
});

async function play(changes: Record<string, unknown>): Promise<TestHost> {
  TestHost.forgetReferences(); // each clones its own
  const host = new TestHost();
  hosts.push(host);
  expect(await train(smallest(changes), host)).toBe('done');
  return host;
}

const metricsOf = ({ reports }: TestHost) => reports.flatMap((report) => (report.type === 'update' ? [report.metrics] : []));

describe('a run on a device', () => {
  let first: TestHost | undefined;

  test('draws the same tasks and tokens as on the CPU and has its metrics', async () => {
    const cpu = await play({});
    first = await play({ device: 'webgpu' });
    const { tasks, tokens, worst } = compareRuns(playedUpdates(cpu), playedUpdates(first));
    expect(tasks).toBe(true);
    expect(tokens.different).toBe(0);
    expect(tokens.all).toBeGreaterThan(100);
    expect(worst.difference, worst.name).toBeLessThan(1e-3);
    for (const metrics of metricsOf(first)) {
      const { 'system/device.calls': calls = 0, 'system/device.up': up = 0, 'system/device.down': down = 0 } = metrics;
      expect(calls).toBeGreaterThan(20);
      expect(up).toBeGreaterThan(0);
      // One report per optimizer step, log-probabilities of the reference, and what was drawn: no weights, no logits.
      expect(1e6 * down).toBeLessThan(1000 * calls);
    }
    for (const metrics of metricsOf(cpu)) expect(metrics).not.toHaveProperty('system/device.calls');
  });

  test('does the same with a critic, several optimizer steps an update and thoughts', async () => {
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

  test('equals itself when repeated', async () => {
    const again = await play({ device: 'webgpu' });
    expect(again.numbers()).toEqual(first?.numbers());
    expect(again.lastWeights()).toBe(first?.lastWeights());
  });
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
