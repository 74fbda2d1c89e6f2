// A worker or training process: a child of the lab, whether that is the window's process or a command. It is Electron as plain Node.

import { fork } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { projectFolder } from '../base/paths.ts';
import type { WorkerProcess } from './supervisor.ts';

/** The worker beside this code: the source when this is the source, the bundle when this is the bundle. */
export function workerFile(): string {
  return import.meta.url.endsWith('.ts') ? join(projectFolder(), 'main/process/worker.ts') : join(projectFolder(), 'out/main/worker.js');
}

/** Set before the first native module is loaded; a process's first line would already be too late. */
export function workerEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env, ORT_DISABLE_TELEMETRY: '1' };
}

export interface SpawnOptions {
  /** Bounds its JavaScript heap; the process ends when it needs more. */
  readonly heapMegabytes?: number;
  /** It and its children compute after everything else that wants to. */
  readonly gentle?: boolean;
}

export function spawnChild({ heapMegabytes, gentle = false }: SpawnOptions = {}): WorkerProcess {
  const child = fork(workerFile(), {
    ...(heapMegabytes !== undefined && { execArgv: [...process.execArgv, `--max-old-space-size=${heapMegabytes}`] }),
    env: { ...workerEnvironment(), ELECTRON_RUN_AS_NODE: '1', NODE_NO_WARNINGS: '1' },
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  if (gentle && child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL);
  return {
    pid: child.pid,
    send: (message) => {
      child.send(message);
    },
    kill: () => {
      child.kill('SIGKILL');
    },
    onMessage: (listener) => {
      child.on('message', listener);
    },
    onExit: (listener) => {
      // Not 'exit': that may come before the last messages have been read from the pipe.
      child.on('close', (code, signal) => listener(signal ? `signal ${signal}` : `exit code ${code}`));
    },
  };
}
