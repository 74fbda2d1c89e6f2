// What the Live page makes of a run's record: alerts that hold and alerts that have cleared, the charts they concern, the log in
// order of time, and how far each stage is.

import { describe, expect, test } from 'vitest';
import { PHASES, stageOf } from '../../main/training/progress.ts';
import type { RunEvent, Stage } from '../../main/lab/features/runs.ts';
import { alertsOf, concerning, inLogOrder } from '../../renderer/live/alert-states.ts';
import { CHARTS } from '../../renderer/live/charts.ts';
import { stageProgress } from '../../renderer/live/stages.ts';
import { doingWords, stageNow } from '../../renderer/state/progress.ts';

let next = 1;
function event(update: number, alert: RunEvent['alert'], time = 0): RunEvent {
  return { id: next++, update, time, kind: alert ? 'alert' : 'log', severity: 'info', text: `text of ${update}`, alert };
}
const collapse = (state: 'active' | 'cleared'): RunEvent['alert'] => ({
  id: 'collapse',
  state,
  title: 'Validation success fell',
  metrics: ['evaluation.success', 'evaluation.return'],
});
const trap = (state: 'active' | 'cleared'): RunEvent['alert'] => ({ id: 'echo-trap', state, title: 'Echo trap', metrics: ['entropy'] });

describe('alerts', () => {
  test('an alert that cleared is no longer active, and one raised again is', () => {
    const log = [event(4, collapse('active')), event(5, trap('active')), event(8, collapse('cleared')), event(12, collapse('active'))];
    expect(alertsOf(log).map(({ id, raised, cleared, text }) => [id, raised, cleared, text])).toEqual([
      ['collapse', 4, 8, 'text of 4'],
      ['echo-trap', 5, null, 'text of 5'],
      ['collapse', 12, null, 'text of 12'],
    ]);
  });

  test('a run that went back and raised it again has it once, with the newer numbers', () => {
    expect(alertsOf([event(4, collapse('active')), event(6, collapse('active'))]).map(({ raised }) => raised)).toEqual([6]);
    expect(alertsOf([event(6, collapse('cleared')), event(7, null)])).toEqual([]);
  });

  test('marks only the charts that draw a metric it is about', () => {
    const alerts = alertsOf([event(5, trap('active'))]);
    const marked = CHARTS.filter(({ metrics }) => concerning(alerts, metrics).length > 0).map(({ id }) => id);
    expect(marked).toEqual(['entropy']);
  });

  test('each metric stands on one chart only, under a name of its own', () => {
    const metrics = CHARTS.flatMap((chart) => chart.metrics);
    expect(metrics).toEqual([...new Set(metrics)]);
    expect(new Set(CHARTS.map(({ title }) => title)).size).toBe(CHARTS.length);
  });
});

test('the log is in order of time, whatever update its entries are about', () => {
  const log = [event(0, null, 300), event(5, null, 100), event(3, null, 200), event(4, null, 200)];
  const [first, , third, fourth] = log;
  expect(inLogOrder(log).map(({ id }) => id)).toEqual([first?.id, fourth?.id, third?.id, log[1]?.id]);
});

describe('stages', () => {
  const all: Stage[] = ['reference', 'vstar', 'training', 'test'];
  const run = { state: 'running' as const, updates: 10, planned: 40, seconds: 20, pace: null, progress: null };
  const at = (phase: string, done: number, total: number, secondsLeft: number | null = null, update = 0) => ({
    progress: { stage: stageOf(phase, update), phase, done, total, secondsLeft },
  });
  const shares = (...input: Parameters<typeof stageProgress>) =>
    stageProgress(...input).map(({ share, current }) => (current ? [share] : share));

  test('each has a separate bar, full when the next one began', () => {
    const young = { ...run, updates: 0, seconds: 0 };
    expect(shares(young, all)).toEqual([0, 0, 0, 0]);
    expect(shares({ ...young, ...at(`${PHASES.reference} (40% success)`, 30, 120) }, all)).toEqual([[0.25], 0, 0, 0]);
    expect(shares({ ...young, ...at(PHASES.vstar, 64, 256) }, all)).toEqual([1, [0.25], 0, 0]);
    expect(shares({ ...run, ...at(PHASES.training, 10, 40) }, all)).toEqual([1, 1, [0.25], 0]);
    expect(shares({ ...run, updates: 39, ...at(PHASES.test, 50, 200, null, 40) }, all)).toEqual([1, 1, 1, [0.25]]);
    expect(shares({ ...run, state: 'done', updates: 40 }, all)).toEqual([1, 1, 1, 1]);
  });

  test('validation and later V* belong to training; a run without V* has no bar for it', () => {
    expect(shares({ ...run, ...at(PHASES.validation, 5, 20, null, 10) }, ['reference', 'training', 'test'])).toEqual([1, [0.25], 0]);
    expect(shares({ ...run, ...at(PHASES.vstar, 1, 4, null, 10) }, all)).toEqual([1, 1, [0.25], 0]);
  });

  test('says what it does and how long that still takes', () => {
    expect(doingWords({ ...run, updates: 0, seconds: 0 })).toBe('before the first update');
    expect(doingWords({ ...run, ...at(PHASES.vstar, 64, 256, 30) })).toBe('valuing tasks (V*), 64 of 256 · about 30 s left');
    // It may end earlier.
    const cloning = at(`${PHASES.reference} (loss 0.5)`, 30, 120, 12);
    expect(doingWords({ ...run, updates: 0, ...cloning })).toBe('cloning the reference (loss 0.5), 30 of 120 · at most 12 s left');
    // 30 more updates at 2 s, and at the speed that it has lately
    expect(doingWords({ ...run, ...at(PHASES.training, 10, 40, 1, 10) })).toBe('training · about 1 min 00 s left');
    expect(doingWords({ ...run, pace: 1, ...at(PHASES.training, 10, 40, 1, 10) })).toBe('training · about 30 s left');
    expect(doingWords({ ...run, ...at(PHASES.test, 50, 200, 12, 40) })).toBe('evaluating on test tasks, 50 of 200 · about 12 s left');
  });

  test('in few words it says how far its stage is and how long that still takes, from the first report on', () => {
    const young = { ...run, updates: 0, seconds: 0 };
    expect(stageNow(young)).toEqual({ share: 0, words: 'starting' });
    expect(stageNow({ ...young, ...at(PHASES.reference, 0, 120) })).toEqual({ share: 0, words: 'cloning 0%' });
    expect(stageNow({ ...young, ...at(`${PHASES.reference} (loss 0.5)`, 30, 120, 12) })).toEqual({
      share: 0.25,
      words: 'cloning 25%, ≤ 12 s left',
    });
    expect(stageNow({ ...run, ...at(PHASES.validation, 5, 20, 1, 10) })).toEqual({ share: 0.25, words: '1 min 00 s left' });
    expect(stageNow({ ...run, updates: 40, ...at(PHASES.test, 50, 200, 9, 40) })).toEqual({
      share: 0.25,
      words: 'testing 25%, 9.0 s left',
    });
  });
});
