// A run whose reference is a stored policy: what a checkpoint holds is where the next run begins, and what does not fit is refused in words.

import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readCheckpoint } from '../../main/engine/runtime/checkpoint.ts';
import { Store } from '../../main/store/store.ts';
import { obtainReference } from '../../main/training/reference/obtain-reference.ts';
import { ProgressReporter } from '../../main/training/progress.ts';
import { train } from '../../main/training/train.ts';
import { smallest, TestHost } from './host.ts';
import { openRun } from '../catalog.ts';

const host = new TestHost();
afterAll(() => {
  host.remove();
  TestHost.forgetReferences();
});

const obtain = (reference: Record<string, unknown>, changes: Record<string, unknown> = {}) =>
  obtainReference(openRun(smallest({ reference, ...changes })), { threads: 1 }, host, new ProgressReporter(() => Promise.resolve()));

test('a run begins from the checkpoint that reference.from names, and refuses one that does not fit', { timeout: 60_000 }, async () => {
  await train(
    smallest({ training: { updates: 2, batch: 8, tasks: 12, warmup: 1, microBatch: 4096 }, evaluation: { every: 0, finalTasks: 0 } }),
    host,
  );
  const file = host.references.checkpoint(1, 2);
  const stored = readCheckpoint(file).tensors.get('embedding')?.data;

  const byName = await obtain({ from: '1@2' });
  const { referenceLayout } = openRun(smallest());
  expect(referenceLayout.view(byName.weights, 'embedding')).toEqual(stored);
  const byFile = await obtain({ from: file });
  expect(byFile.weights).toEqual(byName.weights);
  expect(host.reports.filter(({ type }) => type === 'reference')).toHaveLength(3);
  // It is found again, even where the run has been deleted since.
  await obtain({ from: '1@2' });
  expect(host.reports.filter(({ type }) => type === 'reference')).toHaveLength(3);

  await expect(
    obtain({ from: '1@2' }, { policy: { width: 32, layers: 1, heads: 2, feedForward: 32, aids: { tokenShift: 2 } } }),
  ).rejects.toThrow('does not fit this run: The weights do not fit the model: expected embedding');
  await expect(obtain({ from: '1@2' }, { world: { name: 'maths', settings: { tasksPerLevel: 40 } } })).rejects.toThrow(
    'reads and writes other words than this run',
  );
  await expect(obtain({ from: join(host.dataFolder, 'gone.safetensors') })).rejects.toThrow('gone.safetensors');
});

test('a checkpoint that is not there is named with those that are', () => {
  const store = Store.open(host.dataFolder);
  expect(() => store.references.checkpoint(3, 40)).toThrow(
    'There is no checkpoint 3@40. Checkpoints of run 3: none. Set reference.from to one of them',
  );
  store.close();
});

test('a reference is named by its run and update, or by its file', () => {
  expect(() => smallest({ reference: { from: 'run three' } })).toThrow('expected RUN@UPDATE');
});
