// The longer half of the tests of language models in runs: every algorithm, precisions, all weights, and a killed process.

import { describe, expect, test } from 'vitest';
import { builtInAlgorithms } from '../../main/algorithm/registry.ts';
import { ModelRegistry } from '../../main/policy/model/files/registry.ts';
import { train } from '../../main/training/train.ts';
import { Killed, smallest } from './host.ts';
import { model, modelHosts } from './model-host.ts';
import { openRun } from '../catalog.ts';

const host = modelHosts();

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

  test.each(builtInAlgorithms.map(({ id }) => id))(
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
