// Exact resume under fire: the training process or the whole lab is killed with SIGKILL at random moments, the run is
// resumed each time, and in the end its record equals that of a run that was never interrupted.

import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { Random } from '../../main/base/random.ts';
import { checkIntegrity } from '../../main/store/database.ts';
import { Store } from '../../main/store/store.ts';
import { openStore, temporaryFolder } from './helpers.ts';
import { record } from './samples.ts';

const KILLS = 20;
/** At this pace, in ms by update, the run lasts several times as long as 20 kills take, also where each look at the database is slow. */
const UPDATES = 1200;
const PACE = 12;

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
  while (log.length < KILLS) {
    const { lab, ended } = startLab(folder, PACE);
    const reader = await waitForUpdate(folder, lab);
    if (reader === undefined) break;
    await new Promise((resolve) => setTimeout(resolve, random.next() * 300));
    const trainer = reader.locks.holder(1)?.trainerPid ?? null;
    const target = log.length % 2 === 1 && trainer !== null ? trainer : lab.pid;
    const { updates } = reader.runs.get(1);
    reader.close();
    const killed = target !== undefined && killHard(target);
    await ended;
    if (killed) log.push(`${log.length + 1}. killed ${target === trainer ? 'the training process' : 'the whole lab'} at update ${updates}`);
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

/** False when it had ended by itself. */
function killHard(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false;
    throw error;
  }
}

/** Not there, not upgraded yet, or what a killed process left in the log is being recovered, which a reader cannot do. */
function notReadable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error.name === 'DatabaseError' || ('code' in error && /^SQLITE_(BUSY|READONLY)/.test(String(error.code)));
}

/** A reader once the resumed run has stored a further update; undefined when the lab ended by itself. */
async function waitForUpdate(folder: string, lab: ChildProcess): Promise<Store | undefined> {
  let resumedAt = Number.POSITIVE_INFINITY;
  for (;;) {
    if (lab.exitCode !== null || lab.signalCode !== null) return undefined;
    let reader: Store | undefined;
    try {
      reader = Store.read(folder);
      const run = reader.runs.find(1);
      if (run?.state === 'running' && reader.locks.holder(1)?.ownerPid === lab.pid) {
        if (run.updates > resumedAt) return reader;
        resumedAt = Math.min(resumedAt, run.updates);
      }
      reader.close();
    } catch (error) {
      reader?.close();
      if (!notReadable(error)) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
