// The supervisor without Electron: with the real worker as a child process (as the command line runs it), and with a
// pretended process for what takes too long to wait for.

import { describe, expect, test } from 'vitest';
import { spawnChild } from '../../main/process/child.ts';
import { Supervisor } from '../../main/process/supervisor.ts';
import type { WorkerProcess, WorkerStatus } from '../../main/process/supervisor.ts';

describe('with the worker as a child process', () => {
  test('the self-test computes 32 · 5', async () => {
    const supervisor = new Supervisor({ spawn: spawnChild });
    const result = await supervisor.run({ kind: 'self-test', steps: 5 });
    expect(result).toMatchObject({ value: 160, expected: 160, telemetryOff: true });
    supervisor.stop();
    expect(supervisor.status.state).toBe('stopped');
  });

  test('a native crash rejects the job with its reason, and the next job runs in a new process', async () => {
    const states: WorkerStatus[] = [];
    const supervisor = new Supervisor({ spawn: spawnChild, onStatus: (status) => states.push(status) });
    await expect(supervisor.run({ kind: 'self-test', steps: 1, crash: true })).rejects.toThrow(/ended unexpectedly \(signal SIGABRT\)/);
    expect(await supervisor.run({ kind: 'self-test', steps: 2 })).toMatchObject({ value: 64 });
    expect(states.map(({ state }) => state)).toEqual(['starting', 'ready', 'restarting', 'starting', 'ready']);
    expect(states.at(-1)).toMatchObject({ restarts: 1, reason: 'signal SIGABRT' });
    expect(new Set(states.flatMap(({ pid }) => pid ?? [])).size).toBe(2);
    supervisor.stop();
  });
});

describe('with a pretended process', () => {
  function pretend(beats: boolean): { spawn: () => WorkerProcess; killed: () => number; exit: (reason: string) => void } {
    let killed = 0;
    let exit: (reason: string) => void = () => {};
    return {
      killed: () => killed,
      exit: (reason) => exit(reason),
      spawn: () => ({
        pid: 1,
        send: () => {},
        kill: () => {
          killed++;
        },
        onMessage: (listener) => {
          if (beats) queueMicrotask(() => listener({ kind: 'heartbeat' }));
        },
        onExit: (listener) => {
          exit = listener;
        },
      }),
    };
  }

  test('silence longer than its patience counts as a hang: the process is killed and started again', async () => {
    const process = pretend(true);
    const supervisor = new Supervisor({ spawn: process.spawn, patienceMs: 40, crashLimit: 1 });
    const job = supervisor.run({ kind: 'self-test', steps: 1 });
    await expect(job).rejects.toThrow(/no sign of life for \d+\.\d s/);
    expect(process.killed()).toBe(1);
    expect(supervisor.status.restarts).toBe(1);
    supervisor.stop();
  });

  test('more crashes than the limit and it stays down until restarted', () => {
    const process = pretend(true);
    const supervisor = new Supervisor({ spawn: process.spawn, crashLimit: 2 });
    supervisor.start();
    process.exit('exit code 1');
    process.exit('exit code 1');
    expect(supervisor.status).toMatchObject({ state: 'starting', restarts: 2 });
    process.exit('exit code 7');
    expect(supervisor.status).toEqual({ state: 'failed', pid: null, restarts: 2, reason: 'exit code 7' });
    supervisor.start();
    expect(supervisor.status.state).toBe('starting');
    supervisor.stop();
  });

  test('a stop on purpose is no crash', () => {
    const process = pretend(true);
    const supervisor = new Supervisor({ spawn: process.spawn });
    supervisor.start();
    supervisor.stop();
    process.exit('exit code 0');
    expect(supervisor.status).toEqual({ state: 'stopped', pid: null, restarts: 0, reason: '' });
  });
});
