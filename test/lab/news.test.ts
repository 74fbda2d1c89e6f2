// However fast a run reports, the windows hear of it at most four times a second, and no change is lost.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { News } from '../../main/lab/news.ts';
import { rowOf } from '../../main/lab/rows.ts';
import { Store } from '../../main/store/store.ts';
import type { Payload } from '../../preload/contract.ts';
import { newRun } from '../store/samples.ts';

let folder: string;
let store: Store;
let sent: Payload<'runs.changed'>[];
let news: News;
beforeEach(() => {
  vi.useFakeTimers();
  folder = mkdtempSync(join(tmpdir(), 'astrolab-news-'));
  store = Store.open(folder);
  sent = [];
  news = new News((one) => sent.push(one));
});
afterEach(() => {
  news.stop();
  store.close();
  rmSync(folder, { recursive: true, force: true });
  vi.useRealTimers();
});

test('a hundred updates in half a second arrive in three messages, the last one with the last row', () => {
  const { id } = store.runs.create(newRun());
  for (let update = 1; update <= 100; update++) {
    store.runs.change(id, { updates: update });
    news.changed(id, () => rowOf(store, store.runs.get(id)));
    vi.advanceTimersByTime(5);
  }
  news.flush();
  expect(sent.map(({ rows, stored }) => [rows.length, stored])).toEqual([
    [1, [id]],
    [1, [id]],
    [1, [id]],
  ]);
  expect(sent.at(-1)?.rows[0]?.updates).toBe(100);
});

test('how far a run is changes its row, and nothing that was read of its record', () => {
  const { id } = store.runs.create(newRun());
  const progress = { stage: 'reference' as const, phase: 'cloning', done: 3, total: 10, secondsLeft: 2 };
  news.progressed(id, () => rowOf(store, store.runs.get(id), progress));
  news.flush();
  expect(sent).toMatchObject([{ rows: [{ id, progress }], stored: [] }]);
});

test('ten changes of a row cost one row, and a deleted run is reported as gone', () => {
  let made = 0;
  const row = () => {
    made += 1;
    throw new Error('not asked for: the run is gone');
  };
  for (let i = 0; i < 10; i++) news.changed(7, row);
  news.gone([7]);
  news.flush();
  expect([made, sent]).toEqual([0, [{ rows: [], gone: [7], stored: [] }]]);
});
