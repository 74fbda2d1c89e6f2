// An import in a separate process: a large file does not hold up the lab, a hostile one cannot take more memory than it is
// given, and ending the process cancels it: the database forgets an unfinished transaction, the checkpoint files are deleted here.

import { z } from 'zod';
import { ImportError } from '../interchange/container.ts';
import type { ImportResult } from '../interchange/import.ts';
import { sweepStrayCheckpoints } from '../store/maintenance.ts';
import { Store } from '../store/store.ts';
import { fromWorker } from './messages.ts';
import type { WorkerProcess } from './supervisor.ts';

const imported = z.object({
  runs: z.array(z.object({ run: z.int(), uid: z.string(), name: z.string(), added: z.boolean() })),
  study: z.string().nullable(),
});

export interface ElsewhereOptions {
  readonly progress?: (done: number, total: number) => void;
  readonly signal?: AbortSignal;
}

export async function importElsewhere(
  spawn: () => WorkerProcess,
  dataFolder: string,
  file: string,
  { progress, signal }: ElsewhereOptions = {},
): Promise<ImportResult> {
  const worker = spawn();
  const cancelled = `The import of ${file} was cancelled. Nothing was changed.`;
  const ended = new Promise<void>((resolve) => worker.onExit(() => resolve()));
  const answer = new Promise<ImportResult>((resolve, reject) => {
    signal?.addEventListener('abort', () => reject(new ImportError(cancelled)));
    worker.onMessage((raw) => {
      const message = fromWorker.parse(raw);
      if (message.kind === 'progress') progress?.(message.done, message.total);
      if (message.kind === 'done') resolve(imported.parse(message.result));
      if (message.kind === 'failed') reject(new ImportError(message.message));
    });
    worker.onExit((reason) =>
      reject(
        new ImportError(
          `${file} was refused: reading it took more memory than an import may, or its process was ended (${reason}). Nothing was changed.`,
        ),
      ),
    );
    worker.send({ kind: 'job', id: 1, job: { kind: 'import', dataFolder, file } });
  });
  try {
    return await answer.finally(() => worker.kill());
  } catch (error) {
    await ended;
    cleanUp(dataFolder);
    throw error;
  }
}

function cleanUp(dataFolder: string): void {
  const store = Store.open(dataFolder);
  try {
    sweepStrayCheckpoints(store);
  } finally {
    store.close();
  }
}
