import { expect, test } from 'vitest';
import { type Observed, type Validation, alertById, alertsOf, remember } from '../../main/metrics/alerts.ts';
import { TaskGroups } from '../../main/metrics/groups.ts';
import { Recorder, rolloutMetrics } from '../../main/metrics/recorder.ts';
import { Random } from '../../main/base/random.ts';
import { fisher } from '../../main/base/statistics.ts';
import { shortEpisode, trajectory } from '../algorithm/batch.ts';
import { glossary } from '../catalog.ts';

test('every metric says what it is, in which unit, and which way is good', () => {
  for (const [id, metric] of glossary) {
    expect(metric.id).toBe(id);
    expect(metric.name.length, id).toBeGreaterThan(2);
    expect(metric.formula.length, id).toBeGreaterThan(10);
    expect(['up', 'down', 'neither']).toContain(metric.direction);
  }
  expect(glossary.get('kl.k3')?.formula).toContain('k3 estimator');
  expect(glossary.get('kl.full')?.formula).toContain('whole masked vocabulary');
});

test('a recorder names what no glossary explains, adds up parts and starts afresh with each update', async () => {
  const recorder = new Recorder(glossary);
  recorder.record({ loss: 1, entropy: 0.5 });
  recorder.record({ loss: 2 });
  recorder.add('update.tokens', 10);
  recorder.add('update.tokens', 5);
  expect(await recorder.time('system/time.rollout', () => 7)).toBe(7);
  recorder.record({ 'not.there': 1 });
  expect([recorder.takeUnknown(), recorder.takeUnknown()]).toEqual([['not.there'], []]);
  const values = recorder.take();
  expect(values).toMatchObject({ loss: 2, entropy: 0.5, 'update.tokens': 15, 'not.there': 1 });
  expect(values['system/time.rollout']).toBeGreaterThanOrEqual(0);
  expect(recorder.take()).toEqual({});
});

test('rollout metrics: success, lengths, repeated and effective actions, spread inside groups', () => {
  const one = (reward: number) => ({ reward, logProbs: [-1, -2], reference: [-1, -1], values: [0, 0] });
  const episodes = [
    trajectory({ task: 'a', success: true, vstar: 0, return: 1, steps: [one(0), one(1)] }),
    trajectory({ task: 'a', success: false, vstar: 0, return: 0, steps: [one(0)] }),
    shortEpisode('b', false, 0, [-1]),
  ];
  const metrics = rolloutMetrics(episodes);
  expect(metrics['rollout.success']).toBeCloseTo(1 / 3, 12);
  expect(metrics['rollout.steps']).toBeCloseTo(4 / 3, 12);
  expect(metrics['rollout.tokens']).toBeCloseTo(7 / 3, 12);
  expect(metrics['rollout.valid']).toBe(1);
  expect(metrics['rollout.effective']).toBe(1);
  expect(metrics['rollout.repeated']).toBe(0);
  expect(metrics['rollout.groupSpread']).toBeCloseTo(Math.SQRT1_2, 12);
  expect(metrics['rollout.passAtK']).toBe(1);
  for (const [id, value] of Object.entries(metrics)) {
    expect(glossary.has(id), id).toBe(true);
    expect(Number.isFinite(value)).toBe(true);
  }
  for (const value of Object.values(rolloutMetrics([]))) expect(value).toBe(0);
});

const COUNTS = { episodes: 64, groups: 16, actions: 200, tasks: 600 };
const history = (count: number, values: (update: number) => Record<string, number>, counts = COUNTS): Observed[] =>
  Array.from({ length: count }, (_, update) => values(update)).reduce<Observed[]>((all, one) => remember(all, one, counts), []);
const ids = (updates: readonly Observed[], validations: readonly Validation[] = []) =>
  alertsOf({ updates, validations }).map((alert) => alert.id);
const validations = (n: number, ...successes: number[]): Validation[] => successes.map((k, index) => ({ update: 10 * index, k, n }));

test('a healthy run raises no alert', () => {
  const healthy = history(40, (update) => ({
    'rollout.success': 0.3 + update / 60,
    'rollout.return.std': 0.45,
    'rollout.entropy': 0.6 - update / 200,
    'rollout.valid': 1,
    'advantage.positive': 0.4,
    'advantage.std': 0.4,
    'gradient.norm': 1 + 0.2 * Math.sin(update),
    'vstar.unsolved': 0.2,
  }));
  expect(ids(healthy, validations(200, 60, 90, 120, 118))).toEqual([]);
});

