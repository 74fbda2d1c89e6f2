// What the list of runs and the form of a new run promise, without a window: filter, sort, group, edits, the command.

import { describe, expect, test } from 'vitest';
import type { Knob } from '../../main/lab/features/setup.ts';
import type { RunRow } from '../../main/lab/rows.ts';
import { applyEdits, rangeValues } from '../../renderer/new-run/draft.ts';
import { DEFAULT_COLUMNS, fitColumns } from '../../renderer/runs/fit-columns.ts';
import { configurationLabels, filterRuns, groupRuns, NO_FILTER, sortRuns } from '../../renderer/runs/rows.ts';

function run(id: number, change: Partial<RunRow> = {}): RunRow {
  return {
    id,
    name: `run ${id}`,
    world: 'shop',
    variant: 'astar-po',
    preset: null,
    seed: id,
    group: 'g',
    device: 'cpu',
    state: 'done',
    reason: null,
    position: null,
    planned: 10,
    updates: 10,
    episodes: 100,
    tokens: 1000,
    seconds: 10,
    pace: null,
    progress: null,
    test: null,
    validation: null,
    best: null,
    spark: [],
    tags: [],
    notes: '',
    createdAt: 0,
    startedAt: null,
    finishedAt: null,
    origin: null,
    damaged: null,
    ...change,
  };
}
const rate = (value: number) => ({ k: 10 * value, n: 10, rate: value, low: 0, high: 1, update: 1, temperature: 0 });

describe('the list', () => {
  test('every word of the filter must occur, #7 is a number and seed:2 a seed', () => {
    const runs = [run(1, { notes: 'Too hot' }), run(2, { tags: ['hot'] }), run(7)];
    const found = (text: string) => filterRuns(runs, { ...NO_FILTER, text }).map(({ id }) => id);
    expect(found('hot')).toEqual([1, 2]);
    expect(found('hot too')).toEqual([1]);
    expect(found('#7')).toEqual([7]);
    expect(found('seed:2')).toEqual([2]);
  });

  test('what has no value is last, whichever way it is sorted', () => {
    const runs = [run(1), run(2, { test: rate(0.2) }), run(3, { test: rate(0.8) })];
    const order = (descending: boolean) => sortRuns(runs, ({ test: found }) => found?.rate ?? null, descending).map(({ id }) => id);
    expect(order(true)).toEqual([3, 2, 1]);
    expect(order(false)).toEqual([2, 3, 1]);
  });

  test('a group has the mean of its runs with Student’s interval: 0.5 ± 12.706 · 0.1414 ÷ √2, within 0 and 1', () => {
    const [group] = groupRuns([run(1, { test: rate(0.4) }), run(2, { test: rate(0.6) }), run(3)], () => 'all');
    expect(group?.success).toMatchObject({ n: 2, mean: 0.5, interval: [0, 1] });
    const [five] = groupRuns(
      [0.5, 0.52, 0.48, 0.51, 0.49].map((value, index) => run(index, { test: rate(value) })),
      () => 'all',
    );
    expect(five?.success?.interval?.[0]).toBeCloseTo(0.5 - (2.776 * 0.0158114) / Math.sqrt(5), 4);
  });
});

describe('groups of the list', () => {
  test('of several configurations have a mean and no interval', () => {
    const mixed = [run(1, { test: rate(0.4), group: 'a' }), run(2, { test: rate(0.6), group: 'b' })];
    expect(groupRuns(mixed, () => 'all')[0]?.success).toEqual({ n: 2, mean: 0.5, configurations: 2, interval: null });
  });

  test('of one configuration stay together when a run is renamed', () => {
    const seeds = [run(1, { name: 'ppo', group: 'a' }), run(2, { name: 'renamed', group: 'a' }), run(3, { name: 'ppo', group: 'a' })];
    const groups = groupRuns(
      [...seeds, run(4, { name: 'other', group: 'b' })],
      ({ group }) => group,
      configurationLabels([...seeds, run(4, { name: 'other', group: 'b' })]),
    );
    expect(groups.map(({ label, runs }) => [label, runs.map(({ id }) => id)])).toEqual([
      ['other', [4]],
      ['ppo', [1, 2, 3]],
    ]);
  });
});

describe('a draft', () => {
  const knob = (key: string, kind: Knob['kind']): [string, Knob] => [
    key,
    { key, kind, description: '', unit: '', low: null, high: null, options: [] },
  ];
  const knobs = new Map([knob('training.updates', 'whole number'), knob('training.temperature', 'list of numbers')]);
  const base = { seed: 1, algorithm: { id: 'grpo', group: 8 }, world: { name: 'shop' }, training: { updates: 10, temperature: [1] } };

  test('keeps what is typed until it is a number, and another variant loses the old one’s settings', () => {
    expect(applyEdits(base, { 'training.updates': '1e' }, knobs).training).toEqual({ updates: '1e', temperature: [1] });
    expect(applyEdits(base, { 'training.updates': '1e2' }, knobs).training).toEqual({ updates: 100, temperature: [1] });
    expect(applyEdits(base, { 'training.temperature': '1.5, 1' }, knobs).training).toEqual({ updates: 10, temperature: [1.5, 1] });
    expect(applyEdits(base, { 'algorithm.id': 'ppo' }, knobs).algorithm).toEqual({ id: 'ppo' });
    expect(base.algorithm).toEqual({ id: 'grpo', group: 8 });
  });

  test('a range is filled evenly or by equal factors', () => {
    expect(rangeValues(0, 1, 5, false)).toEqual([0, 0.25, 0.5, 0.75, 1]);
    expect(rangeValues(0.0001, 0.01, 3, true)).toEqual([0.0001, 0.001, 0.01]);
    expect(rangeValues(0, 1, 3, true)).toBeNull();
    expect(rangeValues(1, 2, 1, false)).toBeNull();
  });
});

describe('columns in a narrow window', () => {
  const columns = DEFAULT_COLUMNS.map((id) => ({ id, width: 100, ...(id === 'success' && { narrow: 40 }) }));
  const ids = (room: number) => fitColumns(columns, room).columns.map(({ id }) => id);

  test('give way one by one, notes first, and the name never', () => {
    expect(ids(1300)).toEqual(DEFAULT_COLUMNS);
    expect(ids(1299)).toEqual(DEFAULT_COLUMNS.filter((id) => id !== 'notes'));
    expect(fitColumns(columns, 1040)).toMatchObject({ narrow: true, width: 1040 });
    expect(ids(1040)).not.toContain('tags');
    expect(ids(0)).toEqual(['state', 'id', 'name', 'variant', 'seed', 'success', 'validation', 'updates']);
  });

  test('that the reader chose all stay', () => {
    const chosen = columns.slice(1);
    expect(fitColumns(chosen, 10)).toEqual({ columns: chosen, narrow: false, width: 1200 });
  });
});
