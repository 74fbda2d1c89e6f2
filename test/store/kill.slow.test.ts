// Exact resume under fire: the training process or the whole lab is killed with SIGKILL at random moments, the run is
// resumed each time, and in the end its record equals that of a run that was never interrupted.

import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { Random } from '../../main/random.ts';
import { checkIntegrity } from '../../main/store/database.ts';
import { Store } from '../../main/store/store.ts';
import { openStore, temporaryFolder } from './helpers.ts';
import { record } from './samples.ts';

const KILLS = 20;
const UPDATES = 1200; // more than 20 kills can come through, also on a fast machine

function startLab(folder: string, delayMs: number): { lab: ChildProcess; ended: Promise<void> } {
  const lab = spawn(
    process.execPath,
    [fileURLToPath(new URL('processes/owner.ts', import.meta.url)), folder, String(UPDATES), String(delayMs)],
    {
      env: { ...process.env, ELECTRON_RUN_AS_NODE: '1', NODE_NO_WARNINGS: '1' },
      stdio: ['ignore', 'inherit', 'inherit'],
    },
  );
  return { lab, ended: new Promise((resolve) => lab.on('exit', () => resolve())) };
}

it('gives the same record as an undisturbed run after 20 kills at random moments', { timeout: 600_000 }, async () => {
  const calm = temporaryFolder();
  await startLab(calm, 0).ended;

  const folder = temporaryFolder();
  const random = Random.from('kill-test', 1);
  const log: string[] = [];
  for (let kill = 1; kill <= KILLS; kill++) {
    const { lab, ended } = startLab(folder, 4);
    const reader = await waitForUpdate(folder, lab);
    if (reader === undefined) break;
    await new Promise((resolve) => setTimeout(resolve, random.next() * 300));
    const trainer = reader.locks.holder(1)?.trainerPid ?? null;
    const target = kill % 2 === 0 && trainer !== null ? trainer : lab.pid;
    const { updates } = reader.runs.get(1);
    reader.close();
    if (target !== undefined) process.kill(target, 'SIGKILL');
    await ended;
    log.push(`${kill}. killed ${target === trainer ? 'the training process' : 'the whole lab'} at update ${updates}`);
  }
  await startLab(folder, 0).ended;
  console.log(log.join('\n'));

  const [expected, found] = [openStore(calm), openStore(folder)];
  expect(found.runs.get(1)).toMatchObject({ state: 'done', updates: UPDATES, reason: null });
  expect(record(found, 1)).toEqual(record(expected, 1));
  expect(found.checkpoints.list(1).map(({ update, sha256 }) => [update, sha256])).toEqual(
    expected.checkpoints.list(1).map(({ update, sha256 }) => [update, sha256]),
  );
  expect(checkIntegrity(found.db)).toEqual([]);
  expect(log.length).toBe(KILLS);
});

/** A reader once the resumed run has stored a further update; undefined when the lab ended by itself. */
async function waitForUpdate(folder: string, lab: ChildProcess): Promise<Store | undefined> {
  let resumedAt = Number.POSITIVE_INFINITY;
  for (;;) {
    if (lab.exitCode !== null || lab.signalCode !== null) return undefined;
    try {
      const reader = Store.read(folder);
      const run = reader.runs.find(1);
      if (run?.state === 'running' && reader.locks.holder(1)?.ownerPid === lab.pid) {
        if (run.updates > resumedAt) return reader;
        resumedAt = Math.min(resumedAt, run.updates);
      }
      reader.close();
    } catch (error) {
      // Not there, or not upgraded yet.
      if (!(error instanceof Error) || error.name !== 'DatabaseError') throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
