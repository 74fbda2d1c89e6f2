// A worker or training process as a child of the command line: plain child_process.fork in Electron's Node. The window
// uses Electron's utility process instead (main/ipc/utility.ts); the supervisor treats both alike.

import { fork } from 'node:child_process';
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

/** `heapMegabytes` bounds its JavaScript heap; the process ends when it needs more. */
export function spawnChild(heapMegabytes?: number): WorkerProcess {
  const child = fork(workerFile(), {
    ...(heapMegabytes !== undefined && { execArgv: [...process.execArgv, `--max-old-space-size=${heapMegabytes}`] }),
    env: { ...workerEnvironment(), ELECTRON_RUN_AS_NODE: '1', NODE_NO_WARNINGS: '1' },
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
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
