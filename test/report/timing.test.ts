// Where the time went: what `lab train` prints at its end and what reports show.

import { expect, test } from 'vitest';
import { deviceSpent, deviceText, timeRows, timeSpent } from '../../main/report/timing.ts';
import { openStore, temporaryFolder } from '../store/helpers.ts';
import { newRun } from '../store/samples.ts';

test('the parts of a run add up to its time, and the world is counted within them', () => {
  const store = openStore(temporaryFolder());
  const { id } = store.runs.create(newRun());
  const times = { rollout: 2, scoring: 1, update: 4, evaluation: 0.5, environment: 0.25, total: 8, elapsed: 8 };
  for (const update of [1, 2]) {
    const storage = update === 1 ? 0 : 2;
    const values = Object.entries({ ...times, storage, elapsed: 8 * update }).map(([part, seconds]) => [`system/time.${part}`, seconds]);
    store.metrics.append(id, update, Object.fromEntries(values));
  }
  const time = timeSpent(store, id);
  expect(time.update).toEqual({ seconds: 8, share: 8 / 18 });
  expect(time.storage).toEqual({ seconds: 2, share: 2 / 18 });
  expect(time.other).toEqual({ seconds: 1, share: 1 / 18 });
  expect(time.vstar).toEqual({ seconds: 0, share: 0 });
  const { environment, ...parts } = time;
  expect(Object.values(parts).reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1, 12);
  expect(environment.seconds).toBe(0.5);
  expect(timeRows(time).map(({ name }) => name)).toEqual([
    'update',
    'rollout',
    'scoring',
    'storage',
    'evaluation',
    'other',
    'in the world (within the others)',
  ]);
});

test('a run without updates has spent no time', () => {
  const store = openStore(temporaryFolder());
  const { id } = store.runs.create(newRun());
  expect(timeRows(timeSpent(store, id))).toEqual([]);
});

test('what the device cost is the median of an update, and nothing for a run on the CPU', () => {
  const store = openStore(temporaryFolder());
  const { id } = store.runs.create(newRun());
  expect(deviceSpent(store, id)).toBeUndefined();
  for (const update of [1, 2]) {
    const numbers = { calls: 100 * update, kernels: 300, up: 0.5, down: 0.25 * update, waiting: 3, perToken: 120, learning: 0.8 };
    const named = Object.fromEntries(Object.entries(numbers).map(([name, value]) => [`system/device.${name}`, value]));
    store.metrics.append(id, update, { ...named, 'system/time.total': 3 + update });
  }
  const spent = deviceSpent(store, id);
  expect(spent).toEqual({
    calls: 150,
    kernels: 300,
    up: 0.5,
    down: 0.375,
    waiting: 3,
    perToken: 120,
    learning: 0.8,
    idle: 1.5,
    updates: 2,
    onCpu: 0,
  });
  expect(spent && deviceText(spent)).toBe(
    "Device, median of an update: 150 calls with 300 kernels; 500.0 kB sent, 375.0 kB fetched (120 bytes a token; learning 0.80% of the weights' size); the host waits 3.0 s for the device, the device 1.5 s for the host",
  );
  // Weights and moments that are sent once, and updates on the CPU after the device was lost, are no part of a typical update.
  store.metrics.append(id, 3, {
    'system/device.calls': 150,
    'system/device.waiting': 3,
    'system/device.learning': 211,
    'system/time.total': 5,
  });
  store.metrics.append(id, 4, { 'system/time.total': 60 });
  const later = deviceSpent(store, id);
  expect(later).toMatchObject({ calls: 150, learning: 0.8, waiting: 3, idle: 2, updates: 4, onCpu: 1 });
  expect(later && deviceText(later)).toMatch(/; 1 of 4 updates on the CPU$/);
});
