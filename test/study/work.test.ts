// Many runs as one piece of work, with real (pretended) training processes: what is done is not repeated.

import { expect, test, vi } from 'vitest';
import { againstDefault, bestOf, type Trial } from '../../main/study/tune.ts';
import { thinned } from '../../main/study/sample.ts';
import { finishedRuns, trainAll, WorkStopped } from '../../main/study/work.ts';
import { openStore } from '../store/helpers.ts';
import { launchPretend } from '../store/processes/launch.ts';
import { wanted } from './wanted.ts';
import { applyOverrides, newRun } from '../catalog.ts';

vi.setConfig({ testTimeout: 120_000 });

test('runs are trained two at a time, reported when they end, and found again by their config', async () => {
  const store = openStore();
  const ends: number[] = [];
  const options = {
    launch: launchPretend(store),
    jobs: 2,
    progress: ({ ended, done }: { ended: unknown; done: number }) => void (ended && ends.push(done)),
  };
  const runs = await trainAll(store, wanted(1, 2, 3), options);
  expect(runs.map(({ seed, state, updates }) => [seed, state, updates])).toEqual([1, 2, 3].map((seed) => [seed, 'done', 10]));
  expect(ends).toEqual([1, 2, 3]);
  const again = await trainAll(store, [...wanted(3, 4), ...wanted(3)], options);
  expect(again.map(({ id }) => id)).toEqual([runs[2]?.id, again[1]?.id, runs[2]?.id]);
  expect(store.runs.list()).toHaveLength(4);
  expect(store.runs.list({ tag: 'mine' })).toHaveLength(4);
});

test('seed by seed, so that an interrupted study has complete comparisons: V* samples of another seed are the same ones', async () => {
  const store = openStore();
  const both = wanted(1, 2).flatMap((one) => [one, { ...one, config: applyOverrides(one.config, ['algorithm=reinforce', 'name=other']) }]);
  const order: string[] = [];
  const progress = ({ ended }: { ended: { name: string; seed: number } | null }): void =>
    void (ended && order.push(`${ended.name} ${ended.seed}`));
  await trainAll(store, both, { launch: launchPretend(store), jobs: 1, progress });
  const name = both[0]?.config.name ?? '';
  expect(order).toEqual([`${name} 1`, 'other 1', `${name} 2`, 'other 2']);
});

test('a run is found again, also with another limit of memory', async () => {
  const store = openStore();
  const [one] = wanted(1);
  if (!one) throw new Error('a config was expected');
  const old = store.runs.create(newRun(one.config, 'shop-tiny'));
  store.runs.change(old.id, { state: 'done', updates: 10 });
  const [found] = await trainAll(store, [one], { launch: launchPretend(store), jobs: 1 });
  expect(found?.id).toBe(old.id);
  const roomier = { ...one, config: applyOverrides(one.config, ['memory=4000']) };
  expect(finishedRuns(store, [roomier]).map((run) => run?.id)).toEqual([old.id]);
  const other = { ...one, config: applyOverrides(one.config, ['retention.keep=evaluation']) };
  expect(finishedRuns(store, [one, other]).map((run) => run?.id)).toEqual([old.id, undefined]);
});

test('a run that crashes once resumes from its checkpoint by itself', async () => {
  const store = openStore();
  const [run] = await trainAll(store, wanted(2), { launch: launchPretend(store, { crashes: new Map([[2, 5]]) }), jobs: 1 });
  expect(run).toMatchObject({ state: 'done', updates: 10 });
  const told = store.events.list(run?.id ?? 0).map(({ text }) => text);
  expect(told).toContain('Resumed from update 3; 1 update recomputed');
  expect(told.join()).toContain('signal SIGKILL');
});

test('stopped work keeps its checkpoints, and the same call continues with the rest', async () => {
  const store = openStore();
  const stop = new AbortController();
  const launch = launchPretend(store, { holds: new Map([[1, 2]]) });
  const progress = (): void => stop.abort();
  await expect(trainAll(store, wanted(1, 2, 3), { launch, jobs: 1, signal: stop.signal, progress })).rejects.toBeInstanceOf(WorkStopped);
  const left = store.runs.list();
  expect(left.map(({ state }) => state)).toEqual(['stopped']);
  const runs = await trainAll(store, wanted(1, 2, 3), { launch, jobs: 2 });
  expect(runs.map(({ state }) => state)).toEqual(['done', 'done', 'done']);
  expect(runs[0]?.id).toBe(left[0]?.id);
  expect(store.events.list(runs[0]?.id ?? 0).some(({ text }) => text.startsWith('Resumed from update'))).toBe(true);
});

test('the best trial solves the most; ties go to the return, then to the default', () => {
  const trial = (number: number, k: number, mean: number | null): Trial => ({
    trial: number,
    settings: {},
    run: number,
    uid: '',
    state: 'done',
    success: mean === null ? null : { k, n: 10, rate: k / 10, low: 0, high: 1 },
    return: mean,
  });
  expect(bestOf([trial(0, 4, 0.4), trial(1, 6, 0.1), trial(2, 6, 0.2)]).trial).toBe(2);
  expect(bestOf([trial(0, 6, 0.2), trial(1, 6, 0.2)]).trial).toBe(0);
  expect(bestOf([trial(0, 0, null), trial(1, 0, 0)]).trial).toBe(1);
  expect(() => bestOf([])).toThrow(/at least one trial/);
});

test('a trial is better than the default only if more than one product says so', () => {
  const results = (solved: (task: number) => boolean, tasks = 60) =>
    Array.from({ length: tasks }, (_, task) => ({
      task: `${task}`,
      seed: 1,
      tier: 'plain',
      category: '',
      success: solved(task),
      return: 0,
      steps: 2,
      failure: null,
      cluster: `${Math.floor(task / 12)}`,
    }));
  const before = results(() => false);
  // Twelve tasks of one product: McNemar's p would be 2 / 2^12.
  expect(
    againstDefault(
      results((task) => task < 12),
      before,
    ),
  ).toMatchObject({ value: 0.2, clusters: 5, p: 1 });
  expect(
    againstDefault(
      results((task) => task % 12 < 3, 120),
      results(() => false, 120),
    ),
  ).toMatchObject({ value: 0.25, clusters: 10, p: 2 ** -9 });
  expect(againstDefault(before, [])).toBeUndefined();
});

test('thinning keeps failures of every class and spreads the rest over the run', () => {
  const episodes = Array.from({ length: 400 }, (_, id) => ({
    id,
    update: id,
    failure: id % 100 === 7 ? 'timeout' : id === 33 ? 'search-loop' : null,
  }));
  const kept = thinned(episodes, 20);
  expect(kept.size).toBe(20);
  expect([...kept].filter((id) => id % 100 === 7)).toEqual([207, 307]);
  expect(kept.has(33)).toBe(true);
  expect(kept.has(0) && kept.has(399)).toBe(true);
  expect(thinned(episodes.slice(0, 5), 20).size).toBe(5);
});
