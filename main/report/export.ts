// Writes the files of a report in a process of its own, because reading a hundred runs takes seconds and the window must not
// wait for it. Files appear in a folder beside the final one, which the caller puts in place when all is done; cancelled or
// failed, nothing is left.

import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { projectFolder } from '../paths.ts';
import { reportFormats } from '../vocabulary.ts';

const look = z.object({ colour: z.number().optional(), dash: z.array(z.number()).optional() });

/** What the program is told, as JSON. */
export const exportJob = z.object({
  dataFolder: z.string(),
  folder: z.string(),
  runs: z.array(z.number()),
  title: z.string(),
  formats: z.array(z.enum(reportFormats)),
  view: z
    .object({
      groups: z.array(z.object({ key: z.string(), runs: z.array(z.number()), look })),
      baseline: z.number().nullable(),
    })
    .optional(),
});
export type ExportJob = z.infer<typeof exportJob>;

const line = z.discriminatedUnion('kind', [
  /** `done` of `total` files are written; `what` comes next. */
  z.object({ kind: z.literal('progress'), done: z.number(), total: z.number(), what: z.string() }),
  z.object({ kind: z.literal('done'), files: z.array(z.string()) }),
  z.object({ kind: z.literal('failed'), message: z.string() }),
]);
export type ExportLine = z.infer<typeof line>;

export class ExportCancelled extends Error {
  readonly code = 'cancelled';
  readonly hint = 'No files were written.';
}

export interface Export {
  /** The names of the files. Rejects with ExportCancelled when it was cancelled. */
  readonly finished: Promise<string[]>;
  cancel(): void;
}

export function startExport(job: ExportJob, progress: (done: number, total: number, what: string) => void): Export {
  const env = { ...process.env, ELECTRON_RUN_AS_NODE: '1', NODE_NO_WARNINGS: '1' };
  const child = spawn(process.execPath, [programFile(), JSON.stringify(job)], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  let cancelled = false;
  return {
    finished: follow(child, progress, () => cancelled),
    cancel: () => {
      cancelled = true;
      child.kill('SIGKILL');
    },
  };
}

async function follow(child: ChildProcess, progress: Parameters<typeof startExport>[1], cancelled: () => boolean): Promise<string[]> {
  const ended = new Promise<string>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(signal ? `signal ${signal}` : `exit code ${code}`));
  });
  let files: string[] | null = null;
  let problem = '';
  if (child.stdout) {
    for await (const text of createInterface({ input: child.stdout })) {
      const told = line.parse(JSON.parse(text));
      if (told.kind === 'progress') progress(told.done, told.total, told.what);
      else if (told.kind === 'failed') problem = told.message;
      else files = told.files;
    }
  }
  const reason = await ended;
  if (cancelled()) throw new ExportCancelled('The export was cancelled.');
  if (files) return files;
  throw new Error(problem || `The export ended unexpectedly (${reason}). Try again.`);
}

/** The program beside this code: the source when this is the source, the bundle when this is the bundle. */
function programFile(): string {
  return import.meta.url.endsWith('.ts')
    ? join(projectFolder(), 'main/report/export-program.ts')
    : join(projectFolder(), 'out/main/report-export.js');
}
