// The longer half of the tests of language models in runs: every algorithm, precisions, all weights, and a killed process.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { algorithms } from '../../main/algorithm/registry.ts';
import { ModelRegistry } from '../../main/policy/model/registry.ts';
import { openRun } from '../../main/training/run-setup.ts';
import { train } from '../../main/training/train.ts';
import { writeTinyModel } from '../policy/model/tiny-model.ts';
import { Killed, TestHost, smallest } from './host.ts';

const model = (changes: Record<string, unknown> = {}, policy: Record<string, unknown> = {}) =>
  smallest({
    policy: { kind: 'model', contextLength: 512, model: { name: 'tiny', rank: 4, alpha: 8, answerTokens: 64, ...changes }, ...policy },
    reference: { demonstrations: 8, batch: 4, steps: 2, warmup: 1, checkEvery: 2, checkTasks: 2 },
    training: { updates: 2, batch: 4, tasks: 4, warmup: 1, microBatch: 4096 },
    evaluation: { every: 2, tasks: 2, finalTasks: 2 },
    checkpoints: { every: 1 },
  });

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'astrolab-tiny-'));
  writeTinyModel(folder);
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
  TestHost.forgetReferences();
});

const hosts: TestHost[] = [];
afterAll(() => {
  for (const host of hosts) host.remove();
});
function host(): TestHost {
  const made = new TestHost();
  new ModelRegistry(made.dataFolder).add(folder, 'tiny');
  hosts.push(made);
  return made;
}

describe('a run with a language model', () => {
  test('killed at any report, it resumes to the same numbers and weights', async () => {
    const undisturbed = host();
    const config = model({}, { thoughts: true, thoughtTokens: 4 });
    expect(await train(config, undisturbed)).toBe('done');
    const killed = host();
    killed.dieAfter = undisturbed.reports.findIndex(({ type }) => type === 'checkpoint') + 2;
    await expect(train(config, killed)).rejects.toThrow(Killed);
    killed.rewind();
    expect(await train(config, killed)).toBe('done');
    expect(killed.lastWeights()).toBe(undisturbed.lastWeights());
    expect(killed.numbers()).toEqual(undisturbed.numbers());
  }, 120_000);

  test.each(algorithms.map(({ id }) => id))(
    'trains with %s',
    async (id) => {
      const config = { ...model(), algorithm: smallest({ algorithm: { id } }).algorithm };
      const algorithm = 'klEstimator' in config.algorithm ? { ...config.algorithm, klEstimator: 'k3' } : config.algorithm;
      const one = host();
      expect(await train(smallest({ ...config, algorithm, training: { ...config.training, updates: 1 } }), one)).toBe('done');
      expect(one.reports.filter(({ type }) => type === 'update')).toHaveLength(1);
    },
    120_000,
  );

  test.each(['int4', 'f16'])(
    'trains on %s weights',
    async (precision) => {
      const one = host();
      const config = model({ precision });
      expect(await train(smallest({ ...config, training: { ...config.training, updates: 1 } }), one)).toBe('done');
      const [update] = one.reports.flatMap((report) => (report.type === 'update' ? [report.metrics] : []));
      expect('rollout.samplingGap' in (update ?? {})).toBe(precision === 'int4');
    },
    120_000,
  );

  test('trains every weight of a small model, and its reference is the model as it was', async () => {
    const one = host();
    const config = model({ train: 'all' });
    expect(await train(smallest({ ...config, training: { ...config.training, updates: 1 } }), one)).toBe('done');
    const { layout, referenceLayout } = openRun(config, { dataFolder: one.dataFolder });
    expect(referenceLayout.count).toBe(layout.count);
    expect(layout.count).toBe(new ModelRegistry(one.dataFolder).find('tiny').parameters);
  }, 120_000);
});
