// A worker or training process inside the window's application: an Electron utility process, whose native crash leaves the
// application alive.

import { constants, setPriority } from 'node:os';
import { app, utilityProcess } from 'electron';
import { workerEnvironment, workerFile } from '../process/child.ts';
import type { WorkerProcess } from '../process/supervisor.ts';

/**
 * The nature of each process's end ("crashed", "oom", "killed"; empty while it lives), by its service name: the application reports it
 * by that name alone, so every process has a name of its own.
 */
const natures = new Map<string, string>();
let started = 0;

function watchEnds(): void {
  app.on('child-process-gone', (_event, { name, reason }) => {
    if (name !== undefined && natures.has(name)) natures.set(name, reason);
  });
}

/** `gentle`: it and its children compute after everything else that wants to. */
export function spawnUtility({ gentle = false } = {}): WorkerProcess {
  if (started === 0) watchEnds();
  started += 1;
  const serviceName = `Astrolab worker ${started}`;
  const child = utilityProcess.fork(workerFile(), [], { serviceName, env: workerEnvironment(), stdio: 'inherit' });
  natures.set(serviceName, '');
  const ended = new Promise<string>((resolve) => {
    child.once('exit', (code) => {
      // The code comes for every kind of end, so it decides; what the application reports of a signal comes with it, before or just after.
      setImmediate(() => {
        const nature = natures.get(serviceName);
        natures.delete(serviceName);
        resolve(nature ? `${nature}, exit code ${code}` : `exit code ${code}`);
      });
    });
  });
  if (gentle) {
    child.once('spawn', () => {
      if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL);
    });
  }
  return {
    get pid() {
      return child.pid;
    },
    send: (message) => child.postMessage(message),
    kill: () => {
      child.kill();
    },
    onMessage: (listener) => {
      child.on('message', listener);
    },
    onExit: (listener) => {
      void ended.then(listener);
    },
  };
}
