// The memory of a run with a language model is planned before it starts: a run that would not fit is adapted or refused. That a process takes
// what was planned: memory-plan.slow.test.ts.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ConfigError } from '../../main/config/config.ts';
import { checkTogether, fitMemory, memoryOf } from '../../main/training/batching/fit-memory.ts';
import { USABLE } from '../../main/training/batching/memory-plan.ts';
import { planText } from '../../main/training/batching/memory-text.ts';
import { networkOf } from '../../main/policy/transformer/network.ts';
import { model, modelHosts } from './model-host.ts';
import { smallest } from './host.ts';
import { openRun } from '../catalog.ts';
import { BUILT_IN } from '../../main/config/catalog.ts';

const host = modelHosts();
test('what does not fit gets smaller micro-batches, then recomputation, and is refused in the end', () => {
  const { dataFolder } = host();
  const planned = (microBatch: number, recompute: boolean) =>
    smallest({ ...model(), training: { ...model().training, microBatch, recompute } });
  const needed = (microBatch: number, recompute: boolean): number =>
    fitMemory(BUILT_IN, planned(microBatch, recompute), dataFolder, 64e9).plan?.needed ?? Number.NaN;
  const config = planned(8192, false);
  /** With so much memory that a run may use. */
  const fit = (usable: number) => fitMemory(BUILT_IN, config, dataFolder, usable / USABLE);

  const roomy = fit(needed(8192, false) + 1);
  expect([roomy.changes, roomy.config]).toEqual([[], config]);
  expect(planText(roomy)).toMatch(/^Memory: .* needed, .* free \(weights .*, activations .*\)$/);
  expect(fit(needed(8192, false) - 1).changes).toEqual(['training.microBatch=4096']);
  const smallestBatch = fit(needed(512, false) + 1);
  expect(smallestBatch.changes).toEqual(['training.microBatch=512']);
  expect(smallestBatch.config.training).toEqual({ ...config.training, microBatch: 512 });

  expect(needed(512, true)).toBeLessThan(needed(512, false));
  expect(fit(needed(512, false) - 1).changes).toContain('training.recompute=true');
  expect(() => fit(needed(512, true) - 1)).toThrow(ConfigError);
  expect(() => fit(needed(512, true) - 1)).toThrow(/needs .* of memory even with .* MB are free/);
});

test('an adapter that is missing or of another shape is refused before a run begins', () => {
  const { dataFolder } = host();
  const start = (adapter: string, changes: Record<string, unknown> = {}) =>
    fitMemory(BUILT_IN, model({ adapter, ...changes }), dataFolder, 64e9);
  const folder = join(dataFolder, 'adapter');
  expect(() => start(folder)).toThrow(/^policy\.model\.adapter: .*adapter has no adapter_config\.json/);
  mkdirSync(folder);
  const settings = join(folder, 'adapter_config.json');
  writeFileSync(settings, '{ "r": 4,');
  expect(() => start(folder)).toThrow(/^policy\.model\.adapter: /);
  writeFileSync(settings, JSON.stringify({ peft_type: 'LORA', r: 4, lora_alpha: 8, target_modules: 'all-linear' }));
  expect(start(folder).changes).toEqual([]);
  expect(() => start(folder, { rank: 8 })).toThrow(/expected rank 8, alpha 8, .*found rank 4, alpha 8, .*set policy\.model\.rank/);
  expect(() => start(folder, { alpha: 16 })).toThrow(/expected rank 4, alpha 16/);
  expect(start(join(dataFolder, 'nowhere'), { train: 'all' }).changes).toEqual([]); // all weights: no adapter is read
});

test('parts grow with what they are made of', () => {
  const { dataFolder } = host();
  const parts = (changes: Record<string, unknown>, policy: Record<string, unknown> = {}) => {
    const { plan } = fitMemory(BUILT_IN, model(changes, policy), dataFolder, 64e9);
    if (!plan) throw new Error('There is no plan');
    return plan.parts;
  };
  const usual = parts({});
  const { plan } = fitMemory(BUILT_IN, model(), dataFolder, 64e9);
  expect(plan?.needed).toBe(Object.values(usual).reduce((sum, bytes) => sum + bytes, 0));
  expect(parts({ rank: 8 }).optimizer).toBeCloseTo(2 * usual.optimizer, 0);
  expect(parts({ precision: 'f16' }).weights).toBeLessThan(0.6 * usual.weights);
  const [int8, int4] = [parts({ precision: 'int8' }).weights, parts({ precision: 'int4' }).weights];
  expect(int4).toBeLessThan(int8);
  // As many bytes as the file has that is really mapped.
  const { model: opened } = openRun(model({ precision: 'int4' }), { dataFolder });
  expect(int4).toBe(networkOf(opened).mappedBytes);
  expect(parts({}, { contextLength: 256 }).cache).toBeCloseTo(usual.cache / 2, 0);
  expect(parts({ train: 'all' }).trained).toBeGreaterThan(usual.weights);
  expect(fitMemory(BUILT_IN, smallest({}), dataFolder, 1).plan).toBe(null); // small policies have a setting
});

test('runs side by side are refused where they would need more than is free; the weights of a model count once', () => {
  const { dataFolder } = host();
  const configs = [1, 2, 3].map((seed) => ({ ...model(), seed }));
  const plan = memoryOf(BUILT_IN, model(), dataFolder);
  if (!plan) throw new Error('There is no plan');
  const two = 2 * plan.needed - plan.parts.weights;
  checkTogether(BUILT_IN, configs, dataFolder, 2, (two + 1) / USABLE);
  expect(() => checkTogether(BUILT_IN, configs, dataFolder, 2, (two - 1) / USABLE)).toThrow(
    /^2 runs side by side would need .* MB are free\. .*--jobs/,
  );
  checkTogether(BUILT_IN, configs, dataFolder, 1, (plan.needed + 1) / USABLE);
  checkTogether(BUILT_IN, [smallest({})], dataFolder, 4, 1);
});
