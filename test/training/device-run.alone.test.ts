// A whole run where the policy is trained, sampled and scored on a device. Without a graphics card the device's code path runs on the CPU:
// its graphs as they are spelled for a device, its buffers, its draws. (test/engine/device.slow.test.ts does the same over software Vulkan, device-run.slow.test.ts
// with more of a run.)

import { describe, expect, test, vi } from 'vitest';
import { compareRuns, playedUpdates } from './compare-runs.ts';
import { deviceHosts, metricsOf } from './device-host.ts';
import type { TestHost } from './host.ts';

vi.mock('../../main/engine/gpu/device.ts', async (original) => ({
  ...(await original<typeof import('../../main/engine/gpu/device.ts')>()),
  requireDevice: async (id: string) => (id === 'cpu' ? {} : { target: 'gpu' }),
}));

const play = deviceHosts();

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

  test('equals itself when repeated', async () => {
    const again = await play({ device: 'webgpu' });
    expect(again.numbers()).toEqual(first?.numbers());
    expect(again.lastWeights()).toBe(first?.lastWeights());
  });
});
