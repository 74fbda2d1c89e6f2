// A worker or training process inside the window's application: an Electron utility process, whose native crash leaves the
// application alive.

import { constants, setPriority } from 'node:os';
import { app, utilityProcess } from 'electron';
import { workerEnvironment, workerFile } from '../process/child.ts';
import type { WorkerProcess } from '../process/supervisor.ts';

const SERVICE = 'Astrolab worker';

/** `gentle`: it and its children compute after everything else that wants to. */
export function spawnUtility({ gentle = false } = {}): WorkerProcess {
  const child = utilityProcess.fork(workerFile(), [], { serviceName: SERVICE, env: workerEnvironment(), stdio: 'inherit' });
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
      // Electron reports a crash's nature ("crashed", "oom", "killed") through the application and the code through the
      // process, in no fixed order; the code comes for every kind of end, so it decides, and the nature is added.
      let nature = '';
      app.on('child-process-gone', (_event, details) => {
        if (details.type === 'Utility' && details.name === SERVICE) nature = details.reason;
      });
      child.once('exit', (code) => {
        setImmediate(() => listener(nature ? `${nature}, exit code ${code}` : `exit code ${code}`));
      });
    },
  };
}
