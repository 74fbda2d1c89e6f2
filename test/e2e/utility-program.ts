// A program for Electron, started by utility.test.ts: worker processes end in several ways, one after the other; what was said of each
// end and how many listeners the application has afterwards goes to standard output.

import { app } from 'electron';
import { spawnUtility } from '../../main/ipc/utility.ts';

type Worker = ReturnType<typeof spawnUtility>;

const signal =
  (name: NodeJS.Signals) =>
  ({ pid }: Worker): void => {
    if (pid !== undefined) process.kill(pid, name);
  };
/** A message that it refuses ends it with code 1, without a signal. */
const refuse = (worker: Worker): void => worker.send(JSON.parse('{"kind":"nonsense"}'));

interface Watched {
  readonly worker: Worker;
  readonly ready: Promise<void>;
  readonly ended: Promise<string>;
}

function watched(): Watched {
  const worker = spawnUtility();
  const ready = new Promise<void>((resolve) => worker.onMessage(() => resolve()));
  return { worker, ready, ended: new Promise((resolve) => worker.onExit(resolve)) };
}

async function endOf({ worker, ready, ended }: Watched, end: (worker: Worker) => void): Promise<string> {
  await ready;
  end(worker);
  return ended;
}

async function main(): Promise<void> {
  const reasons: Record<string, string> = {};
  for (const name of ['SIGSEGV', 'SIGKILL'] as const) {
    const survivor = watched();
    reasons[name] = await endOf(watched(), signal(name));
    reasons[`refusal after ${name}`] = await endOf(survivor, refuse);
  }
  console.log(JSON.stringify({ reasons, listeners: app.listenerCount('child-process-gone') }));
  app.exit(0);
}

app.on('window-all-closed', () => {});
void app.whenReady().then(main);
