// The estimate of a run's time rests on what similar runs took: their updates, their episodes, and the cloning of their reference.

import { expect, test } from 'vitest';
import { estimateRun, probeKey } from '../../main/queue/estimate.ts';
import { readShippedSpeeds, speedKey } from '../../main/queue/speeds.ts';
import { openStore } from '../store/helpers.ts';
import { allPresets, applyOverrides, loadPreset, newRun } from '../catalog.ts';

const TOTAL = 4;
const ROLLOUT = 2;
const CLONING = 60;

test('a run like one that was trained takes as long as that one did; with another reference, also its cloning', () => {
  const store = openStore();
  const { config } = loadPreset('shop-tiny');
  const unknown = applyOverrides(config, ['policy.width=48']);
  expect(estimateRun(store, unknown)).toMatchObject({ seconds: null, elsewhere: false });

  const { id } = store.runs.create(newRun(applyOverrides(config, ['threads=3']), 'shop-tiny'));
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
  expect(estimateRun(store, unknown).seconds).toBe(null);
  const again = estimateRun(store, applyOverrides(config, ['seed=2']));
  expect(again.seconds).toBeCloseTo(expected, 6);
  expect(again).toMatchObject({ memoryBytes: 300e6, elsewhere: false });
  expect(again.basis).toContain('with 3 threads;'); // those of the run that was measured
  const cloned = estimateRun(store, applyOverrides(config, ['reference.seed=9']));
  expect(cloned.seconds).toBeCloseTo(expected + CLONING, 6);
  expect(cloned.basis).toContain(`at most ${config.reference.steps} cloning steps`);
});

test('before anything was trained, a preset takes as long as it took elsewhere, and says so; a probe here counts more', () => {
  const store = openStore();
  const { config } = loadPreset('shop-tiny');
  const speed = { secondsPerEpisode: 0.5, secondsPerUpdateEpisode: 2, secondsPerCloningStep: 3, memoryBytes: 1e8, stepsPerEpisode: 2 };
  const elsewhere = { machine: 'Difference Engine', speeds: { [speedKey(config)]: { preset: 'shop-tiny', ...speed } } };
  const { training, evaluation, vstar, reference } = config;
  const validations = (Math.floor(training.updates / evaluation.every) + 1) * evaluation.tasks;
  const played = training.tasks * (vstar.samples[0] ?? 0) + validations + evaluation.finalTasks;
  const found = estimateRun(store, config, elsewhere);
  expect(found.seconds).toBeCloseTo(training.updates * training.batch * 2 + played * 0.5 + reference.steps * 3, 6);
  expect(found).toMatchObject({ elsewhere: true, memoryBytes: 1e8 });
  expect(found.basis).toContain('with one thread on another machine (Difference Engine)');
  for (const other of ['device=webgpu', 'policy.width=48', 'algorithm.id=ppo'])
    expect([other, estimateRun(store, applyOverrides(config, [other]), elsewhere).seconds]).toEqual([other, null]);
  store.settings.set(probeKey(config), { ...speed, secondsPerUpdateEpisode: 20 });
  const probed = estimateRun(store, config, elsewhere);
  expect(probed.elsewhere).toBe(false);
  expect(probed.seconds).toBeGreaterThan(found.seconds ?? 0);
});

test('the speeds that come with the lab are those of its presets', () => {
  const keys = new Set(allPresets().map(({ config }) => speedKey(config)));
  const { speeds } = readShippedSpeeds();
  expect(Object.entries(speeds).flatMap(([key, { preset }]) => (keys.has(key) ? [] : [preset]))).toEqual([]);
  for (const speed of Object.values(speeds)) expect(speed.secondsPerUpdateEpisode).toBeGreaterThan(0);
});
