// Studies on the command line: `run` makes all runs of a definition (resources/studies/NAME.json) and decides its claims,
// `report` writes what the database says of a study (a page when --out ends in .md, else a folder of files), `export` makes
// one small file of it. `list` names the studies, `save` makes one of runs that are there already.

import type { Catalog } from '../config/catalog.ts';
import { readFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import type { Command } from 'commander';
import { z } from 'zod';
import { writeFiles } from '../report/report-files.ts';
import { reportFiles } from '../report/study-report.ts';
import { bytes as size, duration, interval, percent } from '../base/format.ts';
import { textTable } from '../report/report.ts';
import type { Store } from '../store/store.ts';
import type { Study } from '../store/studies.ts';
import { exportRuns } from '../interchange/transfer.ts';
import { hasDefinition, loadDefinition, parseDefinition, Settings, type StudyDefinition, studyIds } from '../study/definition.ts';
import { studyPage } from '../study/page.ts';
import { readRecord, type StudyRecord } from '../study/record.ts';
import { judged, keep, runStudy } from '../study/run-study.ts';
import { armConfig, armsToTune, type PlanOptions, planRuns } from '../study/plan.ts';
import { trialConfig } from '../study/tune.ts';
import { finishedRuns } from '../study/work.ts';
import { thinning } from '../study/sample.ts';
import { catalog } from './shared/catalog.ts';
import { outFile, outFolder, outPage } from './shared/out.ts';
import { answer, CallError, note } from './shared/output.ts';
import { findRun, withStore } from './shared/store.ts';
import { addOn, answerDryRun, type OnOptions, remoteWork } from './on-cluster.ts';
import { registerPlan } from './study-plan.ts';
import { addJobs, collect, wholeNumber, words, working } from './shared/work.ts';

interface RunOptions extends OnOptions {
  readonly definition?: string;
  readonly jobs: number;
  readonly only?: string;
  readonly seeds?: number;
  readonly updates?: number;
  readonly set: readonly string[];
  readonly tuned?: string;
  readonly finished?: boolean;
  readonly out?: string;
}

export function register(program: Command): void {
  const study = program.command('study').description('named sets of runs that are compared, and their report');
  for (const add of [registerList, registerSave, registerPlan, registerRun, registerReport, registerExport]) add(study);
}

function registerList(study: Command): void {
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
}

function registerSave(study: Command): void {
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
}

function registerRun(study: Command): void {
  addOn(addJobs(study.command('run <name>')))
    .description('tune, train all arms with all seeds and decide the claims; the same call resumes after any interruption')
    .option('--definition <file>', `your definition file instead of one of ${studyIds(catalog()).join(', ')}`)
    .option('--only <arms>', 'these arms only, with commas between them')
    .option('--seeds <n>', 'the first so many seeds only', wholeNumber('--seeds', 1))
    .option('--updates <n>', 'the budget: updates of every run', wholeNumber('--updates', 1))
    .option('--set <key=value>', 'change one field of every run’s config (repeatable)', collect, [])
    .option('--tuned <file>', 'settings that `lab tune` found (tuned.json), instead of tuning here')
    .option('--finished', 'train nothing: decide from the runs that are finished')
    .option('--out <file.md>', 'also write the report page', outPage)
    .action((name: string, options: RunOptions) =>
      withStore((store) =>
        working(store, options.jobs, async (work) => {
          const definition = definitionOf(store.catalog, name, options.definition);
          const plan = planOf(definition, options);
          if (options.dryRun === true) {
            if (options.on === undefined) throw new CallError('--dry-run is for --on CLUSTER');
            return dryRun(store, options.on, name, definition, plan, options);
          }
          const remote = options.on === undefined ? {} : { remote: remoteWork(store, options.on, name, work.signal) };
          const begin = performance.now();
          const { record, failed } = await runStudy(
            store,
            name,
            definition,
            { ...plan, tuned: tunedOf(options.tuned), stage: note },
            options.finished === true ? null : { ...work, ...remote },
          );
          const seconds = (performance.now() - begin) / 1000;
          for (const { id, name: arm, seed, reason } of failed) note(`Run ${id} (${arm}, seed ${seed}) failed: ${reason ?? ''}`);
          if (failed.length > 0) process.exitCode = 1;
          const files = options.out === undefined ? [] : writePage(store, record, options.out);
          const { runs } = findStudy(store, name);
          return answer(
            { study: name, runs, done: failed.length === 0, failed: failed.map(({ id }) => id), seconds, claims: verdicts(record), files },
            [summary(record), '', `Study “${name}”: ${runs.length} runs, ${duration(seconds)} in this call`, ...files].join('\n'),
          );
        }),
      ),
    );
}

function registerReport(study: Command): void {
  study
    .command('report <name>')
    .description('the report of a study: a page with its claims (--out FILE.md), or everything as files in a folder')
    .option('--out <path>', 'where to write it', (path: string) => (path.endsWith('.md') ? outPage : outFolder)(path))
    .option('--definition <file>', 'where its claims and discussion stand, if not in resources/studies')
    .action((name: string, options: { readonly out?: string; readonly definition?: string }) =>
      withStore((store) => {
        const { runs, plan } = findStudy(store, name);
        if (runs.length === 0) throw new CallError(`The study "${name}" has no runs`, '`lab study save` makes one with runs');
        const recorded = readRecord(plan);
        if (options.out?.endsWith('.md') === true) {
          if (!recorded)
            throw new CallError(
              `"${name}" is a selection of runs without claims`,
              'Give a folder as --out, or make it with `lab study run`',
            );
          const known = options.definition !== undefined || hasDefinition(store.catalog, recorded.definition);
          const record = known
            ? keep(store, name, judged(store, recorded, definitionOf(store.catalog, recorded.definition, options.definition)))
            : recorded;
          const files = writePage(store, record, options.out);
          return answer({ study: name, runs, done: true, claims: verdicts(record), files }, [summary(record), '', ...files].join('\n'));
        }
        const folder = resolve(options.out ?? `report-${name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}`);
        const files = reportFiles(store, runs, name);
        const written = writeFiles(folder, files);
        return answer(
          { study: name, runs, done: true, folder, files: written },
          [folder, ...written.map((file) => `  ${file}`)].join('\n'),
        );
      }),
    );
}

function registerExport(study: Command): void {
  study
    .command('export <name>')
    .description('the study as one file without weights, its episodes thinned out; `lab import` takes it')
    .option('--thin <n>', 'episodes kept of each run, failures of every class among them; 0 keeps all', wholeNumber('--thin'), 20)
    .option('--out <file>', 'the file to write', outFile)
    .action((name: string, options: { readonly thin: number; readonly out?: string }) =>
      withStore((store) => {
        const { id, runs } = findStudy(store, name);
        const file = options.out ?? resolve(`${name}-study.astrolab`);
        const thin = options.thin === 0 ? {} : { thin: thinning(store, options.thin) };
        const done = exportRuns(store, runs, file, { study: id, checkpoints: false, ...thin });
        answer({ ...done, study: name, runs: runs.length }, `${done.file}: ${size(done.bytes)}, ${runs.length} runs`);
      }),
    );
}

/** What would be submitted: the trials if there are arms to tune whose settings have not been tuned yet, else all runs. */
function dryRun(
  store: Store,
  on: string,
  name: string,
  definition: StudyDefinition,
  plan: PlanOptions,
  { tuned }: RunOptions,
): Promise<void> {
  const { preset } = definition.base;
  const known = tunedOf(tuned) ?? readRecord(store.studies.find(name)?.plan)?.tuned ?? {};
  const untuned = armsToTune(definition, plan.only).filter(({ id }) => known[id] === undefined);
  const trials = untuned.flatMap((arm) =>
    Array.from({ length: definition.tuning.trials }, (_, trial) =>
      trialConfig(
        store.catalog,
        { id: arm.id, preset, config: armConfig(store.catalog, definition, arm, plan, {}) },
        trial,
        definition.tuning,
      ),
    ),
  );
  const configs = trials.length > 0 ? trials : planRuns(store.catalog, definition, plan, known).map(({ config }) => config);
  const done = finishedRuns(
    store,
    configs.map((config) => ({ config, preset, tags: [] })),
  );
  const wanted = configs.filter((_, at) => done[at] === undefined).map((config) => ({ config, preset, tags: [] }));
  if (trials.length > 0) note(`${untuned.length} arms are tuned first: these are their trials`);
  return answerDryRun(store, on, wanted, `study ${name}`);
}

function definitionOf(catalog: Catalog, name: string, file: string | undefined): StudyDefinition {
  if (file === undefined) return loadDefinition(catalog, name);
  try {
    return parseDefinition(catalog, JSON.parse(readFileSync(file, 'utf8')), file);
  } catch (error) {
    throw new CallError(`${file} is no study definition: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function planOf(definition: StudyDefinition, options: RunOptions) {
  const only = options.only === undefined ? null : words(options.only);
  const unknown = only?.find((id) => !definition.arms.some((arm) => arm.id === id));
  if (unknown !== undefined)
    throw new CallError(`The study has no arm "${unknown}"`, `Arms: ${definition.arms.map(({ id }) => id).join(', ')}`);
  return {
    updates: options.updates ?? definition.updates,
    seeds: definition.seeds.slice(0, options.seeds ?? definition.seeds.length),
    only,
    set: options.set,
  };
}

function tunedOf(file: string | undefined): Record<string, Settings> | null {
  if (file === undefined) return null;
  const parsed = z.record(z.string(), Settings).safeParse(JSON.parse(readFileSync(file, 'utf8')));
  if (!parsed.success) throw new CallError(`${file} does not hold tuned settings by arm: ${z.prettifyError(parsed.error)}`);
  return parsed.data;
}

/** The page and, beside it in a separate folder, the figures. */
function writePage(store: Store, record: StudyRecord, out: string): string[] {
  const file = resolve(out);
  const figures = basename(file, '.md').toLowerCase();
  return writeFiles(dirname(file), studyPage(store, record, basename(file), figures));
}

const verdicts = ({ claims }: StudyRecord) => claims.map(({ id, claim, verdict, corrected }) => ({ id, claim, verdict, corrected }));

function summary({ arms, claims }: StudyRecord): string {
  const rows = arms.map(({ title, runs, mean }) => [
    title,
    String(runs.length),
    mean ? percent(mean.value) : '–',
    mean && runs.length > 1 ? interval(mean) : '–',
  ]);
  return [
    textTable(['arm', 'runs', 'success', '95% over seeds'], rows),
    '',
    ...claims.map(({ claim, verdict, corrected }) => `${verdict}${corrected ? ` (corrected: ${corrected})` : ''}: ${claim}`),
  ].join('\n');
}

function findStudy(store: Store, name: string): Study {
  const study = store.studies.find(name);
  if (study) return study;
  const known = store.studies.list().map((one) => one.name);
  throw new CallError(`There is no study "${name}"`, known.length === 0 ? 'There are none yet' : `There are ${known.join(', ')}`);
}
