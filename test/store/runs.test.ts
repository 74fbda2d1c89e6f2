import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { SystemSampler } from '../../main/metrics/system.ts';
import { canonicalJson, parseCanonical } from '../../main/base/canonical.ts';
import { armIdentity } from '../../main/config/identity.ts';
import { estimate, measuredBytesPerStep, storageUse } from '../../main/store/maintenance.ts';
import { RunWriter } from '../../main/store/run-writer.ts';
import { KEEP_ALL } from '../../main/store/retention.ts';
import { openStore } from './helpers.ts';
import { newRun, someUpdate } from './samples.ts';
import { parseConfig } from '../catalog.ts';

describe('the list of runs', () => {
  it('finds runs by state, variant, seed, tag and text, newest first', () => {
    const store = openStore();
    store.runs.create(newRun({ name: 'first look', seed: 1, tags: ['pilot', ' pilot '] }));
    store.runs.create(newRun({ name: 'second', seed: 2, variant: 'grpo', notes: 'with a Ground truth' }));
    store.runs.create(newRun({ name: 'third', seed: 2, world: 'maths', tags: ['final'] }));
    store.runs.change(3, { state: 'done', position: null });
    const ids = (filter: Parameters<typeof store.runs.list>[0]): number[] => store.runs.list(filter).map(({ id }) => id);
    expect(ids({})).toEqual([3, 2, 1]);
    expect(ids({ states: ['queued'] })).toEqual([2, 1]);
    expect(ids({ variants: ['grpo', 'ppo'] })).toEqual([2]);
    expect(ids({ seed: 2, worlds: ['maths'] })).toEqual([3]);
    expect(ids({ tag: 'pilot' })).toEqual([1]);
    expect(ids({ text: 'ground' })).toEqual([2]);
    expect(ids({ text: 'FINAL' })).toEqual([3]);
    expect(store.runs.get(1).tags).toEqual(['pilot']);
    expect(store.runs.tags()).toEqual(['final', 'pilot']);
    expect(store.runs.resolve(store.runs.get(2).uid).id).toBe(2);
    expect(() => store.runs.resolve('2x')).toThrow('expected a number or uid');
  });

  it('shows a spark line of at most 48 points that keeps its ends, and can be cut', () => {
    const store = openStore();
    const { id } = store.runs.create(newRun());
    for (let update = 1; update <= 500; update++) store.runs.addSpark(id, update, update / 500);
    const { spark } = store.runs.get(id);
    expect(spark.length).toBeLessThanOrEqual(48);
    expect([spark[0]?.[0], spark.at(-1)?.[0]]).toEqual([1, 500]);
    store.runs.cutSpark(id, 100);
    expect(store.runs.get(id).spark.every(([update]) => update <= 100)).toBe(true);
  });

  it('keeps a config as it was, whatever the order of its keys', () => {
    const store = openStore();
    const one = store.runs.create(newRun({ config: { training: { updates: 3, batch: 16 }, world: { settings: { maxSteps: 9 } } } }));
    const two = store.runs.create(newRun({ config: { world: { settings: { maxSteps: 9 } }, training: { batch: 16, updates: 3 } } }));
    expect(one.config).toEqual(parseConfig({ training: { updates: 3, batch: 16 }, world: { settings: { maxSteps: 9 } } }));
    expect(one.configHash).toBe(two.configHash);
    expect(store.runs.configValues('world.settings.maxSteps').get(1)).toBe(9);
  });

  it('writes numbers that JSON has no form for, and reads them back', () => {
    const values = { b: { y: NaN, x: -Infinity }, a: [1, 'two', null, true] };
    expect(parseCanonical(canonicalJson(values))).toEqual(values);
  });

  it('finds the run that is the same experiment: names and memory are no part of it, a finished one comes first', () => {
    const store = openStore();
    const [first, second] = ['one', 'another'].map((name) =>
      store.runs.create(newRun({ name, config: { name, memory: name === 'one' ? 1000 : 2000 } })),
    );
    const wanted = parseConfig({ name: 'a third', deviceMemory: 5 });
    expect(store.runs.findSame(wanted)?.id).toBe(first?.id);
    store.runs.change(second?.id ?? 0, { state: 'done' });
    expect(store.runs.findSame(wanted)?.id).toBe(second?.id);
    expect(store.runs.findSame({ ...wanted, seed: 2 })).toBeUndefined();
    expect([first?.groupHash, second?.groupHash]).toEqual([wanted, { ...wanted, seed: 7 }].map(armIdentity));
  });
});

describe('settings', () => {
  it('come back, and one that no longer fits its schema counts as absent', () => {
    const store = openStore();
    store.settings.set('view.columns', ['name', 'success']);
    expect(store.settings.get('view.columns', z.array(z.string()), [])).toEqual(['name', 'success']);
    expect(store.settings.get('view.columns', z.number(), 7)).toBe(7);
    store.settings.remove('view.columns');
    expect(store.settings.get('view.columns', z.array(z.string()), ['all'])).toEqual(['all']);
  });
});

describe('what a run takes on disk', () => {
  const plan = {
    updates: 100,
    episodesPerUpdate: 128,
    stepsPerEpisode: 5,
    metrics: 40,
    evaluations: 4,
    tasksPerEvaluation: 200,
    vstarEpisodes: 4800,
    checkpointBytes: 6_000_000,
    checkpointsKept: 4,
  };

  it('is estimated beforehand from what is kept', () => {
    const all = estimate(plan, KEEP_ALL, 200);
    expect(all).toMatchObject({ episodes: (12_800 + 800 + 4800) * 5 * 200, checkpoints: 24_000_000 });
    expect(all.total).toBe(all.episodes + all.metrics + all.checkpoints);
    expect(estimate(plan, { ...KEEP_ALL, keep: 'nth', every: 10, vstar: false }, 200).episodes).toBe((1280 + 800) * 1000);
    expect(estimate(plan, { ...KEEP_ALL, keep: 'best-worst', ends: 4, vstar: false }, 200).episodes).toBe((800 + 800) * 1000);
    expect(estimate(plan, { ...KEEP_ALL, keep: 'evaluation', vstar: false }, 200).episodes).toBe(800 * 1000);
  });

  it('is measured on what is there, within a third of what the database really grew by', () => {
    const store = openStore();
    const { id } = store.runs.create(newRun());
    const writer = new RunWriter(store, id);
    store.db.pragma('wal_checkpoint(TRUNCATE)');
    const before = storageUse(store).database;
    for (let update = 1; update <= 20; update++) writer.apply(someUpdate(1, update, 20));
    store.db.pragma('wal_checkpoint(TRUNCATE)');
    const steps = 20 * 20 * 3;
    const real = (storageUse(store).database - before) / steps;
    const told = measuredBytesPerStep(store, 'shop') ?? 0;
    expect(told / real).toBeGreaterThan(0.66);
    expect(told / real).toBeLessThan(1.5);
    expect(storageUse(store).free).toBeGreaterThan(0);
  });
});

it('the system sampler reports processor share and memory of this process', () => {
  let now = 0;
  const sampler = new SystemSampler(undefined, () => now);
  let sum = 0;
  for (let i = 0; i < 3_000_000; i++) sum += Math.sqrt(i);
  now = 1000;
  const sample = sampler.sample();
  expect(sum).toBeGreaterThan(0);
  expect(sample['system/cpu']).toBeGreaterThan(0);
  expect(sample['system/cpu']).toBeLessThan(2);
  expect(sample['system/memory']).toBeGreaterThan(20);
  expect(sampler.sample()['system/cpu']).toBe(0);
});
