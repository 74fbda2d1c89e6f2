// The command line as people script it: one JSON document on stdout, exit codes that mean something.

import { expect, test } from 'vitest';
import type { EvaluationResult } from '../../main/evaluation/evaluation-report.ts';
import { openStore, temporaryFolder } from '../store/helpers.ts';
import { newRun, someEvaluation } from '../store/samples.ts';
import { lab } from './lab.ts';

test('lab eval answers with success, return, steps, categories and failures', async () => {
  const { code, out, err } = await lab('eval', '--world', 'shop', '--agent', 'oracle', '--tasks', '40', '--json');
  expect(code, out + err).toBe(0);
  const answer = JSON.parse(out);
  expect(answer).toMatchObject({ agent: 'oracle', world: 'shop', split: 'test', tasks: 40, success: { k: 40, n: 40, rate: 1, high: 1 } });
  expect(answer.success.low).toBeCloseTo(0.9124, 4);
  expect(Object.keys(answer)).toEqual(expect.arrayContaining(['return', 'steps', 'categories', 'tiers', 'failures']));
});

test('lab eval --agent all puts the baselines in one table', async () => {
  const { out } = await lab('eval', '--world', 'shop', '--agent', 'all', '--tasks', '20');
  for (const agent of ['random', 'blind', 'heuristic', 'oracle']) expect(out).toContain(agent);
});

test('a wrong call of eval ends with 2 and says what would be right', async () => {
  const wrong = await lab('eval', '--world', 'shop', '--agent', 'random', '--set', 'maxStep=3');
  expect(wrong.code).toBe(2);
  expect(wrong.err).toContain('maxSteps');
});

test('the world of a reference is set as that of any other agent, and must be the preset’s', async () => {
  const reference = ['eval', '--world', 'shop', '--agent', 'reference', '--data', temporaryFolder()];
  const wrong = await lab(...reference, '--set', 'resultsShown=many');
  expect(wrong.code).toBe(2);
  expect(wrong.err).toContain('resultsShown');
  const other = await lab(...reference, '--preset', 'webshop-products');
  expect(other.code).toBe(2);
  expect(other.err).toContain('for the world webshop');
  const hasty = await lab(...reference, '--preset', 'shop-tiny', '--set', 'maxSteps=1', '--tasks', '5', '--json');
  expect(hasty.code, hasty.err).toBe(0);
  expect(JSON.parse(hasty.out).steps).toBe(1);
});

test('lab compare pairs two stored runs task by task', async () => {
  const folder = temporaryFolder();
  const store = openStore(folder);
  const results = (rate: (i: number) => boolean): EvaluationResult[] =>
    Array.from({ length: 50 }, (_, i) => ({
      task: `task-${i}`,
      category: i % 2 ? 'shoes' : 'books',
      tier: 'plain',
      seed: i,
      success: rate(i),
      return: rate(i) ? 1 : 0,
      steps: 3,
      failure: rate(i) ? null : 'timeout',
    }));
  const [first, second] = [
    { seed: 1, rate: (i: number) => i >= 5 },
    { seed: 2, rate: (i: number) => i >= 20 },
  ].map(({ seed, rate }) => {
    const run = store.runs.create(newRun({ seed }));
    store.metrics.append(run.id, 3, { loss: 0.25 });
    store.evaluations.add(run.id, { ...someEvaluation(seed, 3), kind: 'final', results: results(rate) }, []);
    return run.id;
  });
  const { code, out } = await lab('compare', String(first), String(second), '--data', folder, '--json');
  expect(code).toBe(0);
  const answer = JSON.parse(out);
  expect(answer.runs[0]).toMatchObject({ run: first, variant: 'astar-po', success: { k: 45, n: 50 }, ends: { loss: [3, 0.25] } });
  expect(answer.paired).toEqual([expect.objectContaining({ a: first, b: second, n: 50, difference: 0.3, onlyA: 15, onlyB: 0 })]);
  expect(answer.paired[0].p).toBeCloseTo(2 / 2 ** 15, 12);
  expect(answer.paired[0].low).toBeGreaterThan(0.15);
  expect(answer.diff).toEqual([{ key: 'seed', values: [1, 2] }]);
  expect(answer.groups[0].runs).toEqual([first, second]);
  expect(await lab('compare', String(first), '99', '--data', folder)).toMatchObject({ code: 2 });
});
