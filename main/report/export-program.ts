// Writes the files of a report, a separate program: `export-program <job as JSON>`. Each line it prints is one JSON
// document: how far it is, then the names of the files, or what is wrong (export.ts reads them).

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Store } from '../store/store.ts';
import { type ExportLine, exportJob } from './export.ts';
import { writeOutput } from '../base/output-file.ts';
import { reportFiles } from './study-report.ts';

function tell(line: ExportLine): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

function run(text: string): void {
  const { dataFolder, folder, runs, title, formats, view } = exportJob.parse(JSON.parse(text));
  tell({ kind: 'progress', done: 0, total: 1, what: 'comparing the runs' });
  const store = Store.read(dataFolder);
  try {
    const files = reportFiles(store, runs, title, { view: view && asView(view), formats });
    mkdirSync(folder, { recursive: true });
    files.forEach(({ name, text: pieces }, index) => {
      tell({ kind: 'progress', done: index, total: files.length, what: name });
      writeOutput(join(folder, name), pieces);
    });
    tell({ kind: 'done', files: files.map(({ name }) => name) });
  } finally {
    store.close();
  }
}

type View = NonNullable<ReturnType<typeof exportJob.parse>['view']>;

/** Without the fields that are there but undefined. */
function asView({ groups, baseline }: View) {
  return {
    baseline,
    groups: groups.map(({ key, runs, look: { colour, dash } }) => ({
      key,
      runs,
      look: { ...(colour !== undefined && { colour }), ...(dash !== undefined && { dash }) },
    })),
  };
}

try {
  run(process.argv[2] ?? '');
} catch (error) {
  tell({ kind: 'failed', message: error instanceof Error ? error.message : String(error) });
}
