import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { branchConfig, branchIssues } from '../../main/queue/branch.ts';
import { startRun } from '../../main/queue/start.ts';
import { purge } from '../../main/store/maintenance.ts';
import { CheckpointFiles } from '../../main/store/checkpoints.ts';
import { importFile } from '../../main/interchange/import.ts';
import type { Store } from '../../main/store/store.ts';
import { exportRuns } from '../../main/interchange/transfer.ts';
import { openStore, temporaryFolder } from '../store/helpers.ts';
import { applyOverrides, newRun, parseConfig } from '../catalog.ts';

/** A store with run 1, which has checkpoints of updates 1 to 3; the best validation was at 2. */
function filled(): Store {
  const store = openStore();
  const config = parseConfig({ name: 'parent', curriculum: { mode: 'updates', every: 1 } });
  const { id, uid } = store.runs.create(newRun(config, 'shop-tiny'));
  const files = new CheckpointFiles(store.dataFolder, uid);
  for (const update of [1, 2, 3]) {
    store.metrics.append(id, update, { 'rollout.level': update - 1 });
    store.checkpoints.add(
      id,
      files.save(update, (path) => writeFileSync(path, `weights ${update}`)),
      false,
    );
  }
  store.runs.setEvaluated(id, { test: null, validation: null, best: { k: 5, n: 10, update: 2 } });
  store.runs.change(id, { state: 'done', updates: 3, position: null });
  return store;
}

test('a branch has the config of its parent at the level it had reached, and knows where it came from', () => {
  const store = filled();
  const config = branchConfig(store, 1, 'best');
  expect(config).toMatchObject({ name: 'parent from 2', curriculum: { mode: 'updates', start: 1 }, branch: { update: 2 } });
  const child = store.runs.create(newRun(applyOverrides(config, ['training.learningRate=0.0001']), null));
  expect(child.origin).toEqual({ uid: store.runs.get(1).uid, run: 1, update: 2 });
  expect(store.runs.branches(store.runs.get(1).uid).map(({ id }) => id)).toEqual([2]);
  expect(store.runs.get(1).origin).toBeNull();
  const { branch: _branch, ...plain } = config;
  expect(store.runs.create(newRun(config, null)).configHash, 'a branch is another run than one from the reference').not.toBe(
    store.runs.create(newRun(plain, null)).configHash,
  );
});

test('the checkpoint of a branch survives the pruning of old ones, and is where training begins', () => {
  const store = filled();
  const child = store.runs.create(newRun(branchConfig(store, 1, 1), null));
  store.checkpoints.prune(1, 1);
  expect(store.checkpoints.list(1).map(({ update }) => update)).toEqual([1, 2, 3]); // 1 of the branch, 2 the best, 3 the newest
  expect(startRun(store, child.id)).toMatchObject({ checkpoint: undefined, origin: { run: 1, update: 1 } });
});

test('world, policy and reference stay; everything else may change', () => {
  const store = filled();
  const config = branchConfig(store, 1, 3);
  expect(branchIssues(store, config)).toEqual([]);
  expect(branchIssues(store, applyOverrides(config, ['algorithm.id=ppo', 'training.updates=7', 'seed=9']))).toEqual([]);
  const wider = branchIssues(store, applyOverrides(config, ['policy.width=64', 'world.settings.maxSteps=9', 'reference.steps=5']));
  expect(wider.map(({ key }) => key)).toEqual(['world.settings.maxSteps', 'policy.width', 'reference.steps']);
  expect(wider[1]?.message).toContain('expected 128, found 64');
});

test('a branch whose checkpoint or run is gone says so', () => {
  const store = filled();
  expect(() => branchConfig(store, 1, 7)).toThrow('no checkpoint of update 7; it has 1, 2, 3');
  const config = branchConfig(store, 1, 3);
  const child = store.runs.create(newRun(config, null));
  writeFileSync(store.checkpoints.path(store.checkpoints.list(1).at(-1)!), 'changed');
  expect(branchIssues(store, config)[0]?.message).toContain('missing or was changed');
  store.runs.delete([1]);
  purge(store);
  expect(() => startRun(store, child.id)).toThrow('is not in this data folder');
  expect(store.runs.get(child.id).origin).toMatchObject({ run: null, update: 3 });
});

test('lineage travels with exported runs', () => {
  const store = filled();
  store.runs.create(newRun(branchConfig(store, 1, 2), null));
  const file = join(temporaryFolder(), 'runs.astrolab');
  exportRuns(store, [1, 2], file);
  const other = openStore();
  other.runs.create(newRun(parseConfig({}), null));
  importFile(other, file);
  expect(other.runs.get(3).origin).toEqual({ uid: store.runs.get(1).uid, run: 2, update: 2 });
});
