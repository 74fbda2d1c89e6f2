// `lab export` and `lab import`: runs and studies as one file between two labs, and metrics and episodes as tables or
// TensorBoard event files for other tools.

import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { writeOutput } from '../base/output-file.ts';
import { EVALUATION_EXPORTS } from '../report/exports.ts';
import type { Run } from '../store/runs.ts';
import type { Store } from '../store/store.ts';
import { episodesCsv, episodesJsonLines, metricsCsv, metricsJsonLines } from '../interchange/tables.ts';
import { tensorboardFile } from '../interchange/tensorboard.ts';
import type { ImportResult } from '../interchange/import.ts';
import { exportRuns } from '../interchange/transfer.ts';
import { spawnChild } from '../process/child.ts';
import { importElsewhere } from '../process/import-elsewhere.ts';
import { onInterrupt } from './shared/interrupt.ts';
import { outFile, outFolder } from './shared/out.ts';
import { answer, CallError } from './shared/output.ts';
import { findRun, withStore } from './shared/store.ts';

interface ExportOptions {
  readonly study?: string;
  readonly out?: string;
  readonly format: string;
  readonly tokens?: boolean;
  readonly checkpoints: boolean;
}

/** What can be made of one run, line by line; the ending is that of its file. */
const TABLES: Record<
  string,
  { readonly ending: string; readonly lines: (store: Store, run: Run, options: ExportOptions) => Iterable<string> }
> = {
  'metrics-csv': { ending: 'metrics.csv', lines: (store, run) => metricsCsv(store, run.id) },
  'metrics-jsonl': { ending: 'metrics.jsonl', lines: (store, run) => metricsJsonLines(store, run.id) },
  'episodes-csv': { ending: 'episodes.csv', lines: (store, run) => episodesCsv(store, run.id) },
  'episodes-jsonl': { ending: 'episodes.jsonl', lines: (store, run, options) => episodesJsonLines(store, run.id, {}, options.tokens) },
};
/** Megabytes of JavaScript heap that an import may take. */
const IMPORT_HEAP = 320;
const FORMATS = ['astrolab', ...Object.keys(EVALUATION_EXPORTS), ...Object.keys(TABLES), 'tensorboard'];

export function register(program: Command): void {
  program
    .command('export [runs...]')
    .description('runs or a study as one file, or metrics and episodes as tables')
    .option('--study <name>', 'all runs of a study, and the study itself')
    .option('--format <format>', FORMATS.join(', '), 'astrolab')
    .option('--out <path>', 'the file to write; for tensorboard the log folder')
    .option('--tokens', 'episodes-jsonl: the numbers of every token too')
    .option('--no-checkpoints', 'astrolab: without the weights; smaller, but not resumable')
    .action((references: string[], options: ExportOptions) => withStore((store) => run(store, references, options)));

  program
    .command('import <file>')
    .description('add the runs of an exported file')
    .action((file: string) =>
      withStore(async (store) => {
        if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) throw new CallError(`There is no file ${file}`);
        const { runs, study } = await importHere(store.dataFolder, file);
        const lines = runs.map(({ run: id, name, added }) => `run ${id} “${name}” ${added ? 'added' : 'was there already'}`);
        answer({ runs, study }, [...lines, ...(study === null ? [] : [`study “${study}”`])].join('\n'));
      }),
    );
}

/** In a separate process; Ctrl-C ends it, and nothing is changed. */
async function importHere(folder: string, file: string): Promise<ImportResult> {
  const cancel = new AbortController();
  const ignore = onInterrupt(() => cancel.abort());
  try {
    const progress = (done: number, total: number): void => {
      if (process.stderr.isTTY && total > 1) process.stderr.write(`\r\x1b[2K${done} of ${total} runs`);
    };
    return await importElsewhere(() => spawnChild({ heapMegabytes: IMPORT_HEAP }), folder, resolve(file), {
      progress,
      signal: cancel.signal,
    });
  } finally {
    ignore();
  }
}

function run(store: Store, references: readonly string[], options: ExportOptions): void {
  if (!FORMATS.includes(options.format)) throw new CallError(`There is no format "${options.format}"`, `Expected ${FORMATS.join(', ')}`);
  const study = options.study === undefined ? undefined : store.studies.find(options.study);
  if (options.study !== undefined && study === undefined) {
    const known = store.studies.list().map(({ name }) => name);
    throw new CallError(
      `There is no study "${options.study}"`,
      known.length === 0 ? 'There are none yet' : `There are ${known.join(', ')}`,
    );
  }
  const ids = study?.runs ?? references.map((reference) => findRun(store, reference));
  const [first] = ids;
  if (first === undefined) throw new CallError('Expected the number of a run, or --study NAME');
  const stem = study === undefined ? `run-${first}` : `study-${study.name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}`;

  if (options.format === 'astrolab') {
    const file = outFile(options.out ?? `${stem}.astrolab`);
    const done = exportRuns(store, ids, file, { ...(study && { study: study.id }), checkpoints: options.checkpoints });
    return answer(done, `${done.file}: ${done.bytes} bytes, ${ids.length} run${ids.length === 1 ? '' : 's'}`);
  }
  if (options.format === 'tensorboard') {
    const folder = outFolder(options.out ?? `${stem}-tensorboard`);
    const files = ids.map((id) => writeTensorboard(store, store.runs.get(id), folder));
    const bytes = files.reduce((sum, file) => sum + statSync(file).size, 0);
    return answer({ file: folder, bytes, files }, `${folder}: tensorboard --logdir ${folder}`);
  }
  const evaluated = EVALUATION_EXPORTS[options.format];
  if (evaluated !== undefined && (evaluated.over === 'runs' || ids.length === 1)) {
    const runs = ids.map((id) => store.runs.get(id));
    const file = outFile(options.out ?? `${stem}.${evaluated.ending}`);
    const bytes = writeOutput(file, evaluated.make(store, runs));
    return answer({ file, bytes }, `${file}: ${bytes} bytes`);
  }
  const table = TABLES[options.format];
  if (table === undefined || ids.length > 1)
    throw new CallError(`--format ${options.format} writes one run at a time, ${ids.length} were named`);
  const file = outFile(options.out ?? `${stem}.${table.ending}`);
  const bytes = writeOutput(file, table.lines(store, store.runs.get(first), options));
  answer({ file, bytes }, `${file}: ${bytes} bytes`);
}

/** One folder per run, as TensorBoard wants it. */
function writeTensorboard(store: Store, { id, name, seed, startedAt, createdAt }: Run, folder: string): string {
  const names = store.metrics.names(id);
  const series = store.metrics.many(id, names);
  const elapsed = series['system/time.elapsed'];
  const seconds = new Map([...(elapsed?.updates ?? [])].map((update, index) => [update, elapsed?.values[index] ?? 0]));
  const started = startedAt ?? createdAt;
  const data = tensorboardFile(series, started, (update) => seconds.get(update) ?? update);
  const path = join(folder, `${id}-${name.replaceAll(/[^\w.-]+/g, '-')}-seed${seed}`);
  const file = join(path, `events.out.tfevents.${Math.floor(started / 1000)}.astrolab`);
  writeOutput(file, data);
  return file;
}
