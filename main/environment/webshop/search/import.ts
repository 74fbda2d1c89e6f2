// The importer of original WebShop data: a process beside the lab (import-program.ts) checks and indexes a folder.

import { z } from 'zod';
import { startProgram } from '../../../base/program.ts';
import type { DataImport, DataImporter, ImportedData } from '../../data.ts';
import { DataError } from './records.ts';

const PROGRAM = { source: 'main/environment/webshop/search/import-program.ts', bundle: 'webshop-import.js' };

const line = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('progress'), share: z.number(), what: z.string() }),
  z.object({
    kind: z.literal('done'),
    counts: z.object({ products: z.number(), goals: z.number() }),
    index: z.string(),
    indexBytes: z.number(),
    skipped: z.number(),
  }),
  z.object({ kind: z.literal('problem'), message: z.string(), hint: z.string() }),
]);
export type ImportLine = z.infer<typeof line>;

class ImportCancelled extends Error {
  readonly code = 'cancelled';
  readonly hint = 'What was indexed is kept: importing the same folder again continues from there.';
}

function start(folder: string, progress: (share: number, what: string) => void): DataImport {
  let result: ImportedData | undefined;
  let problem: DataError | undefined;
  const program = startProgram(PROGRAM, folder, line, (said) => {
    if (said.kind === 'progress') progress(said.share, said.what);
    else if (said.kind === 'problem') problem = new DataError(said.message, said.hint);
    else {
      const { kind: _kind, ...rest } = said;
      result = rest;
    }
  });
  const finished = program.ended.then(({ cancelled, reason, error }) => {
    if (cancelled) throw new ImportCancelled('The import was cancelled.');
    if (problem) throw problem;
    if (!result) throw new DataError(`Indexing ended unexpectedly (${reason}). ${error}`, 'Try again; it continues where it stopped.');
    return result;
  });
  return { finished, cancel: program.cancel };
}

export const webshopImporter: DataImporter = {
  title: 'WebShop data',
  about:
    'WebShop comes with a small built-in catalog. To use the original data (1,000 or 1.18 million products) instead, choose the folder with the products and their instructions. It is indexed once; the files are not moved.',
  files: ['items_shuffle_1000.json', 'items_shuffle.json'],
  placeholder: '/path/to/webshop/data',
  counts: { products: 'products', goals: 'tasks' },
  storage: { name: 'webshop', title: 'Indexes', what: 'Search indexes of WebShop data in read-only folders.' },
  start,
};
