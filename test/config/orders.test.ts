// From what a user types to single runs: seeds, sweeps, and faults in words beside their field.

import { describe, expect, test } from 'vitest';
import { checkOrder, parseSeeds } from '../../main/config/orders.ts';
import { loadPreset } from '../catalog.ts';
import { BUILT_IN } from '../../main/config/catalog.ts';

const tiny = () => loadPreset('shop-tiny').config;

describe('an order', () => {
  test.each([
    ['1-3, 9', [1, 2, 3, 9]],
    ['5', [5]],
    ['2 2 2', [2]],
  ])('the seeds %s are %j', (text, seeds) => {
    expect(parseSeeds(text)).toEqual(seeds);
  });

  test.each([
    ['', 'At least one seed'],
    ['a', 'found “a”'],
    ['9-1', 'write 1-9'],
    ['1-5000', '5000 seeds'],
  ])('the seeds “%s” are refused with words: %s', (text, words) => {
    expect(parseSeeds(text)).toContain(words);
  });

  test('2 learning rates × 3 seeds are 6 runs, named by their value', () => {
    const { runs, issues } = checkOrder(BUILT_IN, {
      config: tiny(),
      seeds: '1-3',
      sweep: [{ key: 'training.learningRate', values: '0.001, 0.01' }],
    });
    expect(issues).toEqual([]);
    expect(runs.map(({ seed, training }) => [seed, training.learningRate])).toEqual([
      [1, 0.001],
      [2, 0.001],
      [3, 0.001],
      [1, 0.01],
      [2, 0.01],
      [3, 0.01],
    ]);
    expect(new Set(runs.map(({ name }) => name)).size).toBe(2);
  });

  test('a fault stands beside its field and says what is expected', () => {
    const config = tiny();
    const wrong = {
      ...config,
      training: { ...config.training, learningRate: 7, updates: 'x' },
      world: { name: 'shop', settings: { maxSteps: 0 } },
    };
    expect(checkOrder(BUILT_IN, { config: wrong, seeds: '1', sweep: [] }).issues).toEqual([
      { key: 'training.updates', message: 'Enter a number' },
      { key: 'training.learningRate', message: 'Enter at most 1' },
    ]);
    const settings = checkOrder(BUILT_IN, {
      config: { ...config, world: { name: 'shop', settings: { maxSteps: 0 } } },
      seeds: '1',
      sweep: [],
    });
    expect(settings.issues).toEqual([{ key: 'world.settings.maxSteps', message: 'Enter at least 1' }]);
    const sweep = checkOrder(BUILT_IN, { config, seeds: '1', sweep: [{ key: 'training.learnRate', values: '1' }] });
    expect(sweep.issues[0]?.message).toContain('Nearest: training.learningRate');
  });
});
