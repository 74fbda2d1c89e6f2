// `lab tune`: the same number of trials on the same validation tasks for every algorithm, so that a comparison of algorithms is
// fair. Trials are ordinary runs; calling again continues and repeats nothing. The best settings go into files that
// `lab train --config` and `lab study run --tuned` take. docs/TUNING.md explains the method.

import type { Catalog } from '../config/catalog.ts';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { interval, percent } from '../base/format.ts';
import { writeOutput } from '../base/output-file.ts';
import { textTable } from '../report/report.ts';
import { trialSettings } from '../study/search-space.ts';
import { overridesOf } from '../study/plan.ts';
import { type Subject, tune, type Tuning } from '../study/tune.ts';
import { applyOverrides } from '../config/overrides.ts';
import { loadPreset, presetIds } from '../config/presets.ts';
import { catalog } from './shared/catalog.ts';
import { outFolder } from './shared/out.ts';
import { answer, CallError, note } from './shared/output.ts';
import { withStore } from './shared/store.ts';
import { addJobs, collect, wholeNumber, words, working } from './shared/work.ts';

interface TuneOptions {
  readonly preset: string;
  readonly variants?: string;
  readonly trials: number;
  readonly seed: number;
  readonly set: readonly string[];
  readonly updates?: number;
  readonly tasks: number;
  readonly jobs: number;
  readonly out?: string;
}

const variantIds = ({ algorithms }: Catalog): string[] => algorithms.map(({ id }) => id);

export function register(program: Command): void {
  addJobs(program.command('tune'))
    .description('find settings for algorithms: the same number of trials on the same validation tasks for each')
    .requiredOption('--preset <name>', `where every trial starts from (${presetIds(catalog()).join(', ')})`)
    .option('--variants <list>', `which algorithms, comma-separated (${variantIds(catalog()).join(', ')}; default: all)`)
    .option('--trials <n>', 'trials of each algorithm, the default setting being the first', wholeNumber('--trials', 1), 4)
    .option('--seed <n>', 'decides the trials’ settings and their runs', wholeNumber('--seed'), 101)
    .option('--updates <n>', 'updates of every trial (default: the preset’s)', wholeNumber('--updates', 1))
    .option('--tasks <n>', 'validation tasks that trials are judged by', wholeNumber('--tasks', 1), 200)
    .option('--set <key=value>', 'change one field of every trial’s config (repeatable)', collect, [])
    .option('--out <folder>', 'where the best settings are written (default: tuned-PRESET)', outFolder)
    .action((options: TuneOptions) =>
      withStore((store) =>
        working(store, options.jobs, async (work) => {
          const subjects = subjectsOf(store.catalog, options);
          const { trials, seed, tasks } = options;
          note(`${subjects.length} algorithms × ${trials} trials, ${tasks} validation tasks each`);
          const tunings = await tune(store, subjects, { trials, seed, tasks }, work);
          const folder = writeSettings(store.catalog, resolve(options.out ?? `tuned-${options.preset}`), subjects, tunings, options);
          answer(
            { preset: options.preset, trials, tasks, seed, folder, variants: tunings.map((one) => ({ ...one, best: one.best.trial })) },
            [table(tunings), ...tunings.map((one) => one.words), '', `Best settings: ${folder}`].join('\n'),
          );
        }),
      ),
    );
}

function subjectsOf(catalog: Catalog, options: TuneOptions): Subject[] {
  const variants = options.variants === undefined ? variantIds(catalog) : words(options.variants);
  const unknown = variants.find((id) => !variantIds(catalog).includes(id));
  if (unknown !== undefined) throw new CallError(`There is no algorithm "${unknown}"`, `Algorithms: ${variantIds(catalog).join(', ')}`);
  const base = loadPreset(catalog, options.preset).config;
  const budget = options.updates === undefined ? [] : [`training.updates=${options.updates}`];
  return variants.map((id) => ({
    id,
    preset: options.preset,
    config: applyOverrides(catalog, base, [`algorithm=${id}`, 'threads=1', ...budget, ...options.set]),
  }));
}

/** One config per algorithm for `lab train --config`, and all settings together for a study. */
function writeSettings(
  catalog: Catalog,
  folder: string,
  subjects: readonly Subject[],
  tunings: readonly Tuning[],
  { seed }: TuneOptions,
): string {
  for (const [index, { subject, best, variant }] of tunings.entries()) {
    const base = subjects[index]?.config;
    const config = applyOverrides(catalog, base, [
      ...overridesOf(trialSettings(catalog, variant, best.trial, seed)),
      `name=${subject} tuned`,
    ]);
    writeOutput(join(folder, `${subject}.json`), `${JSON.stringify(config, null, 2)}\n`);
  }
  const all = Object.fromEntries(tunings.map(({ subject, best }) => [subject, best.settings]));
  writeOutput(join(folder, 'tuned.json'), `${JSON.stringify(all, null, 2)}\n`);
  return folder;
}

function table(tunings: readonly Tuning[]): string {
  const rows = tunings.flatMap(({ subject, best, trials }) =>
    trials.map(({ trial, settings, run, success, return: mean, state }) => [
      `${subject} ${trial}${trial === best.trial ? ' *' : ''}`,
      String(run),
      success ? percent(success.rate) : state,
      success ? interval(success) : '–',
      mean === null ? '–' : mean.toFixed(3),
      overridesOf(settings).join(' ') || 'default',
    ]),
  );
  return textTable(['algorithm and trial', 'run', 'success', '95% interval', 'return', 'setting'], rows);
}
