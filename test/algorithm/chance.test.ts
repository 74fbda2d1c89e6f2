// V* in a world with chance: what the estimators say of a task whose best value is given, and that a run is warned.

import { expect, test } from 'vitest';
import { smoothMaximum, vstarOf } from '../../main/algorithm/vstar.ts';
import { optimisticVstar } from '../../main/metrics/alerts.ts';
import { Random } from '../../main/base/random.ts';
import { mean } from '../../main/base/statistics.ts';
import { train } from '../../main/training/train.ts';
import { smallest, TestHost } from '../training/host.ts';

test('where all of it is luck the smooth maximum is far above the true value, the mean is not', () => {
  // Every action succeeds with a chance of 0.27: the best value is 0.27.
  const random = Random.from('luck', 1);
  const tasks = Array.from({ length: 4000 }, () => Array.from({ length: 8 }, () => (random.next() < 0.27 ? 1 : 0)));
  const estimate = (estimator: 'smooth-max' | 'mean') => mean(tasks.map((rewards) => vstarOf(rewards, { estimator, beta1: 0.5 })));
  expect(estimate('mean')).toBeCloseTo(0.27, 2);
  expect(estimate('smooth-max')).toBeGreaterThan(0.4);
  expect(smoothMaximum([...Array.from({ length: 27 }, () => 1), ...Array.from({ length: 73 }, () => 0)], 0.5)).toBeCloseTo(0.501, 3);
});

test('a maximum in a world with chance is an alert, the mean is none, and a world without chance needs none', () => {
  expect(optimisticVstar(true, 'smooth-max')?.advice).toContain('vstar.estimator=mean');
  expect(optimisticVstar(true, 'max')?.id).toBe('vstar-optimistic');
  expect(optimisticVstar(true, 'mean')).toBeUndefined();
  expect(optimisticVstar(false, 'smooth-max')).toBeUndefined();
});

test('a run on slippery ice is warned before its first update', async () => {
  const host = new TestHost();
  const base = smallest();
  const config = smallest({
    world: { name: 'frozenlake', settings: { lakes: 60, maxSteps: 4 } },
    reference: { ...base.reference, imperfection: {} },
    training: { ...base.training, updates: 1, tasks: 8 },
  });
  expect(await train(config, host)).toBe('done');
  const alerts = host.reports.flatMap((report) => (report.type === 'event' && report.kind === 'alert' ? [report] : []));
  expect(alerts.map(({ update, data }) => ({ update, data }))).toContainEqual({
    update: 0,
    data: expect.objectContaining({ id: 'vstar-optimistic' }),
  });
});
