// Writes a report's files into its folder, each complete or not at all.

import { join } from 'node:path';
import { writeOutput } from '../base/output-file.ts';
import type { ReportFile } from './study-report.ts';

/** Returns the names written. */
export function writeFiles(folder: string, files: readonly ReportFile[]): string[] {
  return files.map(({ name, text }) => {
    writeOutput(join(folder, name), text);
    return name;
  });
}
