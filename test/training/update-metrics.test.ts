// What an update records is what the glossary says it is.

import { afterAll, afterEach, expect, test } from 'vitest';
import { field } from '../../main/base/indexed.ts';
import { alertsOf } from '../../main/metrics/alerts.ts';
import { agentTokenCount } from '../../main/rollout/trajectory.ts';
import { freshMemory } from '../../main/training/memory.ts';
import { ProgressReporter } from '../../main/training/progress.ts';
import { RunReporter } from '../../main/training/reporter.ts';
import type { RunReport } from '../../main/training/reports.ts';
import type { VstarKey } from '../../main/training/host.ts';
import { train } from '../../main/training/train.ts';
import { TestHost, smallest } from './host.ts';

const hosts: TestHost[] = [];
const host = (): TestHost => {
  const made = new TestHost();
  hosts.push(made);
  return made;
};
afterEach(() => {
  for (const made of hosts.splice(0)) made.remove();
});
afterAll(() => TestHost.forgetReferences());

/** A cache in which every task was solved by every sample. */
const solved = {
  find: ({ samples }: VstarKey) => ({ returns: new Float64Array(samples).fill(1), successes: new Uint8Array(samples).fill(1) }),
};
const small = { updates: 2, batch: 8, tasks: 12, microBatch: 4096 };
const updatesOf = (made: TestHost) => made.reports.flatMap((report) => (report.type === 'update' ? [report] : []));

test('tokens in the update are those of episodes that passed the filter; tokens and optimizer steps so far count up', async () => {
  const made = host();
  await train(
    smallest({
      algorithm: { id: 'grpo', group: 4, filter: 0.5, minibatches: 2 },
      training: small,
      evaluation: { every: 0, finalTasks: 0 },
    }),
    made,
  );
  const [first, second] = updatesOf(made);
  const tokens = first!.episodes.map(agentTokenCount);
  const groups = [tokens.slice(0, 4), tokens.slice(4)].map((group) => group.reduce((a, b) => a + b));
  expect(field(first!.metrics, 'update.episodes')).toBe(4);
  expect(groups).toContain(field(first!.metrics, 'update.tokens'));
  expect(field(first!.metrics, 'tokens')).toBe(groups[0]! + groups[1]!);
  expect(field(second!.metrics, 'tokens')).toBe(second!.totals.tokens);
  expect([first, second].map((update) => field(update!.metrics, 'optimizerSteps'))).toEqual([2, 4]);
});

test('the time of storage is reported for every update, the last one included, after its record', async () => {
  const made = host();
  await train(smallest({ training: small }), made);
  const storage = (metrics: object): boolean => 'system/time.storage' in metrics;
  const order = made.reports.flatMap((report) => {
    if (report.type === 'update' || (report.type === 'measured' && storage(report.metrics))) return [[report.type, report.update]];
    return [];
  });
  expect(order).toEqual([
    ['update', 1],
    ['measured', 1],
    ['update', 2],
    ['measured', 2],
  ]);
  for (const { metrics } of updatesOf(made)) expect(storage(metrics)).toBe(false);
});

test('what an evaluation adds to its update comes with it, before the checkpoint', async () => {
  const made = host();
  await train(smallest({ training: small }), made);
  const from = made.reports.findIndex((report) => report.type === 'evaluation' && report.update === 2);
  expect(made.reports.slice(from).map(({ type }) => type)).toEqual(['evaluation', 'evaluation', 'measured', 'checkpoint', 'measured']);
  const added = made.reports[from + 2];
  if (added?.type !== 'measured') throw new Error('The metrics of the evaluation were expected');
  const update = updatesOf(made).at(-1);
  expect(Object.keys(added.metrics)).toEqual(expect.arrayContaining(['evaluation.success', 'system/time.evaluation']));
  expect(update?.metrics).not.toHaveProperty('evaluation.success');
  // The time of the whole update, the evaluation included.
  const whole = field(update!.metrics, 'system/time.total') + field(added.metrics, 'system/time.evaluation');
  expect(field(added.metrics, 'system/time.total')).toBeGreaterThanOrEqual(whole);
  expect(field(added.metrics, 'system/time.elapsed')).toBeGreaterThan(update!.totals.seconds);
});

test('V*: how many reference episodes it rests on, and the share that the cache had', async () => {
  const [sampled, found] = [host(), Object.assign(host(), { vstar: solved })];
  const config = smallest({ training: small, evaluation: { every: 0, finalTasks: 0 } });
  await train(config, sampled);
  await train(config, found);
  const last = (made: TestHost) => updatesOf(made).at(-1)!.metrics;
  expect(field(last(sampled), 'system/vstar.cached')).toBe(0);
  expect(field(last(found), 'system/vstar.cached')).toBe(1);
  expect([last(sampled), last(found)].map((metrics) => field(metrics, 'vstar.episodes'))).toEqual([24, 24]); // 12 tasks, 2 samples each
});

test('with a schedule of samples, V* of tasks that were valued only to see whether they are solved is recorded', async () => {
  const made = Object.assign(host(), { vstar: solved });
  const config = smallest({ vstar: { samples: [4, 2], dropUnsolved: true }, training: small, evaluation: { every: 0, finalTasks: 0 } });
  await train(config, made);
  const entries = made.reports.flatMap((report) => (report.type === 'vstar' ? report.entries : []));
  expect(new Set(entries.map(({ task }) => task)).size).toBe(12);
});

test('an alert is reported when it becomes active and when it has cleared, with the metrics it concerns and the best update', async () => {
  const reports: RunReport[] = [];
  const reporter = new RunReporter({ report: async (report) => void reports.push(report) }, new ProgressReporter(async () => {}), {
    world: 'shop',
    updates: 3,
  });
  const config = smallest();
  let before = { ...freshMemory(config, 1), validations: [{ update: 0, k: 180, n: 200 }] };
  for (const [index, k] of [20, 170].entries()) {
    const update = index + 1;
    const validations = [...before.validations, { update, k, n: 200 }];
    const after = { ...before, update, validations, alerts: alertsOf({ updates: [], validations }).map(({ id }) => id) };
    await reporter.update({ metrics: {}, unknown: [], distributions: {}, trajectories: [], before, after });
    before = after;
  }
  const events = reports.flatMap((report) => (report.type === 'event' ? [{ update: report.update, ...report.data }] : []));
  expect(events).toEqual([
    expect.objectContaining({
      update: 1,
      id: 'collapse',
      state: 'active',
      best: 0,
      metrics: expect.arrayContaining(['evaluation.success']),
    }),
    expect.objectContaining({ update: 2, id: 'collapse', state: 'cleared', best: 0 }),
  ]);
});
