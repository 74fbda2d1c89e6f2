// An import in a separate process: a large file does not hold up the lab, a hostile one cannot take more memory than it is
// given, and ending the process is enough to cancel it, because nothing is stored before everything is checked.

import { z } from 'zod';
import { ImportError } from '../store/container.ts';
import type { ImportResult } from '../store/import.ts';
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

export function importElsewhere(
  spawn: () => WorkerProcess,
  dataFolder: string,
  file: string,
  { progress, signal }: ElsewhereOptions = {},
): Promise<ImportResult> {
  const worker = spawn();
  const cancelled = `The import of ${file} was cancelled. Nothing was changed.`;
  return new Promise<ImportResult>((resolve, reject) => {
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
  }).finally(() => worker.kill());
}
