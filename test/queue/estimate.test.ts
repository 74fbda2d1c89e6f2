// The estimate of a run's time rests on what similar runs took: their updates, their episodes, and the cloning of their reference.

import { expect, test } from 'vitest';
import { applyOverrides } from '../../main/config/overrides.ts';
import { loadPreset } from '../../main/config/presets.ts';
import { estimateRun } from '../../main/queue/estimate.ts';
import { newRun } from '../../main/queue/new-run.ts';
import { openStore } from '../store/helpers.ts';

const TOTAL = 4;
const ROLLOUT = 2;
const CLONING = 60;

test('a run like one that was trained takes as long as that one did; with another reference, also its cloning', () => {
  const store = openStore();
  const { config } = loadPreset('shop-tiny');
  expect(estimateRun(store, config).seconds).toBe(null);

  const { id } = store.runs.create(newRun(config, 'shop-tiny'));
  const startedAt = 1_700_000_000_000;
  store.runs.change(id, { state: 'done', updates: 3, startedAt, position: null });
  for (let update = 1; update <= 3; update++)
    store.metrics.append(id, update, {
      'system/time.total': TOTAL,
      'system/time.rollout': ROLLOUT,
      'system/memory': 300,
      'rollout.steps': 3,
    });
  store.events.add(
    id,
    { update: 0, kind: 'reference', severity: 'info', text: 'The reference policy …', data: {} },
    startedAt + 1000 * CLONING,
  );

  const { training, evaluation, vstar } = config;
  const validations = (Math.floor(training.updates / evaluation.every) + 1) * evaluation.tasks;
  const played = training.tasks * (vstar.samples[0] ?? 0) + validations + evaluation.finalTasks;
  const expected = training.updates * TOTAL + (played * ROLLOUT) / training.batch;
  const again = estimateRun(store, applyOverrides(config, ['seed=2']));
  expect(again.seconds).toBeCloseTo(expected, 6);
  expect(again.memoryBytes).toBe(300e6);
  const cloned = estimateRun(store, applyOverrides(config, ['reference.seed=9']));
  expect(cloned.seconds).toBeCloseTo(expected + CLONING, 6);
  expect(cloned.basis).toContain(`at most ${config.reference.steps} cloning steps`);
});
