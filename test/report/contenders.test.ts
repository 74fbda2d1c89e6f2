// Runs of one arm stay together: a setting that a later version added does not separate old runs from new ones.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { compare } from '../../main/evaluation/compare.ts';
import { rowOf } from '../../main/lab/rows.ts';
import { readerOf } from '../../main/replay/replay.ts';
import { contenderOf } from '../../main/report/contenders.ts';
import { Store } from '../../main/store/store.ts';
import { applyOverrides, loadPreset, newRun } from '../catalog.ts';
import { BUILT_IN } from '../../main/config/catalog.ts';

let data: string;
let store: Store;
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'astrolab-arms-'));
  store = Store.open(data);
});
afterEach(() => {
  store.close();
  rmSync(data, { recursive: true, force: true });
});

function run(seed: number, overrides: string[] = []): number {
  const { id } = store.runs.create(newRun(applyOverrides(loadPreset('shop-tiny').config, [`seed=${seed}`, ...overrides]), 'shop-tiny'));
  const result = { category: 'shoes', tier: 'plain', seed: 1, success: true, return: 1, steps: 2, failure: null };
  store.evaluations.add(
    id,
    {
      update: 1,
      kind: 'final',
      agent: 'policy',
      world: 'shop',
      worldHash: 'w',
      split: 'test',
      temperature: 0,
      seconds: 1,
      results: ['a', 'b'].map((task) => ({ ...result, task })),
    },
    [],
  );
  return id;
}

test('seeds are one arm, whatever their runs are called', () => {
  const runs = [run(1), run(2, ['name=another']), run(3)];
  const { groups, groupPairs, diff } = compare(runs.map((id) => contenderOf(store, id)));
  expect(groups.map((group) => group.runs)).toEqual([runs]);
  expect(groupPairs).toEqual([]);
  expect(diff.map(({ key }) => key)).toEqual(['seed']);
  const rows = store.runs.list().map((one) => rowOf(store, one));
  expect(new Set(rows.map(({ group }) => group)).size).toBe(1);
});

test('the limit of memory is no part of an arm: its default may change', () => {
  const runs = [run(1, ['memory=4000']), run(2, ['memory=1000'])];
  expect(compare(runs.map((id) => contenderOf(store, id))).groups.map((group) => group.runs)).toEqual([runs]);
  const rows = runs.map((id) => rowOf(store, store.runs.get(id)));
  expect(new Set(rows.map(({ group }) => group)).size).toBe(1);
});

test('a setting that really differs makes two arms', () => {
  const runs = [run(1), run(2), run(1, ['policy.aids.relabelPrices=true'])];
  const { groups, diff } = compare(runs.map((id) => contenderOf(store, id)));
  expect(groups.map((group) => group.runs)).toEqual([[1, 2], [3]]);
  expect(diff.find(({ key }) => key === 'policy.aids.relabelPrices')?.values).toEqual([false, false, true]);
});

test('episodes are read with the tokenizer of their run, also where only phrases differ', () => {
  const plain = readerOf(BUILT_IN, store.runs.get(run(1, ['policy.aids.phrases=false'])));
  const phrases = readerOf(BUILT_IN, store.runs.get(run(1, ['policy.aids.phrases=true'])));
  expect(phrases.tokenizer.size).not.toBe(plain.tokenizer.size);
  expect(readerOf(BUILT_IN, store.runs.get(run(2, ['policy.aids.phrases=false'])))).toBe(plain);
});
