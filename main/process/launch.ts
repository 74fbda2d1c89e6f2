// Starts a run in a separate process and exchanges messages with it.

import { join } from 'node:path';
import { fromWorker } from './messages.ts';
import type { Launch } from '../queue/queue.ts';
import type { WorkerProcess } from './supervisor.ts';

export function launchWith(spawn: () => WorkerProcess, dataFolder: string): Launch {
  const path = (saved: { file: string } | undefined): string | null => (saved ? join(dataFolder, ...saved.file.split('/')) : null);
  return ({ run, checkpoint, origin, until }, report) => {
    const worker = spawn();
    const ended = new Promise<string>((resolve) => worker.onExit(resolve));
    worker.onMessage((raw) => {
      const message = fromWorker.parse(raw);
      if (message.kind === 'report') report(message.report);
    });
    worker.send({
      kind: 'job',
      id: 1,
      job: {
        kind: 'train',
        dataFolder,
        uid: run.uid,
        config: run.config,
        resumeFrom: path(checkpoint),
        branchFrom: path(origin),
        until,
      },
    });
    return {
      get pid() {
        return worker.pid;
      },
      stop: () => worker.send({ kind: 'stop' }),
      kill: () => worker.kill(),
      ended,
    };
  };
}
