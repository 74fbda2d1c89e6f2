// `lab study report NAME`: the report of a study, written from the database into a folder: Markdown, HTML, CSV, LaTeX, SVG
// figures, slides and the audit log of every episode. `lab study list` names the studies, `lab study save` makes one.

import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { writeFiles } from '../evaluation/report-files.ts';
import { reportFiles } from '../evaluation/study-report.ts';
import type { Store } from '../store/store.ts';
import type { Study } from '../store/studies.ts';
import { answer, CallError } from './output.ts';
import { findRun, withStore } from './store.ts';

export function register(program: Command): void {
  const study = program.command('study').description('named sets of runs that are compared, and their report');

  study
    .command('list')
    .description('the studies with their runs')
    .action(() =>
      withStore((store) => {
        const studies = store.studies.list();
        const lines = studies.map(({ name, runs }) => `${name}: runs ${runs.join(', ')}`);
        answer(
          studies.map(({ name, runs }) => ({ study: name, runs })),
          lines.length > 0 ? lines.join('\n') : 'There are no studies yet',
        );
      }),
    );

  study
    .command('save <name> <runs...>')
    .description('a name for a set of runs')
    .action((name: string, references: string[]) =>
      withStore((store) => {
        if (store.studies.find(name)) throw new CallError(`There is a study named "${name}" already`, 'Choose another name');
        const { runs } = store.studies.create(
          name,
          references.map((reference) => findRun(store, reference)),
        );
        answer({ study: name, runs }, `Study “${name}”: runs ${runs.join(', ')}`);
      }),
    );

  study
    .command('report <name>')
    .description('the report of a study, as files in a folder')
    .option('--out <folder>', 'where to write it')
    .action((name: string, options: { readonly out?: string }) =>
      withStore((store) => {
        const { runs } = findStudy(store, name);
        if (runs.length === 0) throw new CallError(`The study "${name}" has no runs`, '`lab study save` makes one with runs');
        const folder = resolve(options.out ?? `report-${name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}`);
        const files = reportFiles(store, runs, name);
        mkdirSync(folder, { recursive: true });
        const written = writeFiles(folder, files);
        answer({ study: name, runs, done: true, folder, files: written }, [folder, ...written.map((file) => `  ${file}`)].join('\n'));
      }),
    );
}

function findStudy(store: Store, name: string): Study {
  const study = store.studies.find(name);
  if (study) return study;
  const known = store.studies.list().map((one) => one.name);
  throw new CallError(`There is no study "${name}"`, known.length === 0 ? 'There are none yet' : `There are ${known.join(', ')}`);
}
