// Writes files of text, each complete or not at all: a report's into its folder, or a long table piece by piece.

import { closeSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { ReportFile } from './study-report.ts';

/** Returns the names written. */
export function writeFiles(folder: string, files: readonly ReportFile[]): string[] {
  return files.map(({ name, text }) => {
    writeWhole(join(folder, name), text);
    return name;
  });
}

/** Returns the bytes written. */
export function writeWhole(file: string, pieces: Iterable<string>): number {
  const temporary = `${file}.${process.pid}.part`;
  const handle = openSync(temporary, 'w');
  let bytes = 0;
  try {
    for (const piece of pieces) bytes += writeSync(handle, piece);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  } finally {
    closeSync(handle);
  }
  renameSync(temporary, file);
  return bytes;
}
