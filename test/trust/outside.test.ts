// What happens to a run from outside: the data folder goes away, the terminal is closed, the reader of the output has seen
// enough, the disk or the user ends it. Nothing recorded is lost, and the exit code and `lab runs` say what became of it.

import { renameSync, rmSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { Store } from '../../main/store/store.ts';
import { lab as labHere } from '../commands/lab.ts';
import { temporaryFolder } from '../store/helpers.ts';
import { startLab, tinyRun } from './lab.ts';

const posix = process.platform !== 'win32';

function stateOf(folder: string): { state: string; updates: number; saved: number | undefined; reason: string | null } {
  const store = Store.read(folder);
  const { state, updates, reason } = store.runs.get(1);
  const saved = store.checkpoints.newestSound(1)?.update;
  store.close();
  return { state, updates, saved, reason };
}

describe.skipIf(!posix)('the data folder vanishes while a run trains', () => {
  test('it is noticed, the run is paused with exit code 3, and continues when the folder is back', async () => {
    const parent = temporaryFolder();
    const folder = `${parent}/data`;
    const lab = startLab(folder, ['--json', ...tinyRun('checkpoints.every=1')]);
    await lab.hears('training:');
    renameSync(folder, `${parent}/elsewhere`);
    const { code, out } = await lab.ended;
    expect([code, JSON.parse(out).state]).toEqual([3, 'paused']);
    renameSync(`${parent}/elsewhere`, folder);
    const before = stateOf(folder);
    expect(before).toMatchObject({ state: 'paused', reason: expect.stringContaining('is gone (moved, deleted or unmounted)') });
    expect(before.saved).toBeGreaterThanOrEqual(0);

    const again = startLab(folder, ['resume', '1']);
    // The checkpoint may be older than the last update on record, and then that update comes first once more.
    await again.reachesUpdate(before.updates + 1);
    process.kill(again.pid, 'SIGINT');
    expect((await again.ended).code).toBe(4);
    expect(stateOf(folder).updates).toBeGreaterThan(before.updates);
  });
});

describe.skipIf(!posix)('the terminal is lost', () => {
  test('a hang-up saves a checkpoint and ends with exit code 4', async () => {
    const folder = temporaryFolder();
    const lab = startLab(folder, tinyRun());
    await lab.reachesUpdate(1);
    process.kill(-lab.pid, 'SIGHUP');
    expect((await lab.ended).code).toBe(4);
    const { state, updates, saved } = stateOf(folder);
    expect([state, saved]).toEqual(['stopped', updates]);
    expect(updates).toBeGreaterThan(0);
  });

  test('a closed standard error and a closed standard output do not end training', async () => {
    const folder = temporaryFolder();
    const lab = startLab(folder, tinyRun('training.updates=3', 'evaluation.every=1'));
    await lab.hears('Run 1');
    lab.closeTerminal();
    lab.closeOutput();
    expect((await lab.ended).code).toBe(0);
    expect(stateOf(folder)).toMatchObject({ state: 'done', updates: 3, saved: 3 });
  });

  test('a run whose processes were killed is never listed as running', async () => {
    const folder = temporaryFolder();
    const lab = startLab(folder, tinyRun());
    await lab.hears('training:');
    process.kill(-lab.pid, 'SIGKILL');
    await lab.ended;
    expect(stateOf(folder).state).toBe('running');
    const listed = await startLab(folder, ['--json', 'runs']).ended;
    expect(JSON.parse(listed.out)[0].state).toBe('interrupted');
  });
});

describe('a run without a sound checkpoint', () => {
  test('is not resumed from nothing: it needs --restart, and keeps its record until then', async () => {
    const folder = temporaryFolder();
    expect((await labHere('--data', folder, ...tinyRun('training.updates=2'))).code).toBe(0);
    const store = Store.open(folder);
    store.runs.change(1, { state: 'interrupted' });
    const points = store.metrics.series(1, 'episodes').values.length;
    store.close();
    rmSync(`${folder}/checkpoints`, { recursive: true });

    const refused = await labHere('--data', folder, 'resume', '1');
    expect(refused.code).toBe(1);
    expect(refused.err).toContain('none of its 2 checkpoints is whole');
    expect(refused.err).toContain('lab resume 1 --restart');
    const kept = Store.read(folder);
    expect(kept.metrics.series(1, 'episodes').values.length).toBe(points);
    expect(kept.runs.get(1)).toMatchObject({ state: 'interrupted', updates: 2 });
    kept.close();

    expect((await labHere('--data', folder, 'resume', '1', '--restart')).code).toBe(0);
    expect(stateOf(folder)).toMatchObject({ state: 'done', updates: 2, saved: 2 });
  });
});
