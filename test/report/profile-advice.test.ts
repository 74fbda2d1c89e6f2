import { expect, test } from 'vitest';
import { adviceFor, profileAdvice, type TimePart, type TimeSpent } from '../../main/report/timing.ts';
import { openStore, temporaryFolder } from '../store/helpers.ts';
import { newRun } from '../store/samples.ts';
import { parseConfig } from '../catalog.ts';

const spent = (shares: Partial<Record<TimePart, number>>): TimeSpent => {
  const of = (part: TimePart) => ({ seconds: 100 * (shares[part] ?? 0), share: shares[part] ?? 0 });
  return {
    rollout: of('rollout'),
    scoring: of('scoring'),
    update: of('update'),
    vstar: of('vstar'),
    evaluation: of('evaluation'),
    storage: of('storage'),
    other: of('other'),
    environment: of('environment'),
  };
};
const roomy = { secondsPerUpdate: 5, memory: 500, memoryLimit: 4000 };

test('a run that is too slow is told what takes the time, the largest part first', () => {
  expect(profileAdvice(spent({ vstar: 0.5, evaluation: 0.35, rollout: 0.1 }), roomy)).toEqual([
    expect.stringMatching(/^V\* took 50% of the time\. .*vstar\.samples=8,4,2/),
    expect.stringMatching(/^evaluation took 35%.*evaluation\.every/),
  ]);
  expect(profileAdvice(spent({ rollout: 0.5, update: 0.4 }), roomy)).toEqual([]);
  expect(profileAdvice(spent({ vstar: 0.9 }), { ...roomy, secondsPerUpdate: 0.5 }), 'fast enough').toEqual([]);
});

test('a run that is short of memory is told what takes less, and what is faster where that matters', () => {
  expect(profileAdvice(spent({}), { ...roomy, memory: 4200 })).toEqual([
    expect.stringMatching(/4200 of 4000 MB\. A smaller training\.microBatch.*training\.recompute=true/),
  ]);
  expect(profileAdvice(spent({}), { ...roomy, memory: 3800 })).toEqual([
    expect.stringMatching(/3800 of 4000 MB\. With a larger memory, updates may be faster.*training\.microBatch/),
  ]);
  expect(profileAdvice(spent({}), { ...roomy, memory: 3800, secondsPerUpdate: 0.5 }), 'fast enough').toEqual([]);
});

test('a stored run is advised from what it recorded, and not before its first update', () => {
  const store = openStore(temporaryFolder());
  const { id } = store.runs.create(newRun());
  const recorded = { 'system/time.vstar': 8, 'system/time.total': 10, 'system/memory': 3900 };
  for (const update of [1, 2]) store.metrics.append(id, update, recorded);
  const run = { id, updates: 2, seconds: 20, config: parseConfig({ memory: 4000 }) };
  expect(adviceFor(store, run)).toEqual([expect.stringMatching(/^V\* took 80%/), expect.stringMatching(/3900 of 4000 MB/)]);
  expect(adviceFor(store, { ...run, updates: 0 })).toEqual([]);
});
