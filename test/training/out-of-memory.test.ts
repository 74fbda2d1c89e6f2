// Memory that runs out in mid-run: the update is repeated with smaller micro-batches, which add up to the same step.

import { InferenceSession } from 'onnxruntime-node';
import { afterEach, expect, test, vi } from 'vitest';
import { train } from '../../main/training/train.ts';
import { compareRuns, playedUpdates } from './compare-runs.ts';
import { TestHost, smallest } from './host.ts';

const hosts: TestHost[] = [];
const newHost = (): TestHost => {
  const host = new TestHost();
  hosts.push(host);
  return host;
};
afterEach(() => {
  vi.restoreAllMocks();
  for (const host of hosts.splice(0)) host.remove();
  TestHost.forgetReferences();
});

interface NativeSession {
  readonly outputNames: readonly string[];
  run(...args: unknown[]): Promise<unknown>;
}

test('halves the micro-batch, reports it once and gives the same run', async () => {
  const config = smallest({ evaluation: { every: 0, finalTasks: 0 }, training: { updates: 3, batch: 16, tasks: 12, microBatch: 4096 } });
  const undisturbed = newHost();
  expect(await train(config, undisturbed)).toBe('done');

  const native: NativeSession = Reflect.get(InferenceSession, 'prototype');
  const { run } = native;
  let refused = 0;
  vi.spyOn(native, 'run').mockImplementation(function (this: NativeSession, ...args) {
    const [feeds] = args;
    const rows = Number(Reflect.get(Reflect.get(Object(feeds), 'tokens') ?? {}, 'dims')?.[0] ?? 0);
    if (!this.outputNames.includes('gradient.decay') || rows <= 4) return Reflect.apply(run, this, args);
    refused++;
    return Promise.reject(new Error('Failed to allocate memory for requested buffer: out of memory'));
  });
  const disturbed = newHost();
  expect(await train(config, disturbed)).toBe('done');
  expect(refused).toBeGreaterThan(0);
  const events = disturbed.reports.flatMap((report) =>
    report.type === 'event' && report.text.startsWith('Memory ran out') ? [report] : [],
  );
  expect(events.map(({ update }) => update)).toEqual([1]);
  const { tasks, tokens, worst } = compareRuns(playedUpdates(undisturbed), playedUpdates(disturbed));
  expect([tasks, tokens.different]).toEqual([true, 0]);
  expect(worst.difference, worst.name).toBeLessThan(1e-3);
});
