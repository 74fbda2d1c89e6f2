// Writes a report's files into a folder, each complete or not at all.

import { closeSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { ReportFile } from './study-report.ts';

/** Returns the names written. */
export function writeFiles(folder: string, files: readonly ReportFile[]): string[] {
  return files.map(({ name, text }) => {
    const file = join(folder, name);
    const temporary = `${file}.${process.pid}.part`;
    const handle = openSync(temporary, 'w');
    try {
      for (const piece of text) writeSync(handle, piece);
    } catch (error) {
      rmSync(temporary, { force: true });
      throw error;
    } finally {
      closeSync(handle);
    }
    renameSync(temporary, file);
    return name;
  });
}
