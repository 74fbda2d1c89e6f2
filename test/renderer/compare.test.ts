// The arithmetic under the Compare page and the tour: means over seeds, groups, where two episodes part, what the tour picks.

import { describe, expect, test } from 'vitest';
import type { ComparedRun } from '../../main/report/schema.ts';
import type { Replay } from '../../main/replay/schema.ts';
import { align } from '../../renderer/compare/divergence.ts';
import { meanCurve, runPairs } from '../../renderer/compare/groups.ts';
import { placeSetting, plottable } from '../../renderer/compare/parameters.ts';
import { rankCorrelation } from '../../main/base/statistics.ts';
import { assignLooks, runStyle } from '../../renderer/theme/runs.ts';
import { planTour } from '../../renderer/tour/plan.ts';

describe('the mean curve of several seeds', () => {
  test('is the mean at every update that all have, with Student’s interval', () => {
    const { x, y, low, high, n } = meanCurve([
      { run: 1, x: [0, 5, 10], y: [0.1, 0.4, 0.7] },
      { run: 2, x: [0, 5, 10, 15], y: [0.3, 0.4, 0.8, 0.9] },
      { run: 3, x: [0, 5, 10], y: [0.2, 0.4, 0.9] },
    ]);
    expect(n).toBe(3);
    expect(x).toEqual([0, 5, 10]);
    expect(y.map((value) => Number(value.toFixed(12)))).toEqual([0.2, 0.4, 0.8]);
    // s = 0.1, n = 3: t(2) · s / √3 = 4.302653 · 0.057735 = 0.248414…
    expect((high[0] ?? 0) - 0.2).toBeCloseTo(0.2484138, 6);
    expect(0.2 - (low[0] ?? 0)).toBeCloseTo(0.2484138, 6);
    expect([low[1], high[1]].map((value) => value?.toFixed(9))).toEqual(['0.400000000', '0.400000000']);
  });

  test('leaves out what is not a number, and one seed has no interval', () => {
    expect(meanCurve([{ run: 1, x: [0, 1, 2], y: [1, Number.NaN, 3] }])).toEqual({
      x: [0, 2],
      y: [1, 3],
      low: [1, 3],
      high: [1, 3],
      updates: [0, 2],
      n: 1,
    });
    expect(meanCurve([]).x).toEqual([]);
  });

  test('runs meet at equal updates, at their mean place on another axis', () => {
    const { x, y, updates } = meanCurve([
      { run: 1, updates: [0, 5], x: [0, 100], y: [0.1, 0.5] },
      { run: 2, updates: [0, 5], x: [0, 140], y: [0.3, 0.7] },
    ]);
    expect([x, y.map((value) => Number(value.toFixed(9))), updates]).toEqual([
      [0, 120],
      [0.2, 0.6],
      [0, 5],
    ]);
  });
});

const compared = (run: number, name: string, variant: string, rates: readonly number[]): ComparedRun => ({
  run,
  name,
  variant,
  world: 'shop',
  seed: run,
  group: `${name} ${variant}`,
  state: 'done',
  updates: 10,
  planned: 10,
  seconds: 1,
  episodes: 10,
  success: { k: Math.round((rates.at(-1) ?? 0) * 10), n: 10, rate: rates.at(-1) ?? 0, low: 0, high: 1 },
  best: null,
  reference: null,
  return: 0,
  steps: 1,
  evaluated: null,
  categories: {},
  evaluations: rates.map((rate, index) => ({ update: index * 5, success: { k: rate * 10, n: 10, rate, low: 0, high: 1 }, failures: {} })),
});

describe('two episodes on one task', () => {
  const replay = (...actions: string[]): Replay => ({
    id: 1,
    run: { id: 1, name: '', variant: '', seed: 1, world: 'shop' },
    update: 0,
    purpose: 'evaluation',
    split: 'test',
    task: 't',
    instruction: '',
    category: '',
    tier: '',
    target: null,
    seed: 0,
    success: false,
    return: 0,
    vstar: null,
    advantage: null,
    steps: actions.map((action) => ({
      observation: '',
      view: null,
      page: { kind: 'text', text: '' },
      thought: '',
      action,
      reward: 0,
      reason: '',
      valid: true,
      facts: {},
      returned: 0,
      oracle: null,
      words: [],
    })),
    finalObservation: '',
    finalPage: { kind: 'text', text: '' },
    diagnosis: null,
    retraced: true,
  });

  test.each([
    [['search a', 'buy 1'], ['search a', 'buy 2'], 1],
    [['search a', 'buy 1'], ['search a', 'buy 1'], null],
    [['search a'], ['search a', 'buy 1'], 1],
    [['search b'], ['search a'], 0],
  ])('%j and %j part at %s', (a, b, divergence) => {
    const aligned = align(replay(...a), replay(...b));
    expect(aligned.divergence).toBe(divergence);
    expect(aligned.steps).toHaveLength(Math.max(a.length, b.length));
  });
});

