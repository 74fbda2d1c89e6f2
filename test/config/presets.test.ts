// Every preset can be made ready: its world, its reading, its model and its algorithm fit together, and there are tasks at the
// level it starts from. (presets.slow.test.ts trains each of them.)

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startCurriculum } from '../../main/algorithm/curriculum.ts';
import { ModelRegistry } from '../../main/policy/model/files/registry.ts';
import { writeTinyModel } from '../policy/model/tiny-model.ts';
import { Random } from '../../main/base/random.ts';
import { loadPreset, openRun, presetIds } from '../catalog.ts';

// A tiny model stands for the language models that presets name.
const data = mkdtempSync(join(tmpdir(), 'astrolab-presets-'));
beforeAll(() => {
  writeTinyModel(data);
  const names = presetIds().map((id) => loadPreset(id).config.policy.model.name);
  for (const name of new Set(names)) if (name !== '') new ModelRegistry(data).add(data, name);
});
afterAll(() => rmSync(data, { recursive: true, force: true }));

const FEWER: Readonly<Record<string, object>> = { sokoban: { levels: 1000 }, frozenlake: { lakes: 1000 } };

test.each(presetIds())('%s opens, and has training tasks at its first level', (id) => {
  const { config } = loadPreset(id);
  const { world } = config;
  // Drawing 20,000 solvable levels or lakes takes seconds; 1000 are the same world.
  const settings = { ...world.settings, ...FEWER[world.name] };
  const { environment, layout, algorithm, codec } = openRun({ ...config, world: { ...world, settings } }, { dataFolder: data });
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

test('minimind-shop has none of the copying aids that small policies have, and fits into an hour', () => {
  const { config } = loadPreset('minimind-shop');
  expect(config.policy.kind).toBe('model'); // which has no marks, no pointer and no phrases
  const { codec } = openRun(config, { dataFolder: data });
  if (!('chat' in codec)) throw new Error('A language model reads a chat');
  expect(codec.prompt).toMatchObject({ lowerCase: true, emptyThought: false, thoughts: true, constrained: true });
  expect(config.evaluation).toMatchObject({ split: 'validation', finalTasks: 500 });
});
