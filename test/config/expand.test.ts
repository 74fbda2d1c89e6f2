import { describe, expect, it } from 'vitest';
import { expand } from '../../main/config/expand.ts';
import { openStore } from '../store/helpers.ts';
import { newRun, parseConfig } from '../catalog.ts';
import { BUILT_IN } from '../../main/config/catalog.ts';

describe('a sweep', () => {
  const config = parseConfig({ name: 'probe', training: { updates: 5 } });

  it('makes every combination with every seed, and the seeds of one combination form a group', () => {
    const configs = expand(BUILT_IN, config, {
      seeds: [1, 2, 3],
      grid: { algorithm: ['astar-po', 'grpo'], 'training.learningRate': ['0.001', '0.002'] },
    });
    expect(configs.length).toBe(12);
    expect(configs.slice(0, 4).map(({ name, seed, algorithm, training }) => [name, seed, algorithm.id, training.learningRate])).toEqual([
      ['probe, algorithm astar-po, learningRate 0.001', 1, 'astar-po', 0.001],
      ['probe, algorithm astar-po, learningRate 0.001', 2, 'astar-po', 0.001],
      ['probe, algorithm astar-po, learningRate 0.001', 3, 'astar-po', 0.001],
      ['probe, algorithm astar-po, learningRate 0.002', 1, 'astar-po', 0.002],
    ]);
    const store = openStore();
    const runs = configs.map((one) => store.runs.create(newRun(one, null)));
    const groups = Map.groupBy(runs, ({ groupHash }) => groupHash);
    expect([...groups.values()].map((members) => members.map(({ seed }) => seed))).toEqual([
      [1, 2, 3],
      [1, 2, 3],
      [1, 2, 3],
      [1, 2, 3],
    ]);
    expect(new Set(runs.map(({ configHash }) => configHash)).size).toBe(12);
    expect(store.runs.configValues('training.learningRate').get(4)).toBe(0.002);
  });

  it('is refused as a whole when one value is wrong', () => {
    expect(() => expand(BUILT_IN, config, { seeds: [1], grid: { 'training.updates': ['5', '-5'] } })).toThrow('training.updates');
    expect(() => expand(BUILT_IN, config, { seeds: [1, 1], grid: {} })).toThrow('Every seed is named once');
    expect(() => expand(BUILT_IN, config, { seeds: [1], grid: { 'training.updates': [] } })).toThrow('no values');
    expect(() =>
      expand(BUILT_IN, config, { seeds: Array.from({ length: 600 }, (_, i) => i), grid: { 'training.batch': ['8', '16'] } }),
    ).toThrow('1200 runs');
  });
});
