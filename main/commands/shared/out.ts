// What `--out` accepts, as parsers of the option: they refuse before the work begins, because whoever waited for a study learns nothing
// new from "is a folder".

import { lstatSync, type Stats, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { mayWriteIn, outputTarget } from '../../base/output-file.ts';
import { answerBesideOutput, CallError, inWords, wantsJson } from './output.ts';

/** One file that `writeOutput` writes: a regular file, a device, a pipe, or - for standard output. */
export function outFile(path: string): string {
  const target = refusing(() => outputTarget(path));
  if (target.kind !== 'descriptor') return resolve(path);
  if (target.descriptor === 1) {
    if (wantsJson()) throw new CallError('--json and --out both ask for standard output', 'Name a file with --out, or leave --json out');
    answerBesideOutput(true);
  }
  return path;
}

/** A file that others stand beside. */
export function outPage(path: string): string {
  if (refusing(() => outputTarget(path)).kind !== 'file')
    throw new CallError(`--out: ${path} is no regular file`, 'Figures are written beside the page: name a file');
  return resolve(path);
}

/** A folder that is there or can be made. */
export function outFolder(path: string): string {
  const folder = resolve(path);
  const found = (look: typeof statSync | typeof lstatSync): Stats | undefined => refusing(() => look(folder, { throwIfNoEntry: false }));
  if (path === '-' || (found(statSync) ?? found(lstatSync))?.isDirectory() === false)
    throw new CallError(`--out: ${path} is no folder`, 'Several files are written here: name a folder, new or there already');
  refusing(() => mayWriteIn(folder));
  return folder;
}

/** A file or folder that is not there yet: it is read again when it has been written. */
export function outNew(path: string): string {
  if (path === '-' || refusing(() => lstatSync(path, { throwIfNoEntry: false })))
    throw new CallError(path === '-' ? '--out: a name is expected' : `--out: ${path} exists already`, 'Choose another name');
  refusing(() => mayWriteIn(dirname(resolve(path))));
  return resolve(path);
}

function refusing<T>(check: () => T): T {
  try {
    return check();
  } catch (error) {
    throw new CallError(`--out: ${inWords(error)}`, 'Name a place where a file can be written');
  }
}
