// The threads that read: what a feature's read returns comes back, failures keep their code, and a cancelled read takes no other with it.

import { afterEach, expect, test } from 'vitest';
import { Readers } from '../../main/lab/readers.ts';
import { openStore } from '../store/helpers.ts';
import { newRun } from '../store/samples.ts';

let readers: Readers | undefined;
afterEach(() => readers?.close());

function open(runs: number): Readers {
  const store = openStore();
  for (let run = 0; run < runs; run++) store.runs.create(newRun({ seed: run }));
  readers = new Readers(store.dataFolder, false);
  return readers;
}

test('a read answers from the database, and sees what was written since', async () => {
  const store = openStore();
  readers = new Readers(store.dataFolder, false);
  store.runs.create(newRun({ seed: 7 }));
  expect(await readers.read('runs', 'runs.configValues', { key: 'seed' })).toEqual({ values: [[1, expect.anything()]] });
  store.runs.create(newRun({ seed: 8 }));
  expect(await readers.read('runs', 'runs.configValues', { key: 'seed' })).toMatchObject({ values: { length: 2 } });
});

test('a failure crosses with its code and hint; a read that does not exist says so', async () => {
  const { read } = open(1);
  await expect(read('compare', 'compare.open', { runs: [9] })).rejects.toMatchObject({
    code: 'not-found',
    message: 'There is no run 9.',
    hint: expect.stringContaining('deleted'),
  });
  await expect(read('compare', 'nothing', {})).rejects.toMatchObject({ code: 'internal' });
});

test('a cancelled read ends at once; what else its thread was asked is answered all the same', async () => {
  const { read } = open(3);
  const stop = new AbortController();
  const both = Promise.allSettled([
    read('storage', 'damage', undefined, { files: true, signal: stop.signal }),
    read('storage', 'damage', undefined, { files: true }),
  ]);
  stop.abort();
  const [cancelled, other] = await both;
  expect(cancelled).toMatchObject({ status: 'rejected', reason: { code: 'cancelled' } });
  expect(other).toEqual({ status: 'fulfilled', value: [] });
});
