import { spawn } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { processStart, RunLocked } from '../../main/store/locks.ts';
import { recover } from '../../main/queue/recover.ts';
import { startRun } from '../../main/queue/start.ts';
import { openStore } from './helpers.ts';
import { newRun } from './samples.ts';

describe('the lock of a run', () => {
  it('keeps a second lab from training it while the first lives, and is stale when it has died', async () => {
    const store = openStore();
    const { id } = store.runs.create(newRun());
    const other = spawn('sleep', ['1000']);
    const ended = new Promise((resolve) => other.on('exit', resolve));
    startRun(store, id);
    store.db.prepare('UPDATE run_locks SET owner_pid = ?, owner_started = ?').run(other.pid, processStart(other.pid ?? 0));
    expect(() => startRun(store, id)).toThrow(RunLocked);
    expect(recover(store)).toEqual([]);
    other.kill('SIGKILL');
    await ended;
    expect(recover(store).map(({ id: run, state }) => [run, state])).toEqual([[id, 'interrupted']]);
    expect(startRun(store, id).run.state).toBe('running');
  });

  it.runIf(process.platform === 'linux')('is stale when another process has got the number of its owner', () => {
    const store = openStore();
    const { id } = store.runs.create(newRun());
    startRun(store, id);
    store.db.prepare(`UPDATE run_locks SET owner_pid = 1, owner_started = 'another boot 12345'`).run();
    expect(store.locks.holder(id)).toBeUndefined();
  });

  it('holds while either the lab or its training process lives', () => {
    const store = openStore();
    const { id } = store.runs.create(newRun());
    startRun(store, id);
    store.locks.setTrainer(id, process.pid);
    store.db.prepare('UPDATE run_locks SET owner_pid = 999999999').run();
    expect(store.locks.holder(id)?.trainerPid).toBe(process.pid);
    expect(() => startRun(store, id)).toThrow('is being trained by another lab');
  });
});
