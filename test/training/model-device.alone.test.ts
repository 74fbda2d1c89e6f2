// A language model trained, sampled and scored on a device. Without a graphics card its graphs are those of a device, run by the CPU;
// test/engine/device.slow.test.ts runs them over software Vulkan.

import { expect, test, vi } from 'vitest';
import { train } from '../../main/training/train.ts';
import { compareRuns, playedUpdates } from './compare-runs.ts';
import { TestHost } from './host.ts';
import { model, modelHosts } from './model-host.ts';

vi.mock('../../main/engine/gpu/device.ts', async (original) => ({
  ...(await original<typeof import('../../main/engine/gpu/device.ts')>()),
  requireDevice: async (id: string) => (id === 'cpu' ? {} : { target: 'gpu' }),
}));

const host = modelHosts();

async function play(others: Record<string, unknown>, changes: Record<string, unknown> = {}): Promise<TestHost> {
  TestHost.forgetReferences(); // each clones its own
  const made = host();
  expect(await train(model(changes, { contextLength: 256 }, others), made)).toBe('done');
  return made;
}

test('a language model on a device draws the tokens of the CPU and has its metrics; its weights are sent once for policy and reference', async () => {
  const cpu = await play({});
  const device = await play({ device: 'webgpu' });
  const { tasks, tokens, worst } = compareRuns(playedUpdates(cpu), playedUpdates(device));
  expect(tasks).toBe(true);
  expect(tokens.different).toBe(0);
  expect(tokens.all).toBeGreaterThan(50);
  expect(worst.difference, worst.name).toBeLessThan(1e-3);
  const [first = {}, last = {}] = device.reports.flatMap((report) => (report.type === 'update' ? [report.metrics] : []));
  expect(last['system/device.calls']).toBeGreaterThan(10);
  // The model itself (0.2 MB) went there before the first update, and never again; no logits come back.
  expect((first['system/device.up'] ?? 9) + (last['system/device.up'] ?? 9)).toBeLessThan(0.2);
  expect(last['system/device.perToken']).toBeLessThan(500); // four episodes in eight rows
}, 600_000);
