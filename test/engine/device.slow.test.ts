// A whole run on WebGPU over software Vulkan beside the CPU's: the same tasks, the same tokens, the same metrics, and the same again.

import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { PlayedUpdate, compareRuns } from '../training/compare-runs.ts';
import { hasVulkan, overVulkan } from './vulkan.ts';
import { playTiny } from './webgpu-run.ts';

const Answer = z.object({
  updates: z.array(PlayedUpdate),
  numbers: z.array(z.unknown()),
  weights: z.string(),
  counts: z.record(z.string(), z.number()),
});

describe.runIf(hasVulkan)('a run on WebGPU', () => {
  it('plays and learns what a run on the CPU does, and repeats itself', async () => {
    const twice = [overVulkan('webgpu-run.ts'), overVulkan('webgpu-run.ts')];
    const cpu = await playTiny('cpu');
    const [one, other] = z.tuple([Answer, Answer]).parse(await Promise.all(twice));
    const { tasks, tokens, worst } = compareRuns(cpu.updates, one.updates);
    expect(tasks).toBe(true);
    expect(tokens.all).toBeGreaterThan(100);
    expect(tokens.different).toBe(0);
    expect(worst.difference, worst.name).toBeLessThan(1e-3);
    expect(other.numbers).toEqual(one.numbers);
    expect(other.weights).toBe(one.weights);
    expect(one.counts['system/device.calls']).toBeGreaterThan(20);
  }, 3_600_000);
});
