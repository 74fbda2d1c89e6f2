// Every preset through the real command line: its world, model, algorithm, curriculum and schedules, with a reference of a
// few cloning steps and two updates. A preset that names a setting which training cannot carry out fails here.

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ModelRegistry } from '../../main/policy/model/files/registry.ts';
import { writeTinyModel } from '../policy/model/tiny-model.ts';
import { Store } from '../../main/store/store.ts';
import { loadPreset, presetIds } from '../catalog.ts';

const data = mkdtempSync(join(tmpdir(), 'astrolab-presets-'));
afterAll(() => rmSync(data, { recursive: true, force: true }));

/** A tiny model stands for the language models that presets name; its tokens are more. */
beforeAll(() => {
  const folder = join(data, 'tiny');
  mkdirSync(folder);
  writeTinyModel(folder, { max_position_embeddings: 4096 });
  for (const name of new Set(presetIds().map(modelOf))) if (name !== '') new ModelRegistry(data).add(folder, name);
});
const modelOf = (id: string): string => loadPreset(id).config.policy.model.name;
const FEW = ['training.tasks=8', 'training.batch=8', 'world.settings.maxSteps=4'];
const TINY = [...FEW, 'policy.contextLength=512', 'policy.model.answerTokens=64'];
/** Complete pages. */
const TINY_PAGES = [...FEW, 'policy.contextLength=2112', 'policy.model.answerTokens=160'];
const tiny = (id: string): readonly string[] => (modelOf(id) === '' ? [] : id === 'minimind-webshop' ? TINY_PAGES : TINY);

const MINIATURE = [
  'reference.demonstrations=40',
  'reference.steps=3',
  'reference.checkEvery=3',
  'reference.checkTasks=2',
  'vstar.samples=2',
  'training.batch=16',
  'training.tasks=150',
  'training.updates=2',
  'evaluation.every=1',
  'evaluation.tasks=4',
  'evaluation.finalTasks=4',
];

function train(preset: string, changes: readonly string[]): Record<string, number[]> {
  const args = ['train', '--preset', preset, '--data', data, '--json', ...changes.flatMap((change) => ['--set', change])];
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(import.meta.dirname, '..', '..', 'main', 'commands', 'cli.ts'), ...args],
    {
      encoding: 'utf8',
      env: { ...process.env, ELECTRON_RUN_AS_NODE: '1', NODE_NO_WARNINGS: '1' },
    },
  );
  expect(status, stderr).toBe(0);
  const { run, state, evaluation } = JSON.parse(stdout);
  expect([state, evaluation.split, evaluation.success.n]).toEqual(['done', 'test', 4]);
  const store = Store.read(data);
  try {
    const series = store.metrics.many(run, store.metrics.names(run));
    return Object.fromEntries(Object.entries(series).map(([name, { values }]) => [name, [...values]]));
  } finally {
    store.close();
  }
}

test.each(presetIds())('%s trains two updates with finite numbers', (id) => {
  const metrics = train(id, [...MINIATURE, ...tiny(id)]);
  expect(metrics.learningRate).toHaveLength(2);
  for (const [name, values] of Object.entries(metrics)) {
    for (const value of values) expect(Number.isFinite(value), `${name} of ${id}`).toBe(true);
  }
  const { curriculum } = loadPreset(id).config;
  const level = curriculum.mode === 'off' ? metrics['rollout.level']?.[0] : curriculum.start;
  expect(metrics['rollout.level']).toEqual([level, level]);
});

test('tinyzero-maths imitates with weights that are never negative, one level up at every change of level', () => {
  const metrics = train('tinyzero-maths', [...MINIATURE, 'training.updates=6', 'curriculum.every=2', 'evaluation.every=0']);
  expect(metrics['rollout.level']).toEqual([0, 0, 1, 1, 2, 2]);
  expect(metrics['weight.mean']).toHaveLength(6);
  for (const weight of metrics['weight.min'] ?? []) expect(weight).toBeGreaterThanOrEqual(0.1 - 1e-6);
  for (const weight of metrics['weight.max'] ?? []) expect(weight).toBeLessThanOrEqual(5);
});
