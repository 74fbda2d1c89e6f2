// A whole run and a language model on WebGPU over software Vulkan beside the CPU's: the same tasks, the same tokens, the same metrics, and the same again.

import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { builtInAlgorithms } from '../../main/algorithm/registry.ts';
import { PlayedUpdate, compareRuns } from '../training/compare-runs.ts';
import { GraphsMade, hasVulkan, overVulkan } from './vulkan.ts';
import { modelTrace } from './webgpu-model.ts';
import { playTiny } from './webgpu-run.ts';
import { stepsApart } from './webgpu-steps.ts';

const Answer = z.object({
  updates: z.array(PlayedUpdate),
  numbers: z.array(z.unknown()),
  weights: z.string(),
  counts: z.record(z.string(), z.number()),
});

describe.runIf(hasVulkan)('a run on WebGPU', () => {
  it('gives the losses, gradient norms and weights of the CPU for ten steps', async () => {
    const { losses, relative, weights } = await stepsApart(10);
    expect(losses[9]).toBeLessThan(0.7 * (losses[0] ?? 0));
    expect(relative).toBeLessThan(1e-4);
    expect(weights).toBeLessThan(1e-4);
  }, 300_000);

  it('has everything that its graphs need, for every algorithm: nothing goes through the CPU', async () => {
    const ids = builtInAlgorithms.map(({ id }) => id);
    const { made } = GraphsMade.parse(await overVulkan('webgpu-graphs.ts', ...ids));
    expect(made.filter((name) => name.startsWith('step '))).toEqual(ids.map((id) => `step ${id}`));
  }, 600_000);

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

describe.runIf(hasVulkan)('a language model on WebGPU', () => {
  it('samples, scores and trains a language model with the numbers of the CPU', async () => {
    const child = overVulkan('webgpu-model.ts');
    const cpu = await modelTrace({ threads: 1 });
    const numbers = z.array(z.number());
    const trace = z.object({ tokens: z.array(numbers), logProbs: numbers, losses: numbers, norms: numbers });
    const gpu = trace.parse(await child);
    expect(gpu.tokens).toEqual(cpu.tokens);
    expect(cpu.logProbs).toHaveLength(12);
    for (const [i, number] of cpu.logProbs.entries()) expect(gpu.logProbs[i]).toBeCloseTo(number, 4);
    expect(cpu.losses[2]).toBeLessThan(cpu.losses[0] ?? 0);
    for (const [i, number] of [...cpu.losses, ...cpu.norms].entries())
      expect(Math.abs(([...gpu.losses, ...gpu.norms][i] ?? 0) / number - 1)).toBeLessThan(1e-3);
  }, 600_000);
});
