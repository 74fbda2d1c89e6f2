// A run as the list has it: how fast it is lately, from which the window says how long it still takes.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { rowOf } from '../../main/lab/rows.ts';
import { Store } from '../../main/store/store.ts';
import { newRun } from '../store/samples.ts';

test('the pace is that of the latest updates; the first, which is slow, counts only alone, and a run that is done has none', () => {
  const folder = mkdtempSync(join(tmpdir(), 'astrolab-rows-'));
  const store = Store.open(folder);
  try {
    const { id } = store.runs.create(newRun({ planned: 100 }));
    const pace = (): number | null => rowOf(store, store.runs.get(id)).pace;
    const train = (update: number, seconds: number): void => {
      store.metrics.append(id, update, { 'system/time.total': seconds });
      store.runs.change(id, { state: 'running', updates: update });
    };
    expect(pace()).toBeNull();
    train(1, 60);
    expect(pace()).toBe(60);
    train(2, 3);
    expect(pace()).toBe(3);
    for (let update = 3; update <= 20; update++) train(update, update <= 10 ? 3 : 1);
    expect(pace()).toBe(1);
    store.runs.change(id, { state: 'done' });
    expect(pace()).toBeNull();
  } finally {
    store.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
