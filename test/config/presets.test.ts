// Every preset can be made ready: its world, its reading, its model and its algorithm fit together, and there are tasks at the
// level it starts from. (presets.slow.test.ts trains each of them.)

import { expect, test } from 'vitest';
import { startCurriculum } from '../../main/algorithm/curriculum.ts';
import { Random } from '../../main/random.ts';
import { loadPreset, presetIds } from '../../main/config/presets.ts';
import { openRun } from '../../main/training/run-setup.ts';

test.each(presetIds())('%s opens, and has training tasks at its first level', (id) => {
  const { config } = loadPreset(id);
  const { world } = config;
  // Drawing 20,000 solvable levels takes ten seconds; 1000 are the same world.
  const settings = id === 'sokoban' ? { ...world.settings, levels: 1000 } : world.settings;
  const { environment, layout, algorithm, codec } = openRun({ ...config, world: { ...world, settings } });
  expect(layout.count).toBeGreaterThan(10_000);
  expect(layout.count).toBeLessThan(20_000_000);
  expect(algorithm.id).toBe(config.algorithm.id);
  expect(codec.prompt.contextLength).toBeGreaterThanOrEqual(config.policy.thoughts ? config.policy.thoughtTokens + 32 : 32);
  const { level } = startCurriculum(config.curriculum, environment.levels);
  const pool = Random.from('training-tasks', config.seed).shuffle(environment.tasks('train')).slice(0, config.training.tasks);
  expect(pool.filter((task) => task.level <= level).length).toBeGreaterThanOrEqual(4);
});

test('tinyzero-maths is weighted SFT with a curriculum of three levels, 25 updates each', () => {
  const { config } = loadPreset('tinyzero-maths');
  expect(config.algorithm).toMatchObject({ id: 'weighted-sft', clampAdvantage: 3, weightLow: 0.1, weightHigh: 5, klCoefficient: 0.02 });
  expect(config.curriculum).toMatchObject({ mode: 'updates', every: 25, start: 0 });
  expect(config.vstar).toMatchObject({ reward: 'binary', beta1: 0.5, samples: [8] });
  expect(openRun(config).environment.levels).toBe(3);
  expect(config.training.updates).toBeGreaterThan(2 * config.curriculum.every);
});