describe('the tour', () => {
  const runs = [
    compared(1, 'x', 'grpo', [0.1, 0.15, 0.2]),
    compared(2, 'x', 'grpo', [0.1, 0.25, 0.4]),
    compared(3, 'x', 'ppo', [0.1, 0.5, 0.9]),
    compared(4, 'x', 'reinforce', [0.1, 0.4, 0.6]),
  ];
  const column = (run: number, outcome: number[], episode: number[]) => ({
    run,
    outcome: Int8Array.from(outcome),
    episode: Float64Array.from(episode),
  });
  const tasks = ['a', 'b', 'c'].map((task) => ({ task, category: '', tier: '' }));
  const columns = [
    column(1, [0, 1, 0], [0, 11, 12]),
    column(2, [0, 0, 0], [0, 0, 0]),
    column(3, [1, 1, 1], [30, 31, 32]),
    column(4, [1, 1, 1], [40, 41, 42]),
  ];

  test('takes the two variants that differ most, where they part, and a task that only one solves', () => {
    const plan = planTour({ runs, diff: [], matrix: { tasks, columns } });
    expect([plan?.better.key, plan?.worse.key]).toEqual(['ppo', 'grpo']);
    expect([plan?.better.rate, plan?.worse.rate?.toFixed(6)]).toEqual([0.9, '0.300000']);
    // At update 5: 0.5 against the mean of 0.15 and 0.25.
    expect(plan?.parting?.update).toBe(5);
    expect(plan?.parting?.worse).toBeCloseTo(0.2, 12);
    expect(plan?.example).toEqual({ task: 'c', solver: { run: 3, episode: 32 }, failer: { run: 1, episode: 12 } });
  });

  test('asks for two variants that were evaluated', () => {
    expect(planTour({ runs: runs.slice(0, 2), diff: [], matrix: { tasks, columns } })).toBeUndefined();
  });
});

describe('the looks of runs', () => {
  const key = (index: number): string => JSON.stringify(runStyle(index));

  test('never repeat, however many runs are on one chart', () => {
    expect(new Set(Array.from({ length: 200 }, (_, index) => key(index))).size).toBe(200);
  });

  test('differ side by side although both runs were first seen alone, and stay what they were otherwise', () => {
    const known = { '1': 0, '2': 0, '3': 1 };
    const shown = assignLooks(known, ['1', '2', '3', '4']);
    expect([...shown.values()].length).toBe(new Set(shown.values()).size);
    expect([shown.get('1'), shown.get('3')]).toEqual([0, 1]);
    expect(assignLooks(known, ['2']).get('2')).toBe(0);
  });
});

describe('runs and settings', () => {
  const runs = [
    { ...compared(1, 'a', 'grpo', [0.2]), seed: 1 },
    { ...compared(2, 'a', 'grpo', [0.4]), seed: 2 },
    { ...compared(3, 'b', 'ppo', [0.6]), seed: 2 },
    { ...compared(4, 'b', 'ppo', [0.8]), seed: 9 },
  ];
  test('a run is paired with the baseline arm’s run of its seed, or else with the first', () => {
    const groups = [
      { key: 'grpo', runs: [1, 2] },
      { key: 'ppo', runs: [3, 4] },
    ];
    expect(runPairs(runs, groups, 'grpo')).toEqual([
      [3, 2],
      [4, 1],
    ]);
    expect(runPairs(runs, groups, 'nobody')).toEqual([]);
  });
  test('a setting is placed by its values, on a log axis where they span much, with its rank correlation', () => {
    const rates = { key: 'training.learningRate', values: [0.0001, 0.001, 0.001, 0.01] };
    const diff = [rates, { key: 'algorithm.id', values: ['grpo', 'grpo', 'ppo', 'ppo'] }, { key: 'seed', values: [1, 2, 2, 9] }];
    expect(plottable(runs, diff).map(({ key }) => key)).toEqual(['training.learningRate', 'algorithm.id']);
    const placed = placeSetting(runs, rates);
    expect(placed.log).toBe(true);
    expect(placed.points.map(({ x }) => Number(x.toFixed(6)))).toEqual([0.04, 0.5, 0.5, 0.96]);
    expect(placed.rho).toBeCloseTo(0.9486833, 6);
    const names = placeSetting(runs, { key: 'algorithm.id', values: ['grpo', 'grpo', 'ppo', 'ppo'] });
    expect(names).toMatchObject({
      log: false,
      rho: null,
      ticks: [
        { x: 0.25, label: 'grpo' },
        { x: 0.75, label: 'ppo' },
      ],
    });
    expect(rankCorrelation([1, 2, 3], [3, 2, 1])).toBeCloseTo(-1, 12);
  });
});