test('each sign of trouble is named with its advice and the metrics it is about', () => {
  expect(ids(history(1, () => ({ 'vstar.unsolved': 0.97 })))).toEqual(['vstar-bottom']);
  expect(ids(history(6, () => ({ 'advantage.positive': 0, 'advantage.std': 0.1, 'rollout.success': 0.1 })))).toEqual(['no-advantage']);
  expect(ids(history(6, () => ({ 'advantage.positive': 0, 'advantage.std': 0, 'rollout.success': 1 })))).toEqual([]);
  expect(ids(history(6, () => ({ 'group.flat': 0.95 })))).toEqual(['flat-groups']);
  expect(ids(history(6, () => ({ 'rollout.valid': 0.3 })))).toEqual(['invalid-actions']);
  const trap = history(10, (update) => ({
    'rollout.return.std': update < 5 ? 0.4 : 0.1,
    'rollout.entropy': update < 5 ? 1 : 0.2,
    'rollout.success': 0.2,
  }));
  expect(ids(trap)).toEqual(['echo-trap']);
  const spike = history(20, (update) => ({ 'gradient.norm': update === 19 ? 50 : 1 + 0.1 * (update % 3) }));
  expect(ids(spike)).toEqual(['gradient-spike']);
  // At 98% success gradients are tiny, and one failure's is no sign of collapse.
  expect(ids(spike.map((observed) => ({ ...observed, 'rollout.success': 0.98 })))).toEqual([]);
  const [alert] = alertsOf({ updates: history(1, () => ({ 'vstar.unsolved': 1 })), validations: [] });
  expect(alert).toMatchObject({ sign: expect.stringContaining('100% of the 600 tasks'), advice: expect.stringContaining('12–16') });
  expect(alert?.metrics).toContain('vstar.unsolved');
  for (const id of ['vstar-bottom', 'no-advantage', 'flat-groups', 'echo-trap', 'gradient-spike', 'invalid-actions', 'collapse'])
    for (const metric of alertById(id)?.metrics ?? ['missing']) expect(glossary.has(metric), metric).toBe(true);
});

test('the same share raises an alert only where enough episodes, groups or tasks stand behind it', () => {
  const few = { episodes: 4, groups: 1, actions: 4, tasks: 6 };
  expect(ids(history(1, () => ({ 'vstar.unsolved': 1 }), few))).toEqual([]);
  expect(ids(history(6, () => ({ 'advantage.positive': 0, 'advantage.std': 0.1, 'rollout.success': 0.1 }), few))).toEqual([]);
  expect(ids(history(6, () => ({ 'group.flat': 1 }), few))).toEqual([]);
  expect(ids(history(6, () => ({ 'rollout.valid': 0.4 }), few))).toEqual([]);
});

test('a fall of validation success is an alert when chance does not explain it, names the best of the whole run, and clears', () => {
  const fallen = validations(200, 40, 160, 100);
  const [alert] = alertsOf({ updates: [], validations: fallen });
  expect(alert?.sign).toBe('Validation success fell to 50% (100 of 200) at update 20; its best was 80% (160 of 200) at update 10');
  expect(ids([], validations(200, 40, 160, 100, 150))).toEqual([]);
  // The same fall of 0.3 on 20 tasks is no sign; a fall to nothing is.
  expect(ids([], validations(20, 4, 16, 10))).toEqual([]);
  expect(ids([], validations(20, 4, 16, 0))).toEqual(['collapse']);
  expect(ids([], validations(200, 160, 90))).toEqual(['collapse']); // the policy it started from counts as well
});

test('a policy that stays as it is raises the alert in fewer than 1 of 20 runs with 40 validations of 20 tasks each', () => {
  const random = Random.from('false alarms');
  let alarms = 0;
  for (let run = 0; run < 200; run++) {
    const seen: Validation[] = [];
    let raised = false;
    for (let update = 0; update < 40; update++) {
      const k = Array.from({ length: 20 }, random.next).filter((u) => u < 0.6).length;
      seen.push({ update, k, n: 20 });
      raised ||= ids([], seen).length > 0;
    }
    if (raised) alarms += 1;
  }
  expect(alarms).toBeLessThan(10);
});

test('Fisher’s exact test: the tea taster, and nothing against equal shares', () => {
  expect(fisher(1, 4, 3, 4)).toBeCloseTo(17 / 70, 12);
  expect(fisher(0, 4, 4, 4)).toBeCloseTo(1 / 70, 12);
  expect(fisher(10, 20, 10, 20)).toBeGreaterThan(0.5);
  expect(fisher(250, 500, 400, 500)).toBeLessThan(1e-20);
});

test('what alerts look back on stays short, and only numbers that can be saved are kept', () => {
  const long = history(200, (update) => ({ 'gradient.norm': update === 150 ? Number.NaN : update, loss: 3 }));
  expect(long).toHaveLength(60);
  expect(long[10]).not.toHaveProperty('gradient.norm');
  expect(long.at(-1)).toEqual({
    'gradient.norm': 199,
    'count.episodes': 64,
    'count.groups': 16,
    'count.actions': 200,
    'count.tasks': 600,
  });
  expect(JSON.parse(JSON.stringify(long))).toEqual(long);
});

test('a variant that plays a task once an update still has a spread and a pass@k: those of the task’s last four episodes', () => {
  const groups = new TaskGroups();
  const outcomes = [false, true, false, false, true];
  const seen = outcomes.map((success) => groups.metrics([shortEpisode('a', success, success ? 1 : 0, [-1])]));
  expect(seen.slice(0, 3)).toEqual([{}, {}, {}]);
  expect(seen[3]).toEqual({ 'rollout.groupSpread': 0.5, 'rollout.passAtK': 1 });
  expect(seen[4]?.['rollout.groupSpread']).toBeCloseTo(Math.sqrt(1 / 3), 6);
  // Saved and restored, it continues alike.
  const restored = new TaskGroups(JSON.parse(JSON.stringify(groups.save())));
  const next = shortEpisode('a', false, 0, [-1]);
  expect(restored.metrics([next])).toEqual(groups.metrics([next]));
  expect(new TaskGroups().metrics([shortEpisode('b', false, 0, [-1])])).toEqual({});
});
