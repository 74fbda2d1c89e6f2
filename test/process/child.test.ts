// How the lab hears of the end of its worker and training processes.

import { expect, test } from 'vitest';
import { spawnChild } from '../../main/process/child.ts';
import type { WorkerProcess } from '../../main/process/supervisor.ts';

interface Watched {
  readonly worker: WorkerProcess;
  readonly ready: Promise<void>;
  readonly ended: Promise<string>;
}

function watched(): Watched {
  const worker = spawnChild();
  const ready = new Promise<void>((resolve) => worker.onMessage(() => resolve()));
  return { worker, ready, ended: new Promise((resolve) => worker.onExit(resolve)) };
}

test.each(['SIGSEGV', 'SIGKILL'] as const)('after %s of one process, each is said to have ended as it did', async (signal) => {
  const survivor = watched();
  const victim = watched();
  await Promise.all([survivor.ready, victim.ready]);
  if (victim.worker.pid !== undefined) process.kill(victim.worker.pid, signal);
  expect(await victim.ended).toBe(`signal ${signal}`);
  // A message that it refuses ends it with code 1, without a signal.
  survivor.worker.send(JSON.parse('{"kind":"nonsense"}'));
  expect(await survivor.ended).toBe('exit code 1');
});
