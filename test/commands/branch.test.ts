// Branching and evaluating a chosen checkpoint from the command line, with a run that was really trained.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { trainSmall } from '../e2e/seeded.ts';
import { lab } from './lab.ts';

let data: string;
let parent: number;

beforeAll(async () => {
  data = mkdtempSync(join(tmpdir(), 'astrolab-branch-')); // for all tests: a temporary folder of the helpers would end with the first
  parent = await trainSmall(data, 2);
}, 120_000);
afterAll(() => rmSync(data, { recursive: true, force: true }));

/** With its answer as data. */
async function ask(...args: string[]) {
  const { code, out, err } = await lab(...args, '--data', data, '--json');
  return { code, err, answer: JSON.parse(out === '' ? '{}' : out) };
}

test('a run is branched from a checkpoint, evaluated at any, and shown with its lineage', async () => {
  const trained = await ask('train', '--from', `${parent}@1`, '--set', 'training.updates=1', '--set', 'training.learningRate=0.0001');
  expect(trained.code, trained.err).toBe(0);
  expect(trained.answer).toMatchObject({ run: 2, state: 'done', updates: 1 });
  expect((await ask('show', String(parent))).answer).toMatchObject({ branchedFrom: null, branches: [{ run: 2, update: 1 }] });
  expect((await ask('show', '2')).answer).toMatchObject({ branchedFrom: { run: parent, update: 1 }, branches: [] });
  expect((await ask('runs')).answer[0]).toMatchObject({ run: 2, branchedFrom: { run: parent, update: 1 } });

  const best: number = (await ask('show', String(parent))).answer.best.update;
  const evaluated = await ask('eval', String(parent), '--checkpoint', 'best', '--tasks', '2');
  expect(evaluated.answer, evaluated.err).toMatchObject({ run: parent, update: best, tasks: 2 });
  const drawn = await ask('eval', String(parent), '--tasks', '2', '--temperature', '1', '--draws', '3');
  expect(drawn.answer, drawn.err).toMatchObject({ tasks: 2, success: { n: 2 }, againstReference: { n: 2, draws: 3 } });
  const greedy = await ask('eval', String(parent), '--tasks', '2', '--draws', '3');
  expect([greedy.code, greedy.answer.error.message]).toEqual([2, expect.stringContaining('--draws needs something to draw')]);
  const missing = await ask('eval', String(parent), '--checkpoint', '77', '--tasks', '2');
  expect([missing.code, missing.answer]).toEqual([2, { error: expect.objectContaining({ hint: 'It has 0, 1, 2' }) }]);
  const shape = await ask('train', '--from', `${parent}@1`, '--set', 'policy.width=64');
  expect([shape.code, shape.answer.error.message]).toEqual([2, expect.stringContaining('policy.width: A branch keeps the world')]);
  expect((await ask('train', '--from', String(parent))).code).toBe(2);
}, 180_000);

test('the gradient of a run is measured at a checkpoint, alike each time, and nothing of the run changes', async () => {
  const measured = async () => {
    const { code, err, answer } = await ask('gradients', String(parent), '--batches', '3', '--reach', '0.01');
    expect(code, `${err}${JSON.stringify(answer)}`).toBe(0);
    return answer;
  };
  const first = await measured();
  expect(first).toMatchObject({ run: parent, update: 2, batches: 3, silent: 0 });
  expect(first.norm).toBeGreaterThanOrEqual(first.meanNorm);
  expect(first.noise).toBeGreaterThan(0);
  expect(Math.abs(first.cosine)).toBeLessThan(1);
  // signal² and noise add up to the mean square: |mean|² = signal² + noise / K.
  expect(first.signal + first.noise / 3).toBeCloseTo(first.meanNorm ** 2, 10);
  expect(await measured()).toEqual(first);
}, 120_000);
