// Starts the import of a WebShop folder in a process of its own (import-program.ts) and follows it.

import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { projectFolder } from '../../paths.ts';
import { DataError } from './records.ts';

const found = z.object({
  kind: z.literal('done'),
  products: z.number(),
  goals: z.number(),
  /** Where the index was written, and its size. */
  index: z.string(),
  indexBytes: z.number(),
  /** Records that were left out. */
  notes: z.number(),
});
export type ImportResult = Omit<z.infer<typeof found>, 'kind'>;

const line = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('progress'), share: z.number(), what: z.string() }),
  found,
  z.object({ kind: z.literal('problem'), message: z.string(), hint: z.string() }),
]);
export type ImportLine = z.infer<typeof line>;

export interface Import {
  /** Rejects with a DataError for bad data, and with `ImportCancelled` when it was cancelled. */
  readonly finished: Promise<ImportResult>;
  cancel(): void;
}

export class ImportCancelled extends Error {
  readonly code = 'cancelled';
  readonly hint = 'What was indexed is kept: importing the same folder again continues from there.';
}

export function startImport(folder: string, progress: (share: number, what: string) => void): Import {
  const env = { ...process.env, ELECTRON_RUN_AS_NODE: '1', NODE_NO_WARNINGS: '1' };
  const child = spawn(process.execPath, [programFile(), folder], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let cancelled = false;
  return {
    finished: follow(child, progress, () => cancelled),
    cancel: () => {
      cancelled = true;
      child.kill('SIGKILL');
    },
  };
}

async function follow(
  child: ChildProcess,
  progress: (share: number, what: string) => void,
  cancelled: () => boolean,
): Promise<ImportResult> {
  const ended = new Promise<string>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(signal ? `signal ${signal}` : `exit code ${code}`));
  });
  let complaint = '';
  child.stderr?.on('data', (text: Buffer) => {
    complaint = `${complaint}${text.toString()}`.slice(-2000);
  });
  let result: ImportResult | undefined;
  let problem: DataError | undefined;
  if (child.stdout) {
    for await (const text of createInterface({ input: child.stdout })) {
      const told = line.parse(JSON.parse(text));
      if (told.kind === 'progress') progress(told.share, told.what);
      else if (told.kind === 'problem') problem = new DataError(told.message, told.hint);
      else {
        const { kind: _kind, ...rest } = told;
        result = rest;
      }
    }
  }
  const reason = await ended;
  if (cancelled()) throw new ImportCancelled('The import was cancelled.');
  if (problem) throw problem;
  if (!result)
    throw new DataError(`Indexing ended unexpectedly (${reason}). ${lastLine(complaint)}`, 'Try again; it continues where it stopped.');
  return result;
}

const lastLine = (text: string): string =>
  text
    .trim()
    .split('\n')
    .findLast((part) => /error|memory/i.test(part))
    ?.trim() ?? '';

/** The program beside this code: the source when this is the source, the bundle when this is the bundle. */
function programFile(): string {
  return import.meta.url.endsWith('.ts')
    ? join(projectFolder(), 'main/environment/webshop/import-program.ts')
    : join(projectFolder(), 'out/main/webshop-import.js');
}
