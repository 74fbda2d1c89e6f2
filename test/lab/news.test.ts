// However fast a run reports, the windows hear of it at most four times a second, and no point is lost.

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { News } from '../../main/lab/news.ts';
import type { RunNews } from '../../main/lab/features/runs.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

test('a hundred updates in half a second arrive complete in three messages', () => {
  const told: RunNews[] = [];
  const news = new News({ onRows: () => undefined, onNews: (one) => told.push(one) });
  for (let update = 1; update <= 100; update++) {
    news.report(1, {
      type: 'update',
      update,
      metrics: { loss: update / 2 },
      distributions: {},
      episodes: [],
      totals: { episodes: update, tokens: update, seconds: update },
    });
    vi.advanceTimersByTime(5);
  }
  news.flush();
  expect(told.length).toBe(3);
  expect(told.flatMap(({ points }) => points.map(({ update }) => update))).toEqual(Array.from({ length: 100 }, (_, index) => index + 1));
  expect(told[0]?.points[0]?.values).toEqual({ loss: 0.5, 'system/time.elapsed': 1 });
  news.stop();
});

test('ten changes of a row cost one row, and a deleted run is reported as gone', () => {
  let made = 0;
  const gone: number[] = [];
  const news = new News({ onRows: (_rows, ids) => gone.push(...ids), onNews: () => undefined });
  const row = () => {
    made += 1;
    throw new Error('not asked for: the run is gone');
  };
  for (let i = 0; i < 10; i++) news.changed(7, row);
  news.gone([7]);
  news.flush();
  expect([made, gone]).toEqual([0, [7]]);
});
