// Branching and evaluating a chosen checkpoint from the command line, with a run that was really trained.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { trainSmall } from '../e2e/seeded.ts';

const root = join(import.meta.dirname, '..', '..');

let data: string;
let parent: number;

beforeAll(async () => {
  data = mkdtempSync(join(tmpdir(), 'astrolab-branch-')); // for all tests: a temporary folder of the helpers would end with the first
  parent = await trainSmall(data, 2);
}, 120_000);
afterAll(() => rmSync(data, { recursive: true, force: true }));

test('a run is branched from a checkpoint, evaluated at any, and shown with its lineage', () => {
  const lab = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, 'main', 'cli.ts'), ...args, '--data', data, '--json'], {
      encoding: 'utf8',
      env: { ...process.env, ELECTRON_RUN_AS_NODE: '1', NODE_NO_WARNINGS: '1' },
    });
    return { status, stderr, answer: JSON.parse(stdout === '' ? '{}' : stdout) };
  };
  const trained = lab('train', '--from', `${parent}@1`, '--set', 'training.updates=1', '--set', 'training.learningRate=0.0001');
  expect(trained.status, trained.stderr).toBe(0);
  expect(trained.answer).toMatchObject({ run: 2, state: 'done', updates: 1 });
  expect(lab('show', String(parent)).answer).toMatchObject({ branchedFrom: null, branches: [{ run: 2, update: 1 }] });
  expect(lab('show', '2').answer).toMatchObject({ branchedFrom: { run: parent, update: 1 }, branches: [] });
  expect(lab('runs').answer[0]).toMatchObject({ run: 2, branchedFrom: { run: parent, update: 1 } });

  const best: number = lab('show', String(parent)).answer.best.update;
  const evaluated = lab('eval', String(parent), '--checkpoint', 'best', '--tasks', '2');
  expect(evaluated.answer, evaluated.stderr).toMatchObject({ run: parent, update: best, tasks: 2 });
  const missing = lab('eval', String(parent), '--checkpoint', '77', '--tasks', '2');
  expect([missing.status, missing.answer]).toEqual([2, { error: expect.objectContaining({ hint: 'It has 0, 1, 2' }) }]);
  const shape = lab('train', '--from', `${parent}@1`, '--set', 'policy.width=64');
  expect([shape.status, shape.answer.error.message]).toEqual([2, expect.stringContaining('policy.width: A branch keeps the world')]);
  expect(lab('train', '--from', String(parent)).status).toBe(2);
}, 180_000);

test('the gradient of a run is measured at a checkpoint, alike each time, and nothing of the run changes', () => {
  const measured = () => {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [join(root, 'main', 'cli.ts'), 'gradients', String(parent), '--batches', '3', '--reach', '0.01', '--data', data, '--json'],
      { encoding: 'utf8', env: { ...process.env, ELECTRON_RUN_AS_NODE: '1', NODE_NO_WARNINGS: '1' } },
    );
    expect(status, `${stderr}${stdout}`).toBe(0);
    return JSON.parse(stdout);
  };
  const first = measured();
  expect(first).toMatchObject({ run: parent, update: 2, batches: 3, silent: 0 });
  expect(first.norm).toBeGreaterThanOrEqual(first.meanNorm);
  expect(first.noise).toBeGreaterThan(0);
  expect(Math.abs(first.cosine)).toBeLessThan(1);
  // signal² and noise add up to the mean square: |mean|² = signal² + noise / K.
  expect(first.signal + first.noise / 3).toBeCloseTo(first.meanNorm ** 2, 10);
  expect(measured()).toEqual(first);
}, 120_000);
