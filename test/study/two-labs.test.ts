// Two labs on one data folder that want the same runs, as two `lab study run` at once: real processes, pretended training.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test, vi } from 'vitest';
import { projectFolder } from '../../main/base/paths.ts';
import type { RunLocked } from '../../main/store/locks.ts';
import { trainAll } from '../../main/study/work.ts';
import { startRun } from '../../main/queue/start.ts';
import { RunQueue } from '../../main/queue/queue.ts';
import { openStore, temporaryFolder } from '../store/helpers.ts';
import { launchPretend } from '../store/processes/launch.ts';
import { newRun } from '../store/samples.ts';
import { wanted } from './wanted.ts';
import { newRun as rowOf } from '../catalog.ts';

const ENVIRONMENT = { ...process.env, ELECTRON_RUN_AS_NODE: '1', NODE_NO_WARNINGS: '1' };

function startLab(folder: string, holdAt: number): { child: ChildProcess; ended: Promise<{ code: number | null; output: string }> } {
  const script = fileURLToPath(new URL('processes/sharer.ts', import.meta.url));
  const child = spawn(process.execPath, [script, folder, String(holdAt)], { stdio: ['ignore', 'pipe', 'inherit'], env: ENVIRONMENT });
  let output = '';
  child.stdout.on('data', (text) => (output += String(text)));
  return { child, ended: new Promise((resolve) => child.on('close', (code) => resolve({ code, output }))) };
}

const resumed = (texts: readonly string[]): string[] => texts.filter((text) => text.startsWith('Resumed from'));

test('both end well: every run is trained once, by one of them, and waited for by the other', async () => {
  const folder = temporaryFolder();
  const ends = await Promise.all([startLab(folder, 1), startLab(folder, 1)].map(({ ended }) => ended));
  expect(ends.map(({ code }) => code)).toEqual([0, 0]);
  const [one, other] = ends.map(({ output }): { runs: [number, string][]; elsewhere: number[] } => JSON.parse(output));
  expect(one?.runs).toEqual(other?.runs);
  expect(one?.runs.map(([, state]) => state)).toEqual(['done', 'done', 'done']);
  expect((one?.elsewhere.length ?? 0) + (other?.elsewhere.length ?? 0)).toBeGreaterThanOrEqual(1);
  const store = openStore(folder);
  const runs = store.runs.list();
  expect(runs.map(({ seed, updates }) => [seed, updates]).sort()).toEqual([1, 2, 3].map((seed) => [seed, 10]));
  expect(runs.flatMap(({ id }) => resumed(store.events.list(id).map(({ text }) => text)))).toEqual([]);
});

test('a run that the other lab ends between two looks at it is taken as it ended', async () => {
  const folder = temporaryFolder();
  const store = openStore(folder);
  const [first] = wanted(1);
  if (!first) throw new Error('No run is wanted');
  const { id } = store.runs.create(rowOf(first.config, first.preset, first.tags));
  const train = RunQueue.prototype.train;
  const begun = vi.spyOn(RunQueue.prototype, 'train').mockImplementation(function (this: RunQueue, ...given) {
    store.write(() => store.runs.change(id, { state: 'done', finishedAt: 1 }));
    train.apply(this, given);
  });
  try {
    const runs = await trainAll(store, [first], { launch: launchPretend(store), jobs: 1 });
    expect(runs.map((run) => [run.id, run.state])).toEqual([[id, 'done']]);
    expect(begun).toHaveBeenCalledTimes(1);
  } finally {
    begun.mockRestore();
  }
});

test('when the other lab is killed, what it trained is resumed here from its checkpoint', async () => {
  const folder = temporaryFolder();
  const store = openStore(folder);
  const lab = startLab(folder, 4);
  await expect.poll(() => store.runs.list().filter(({ updates }) => updates === 4).length).toBe(2);
  const theirs = store.runs.list({ states: ['running'] }).map(({ id }) => id);
  const left: RunLocked[] = [];
  const work = trainAll(store, wanted(1, 2, 3), {
    launch: launchPretend(store),
    jobs: 1,
    progress: ({ elsewhere }) => {
      if (elsewhere && left.push(elsewhere) === theirs.length) lab.child.kill('SIGKILL');
    },
  });
  expect((await work).map(({ state, updates }) => [state, updates])).toEqual(Array.from({ length: 3 }, () => ['done', 10]));
  expect(left.map(({ run, holder }) => [run, holder.ownerPid]).sort()).toEqual(theirs.sort().map((id) => [id, lab.child.pid]));
  for (const id of theirs) expect(resumed(store.events.list(id).map(({ text }) => text))).toHaveLength(1);
  await lab.ended;
});

test('a failure of the work itself ends every training process before it is reported', async () => {
  const store = openStore();
  const launch = launchPretend(store, { delayMs: 30 });
  let started = 0;
  let ends = 0;
  const failing = trainAll(store, wanted(1, 2, 3), {
    launch: (request, report) => {
      started += 1;
      return launch(request, report);
    },
    jobs: 2,
    progress: ({ ended }) => {
      if (ended && (ends += 1) === 1) throw new Error('no progress wanted');
    },
  });
  await expect(failing).rejects.toThrow('no progress wanted');
  expect(started).toBe(2);
  expect(store.runs.list({ states: ['running', 'queued'] })).toEqual([]);
});

test('lab resume of a run that another lab trains says which process has it, and is a wrong call', () => {
  const folder = temporaryFolder();
  const store = openStore(folder);
  const { id } = store.runs.create(newRun());
  startRun(store, id);
  const before = store.runs.get(id);
  const { status, stderr } = spawnSync(
    process.execPath,
    [join(projectFolder(), 'main/commands/cli.ts'), '--data', folder, 'resume', String(id)],
    {
      encoding: 'utf8',
      env: ENVIRONMENT,
    },
  );
  expect(stderr).toContain(`Run ${id} is being trained by another lab (process ${process.pid})`);
  expect(status).toBe(2);
  expect(store.runs.get(id)).toEqual(before);
});
