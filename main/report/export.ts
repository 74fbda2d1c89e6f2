// Writes the files of a report in a separate process, because reading a hundred runs takes seconds and the window must not
// wait for it. Files appear in a folder beside the final one, which the caller puts in place when all is done; cancelled or
// failed, nothing is left.

import { z } from 'zod';
import { startProgram } from '../base/program.ts';
import { reportFormats } from '../base/vocabulary.ts';

const look = z.object({ colour: z.number().optional(), dash: z.array(z.number()).optional() });

const PROGRAM = { source: 'main/report/export-program.ts', bundle: 'report-export.js' };

/** The program's argument, as JSON. */
export const exportJob = z.object({
  dataFolder: z.string(),
  folder: z.string(),
  runs: z.array(z.number()),
  title: z.string(),
  formats: z.array(z.enum(reportFormats)),
  view: z
    .object({
      groups: z.array(z.object({ key: z.string(), runs: z.array(z.number()), look })),
      baseline: z.string().nullable(),
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
  let files: string[] | null = null;
  let problem = '';
  const program = startProgram(PROGRAM, JSON.stringify(job), line, (said) => {
    if (said.kind === 'progress') progress(said.done, said.total, said.what);
    else if (said.kind === 'failed') problem = said.message;
    else files = said.files;
  });
  const finished = program.ended.then(({ cancelled, reason, error }) => {
    if (cancelled) throw new ExportCancelled('The export was cancelled.');
    if (files) return files;
    throw new Error(problem || `The export ended unexpectedly (${reason}). ${error} Try again.`.replaceAll('  ', ' '));
  });
  return { finished, cancel: program.cancel };
}
