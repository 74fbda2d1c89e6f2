// Starts the pretended training process the way the command line starts the real one.

import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Store } from '../../../main/store/store.ts';
import type { Launch } from '../../../main/queue/queue.ts';

export interface PretendSettings {
  readonly updates?: number;
  readonly delayMs?: number;
  readonly weightsBytes?: number;
  /** Run seed → update at which its process kills itself, once. */
  readonly crashes?: Map<number, number>;
  /** Run seed → update after which its process waits, once, until it is told to stop or this file is there. */
  readonly holds?: Map<number, number>;
  readonly released?: string;
}

export function launchPretend(store: Store, settings: PretendSettings = {}): Launch {
  return ({ run, checkpoint, until }, report) => {
    const crashAt = settings.crashes?.get(run.seed) ?? null;
    settings.crashes?.delete(run.seed);
    const holdAt = settings.holds?.get(run.seed) ?? null;
    settings.holds?.delete(run.seed);
    const argument = JSON.stringify({
      dataFolder: store.dataFolder,
      uid: run.uid,
      seed: run.seed,
      updates: settings.updates ?? 10,
      resumeFrom: checkpoint?.file ?? null,
      until,
      delayMs: settings.delayMs ?? 0,
      crashAt,
      holdAt,
      released: settings.released ?? '',
      weightsBytes: settings.weightsBytes ?? 0,
    });
    const child = fork(fileURLToPath(new URL('trainer.ts', import.meta.url)), [argument], {
      serialization: 'advanced',
      env: { ...process.env, ELECTRON_RUN_AS_NODE: '1', NODE_NO_WARNINGS: '1' },
      execArgv: [],
    });
    child.on('message', report);
    return {
      pid: child.pid,
      stop: () => void child.send('stop'),
      kill: () => void child.kill('SIGKILL'),
      // `close` comes after the last message has arrived, `exit` may come before.
      ended: new Promise((resolve) =>
        child.on('close', (code, signal) => resolve(signal === null ? `exit code ${code}` : `signal ${signal}`)),
      ),
    };
  };
}
