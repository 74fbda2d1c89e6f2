// `lab train` and `lab resume`: a run from the command line, in a separate training process, with the same store and
// the same numbers as in the window. Progress with an estimate goes to stderr. Ctrl-C once finishes the
// batch under way and saves; `lab resume` continues exactly there.

import { readFileSync, statSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { tabulate } from '../evaluation/evaluate.ts';
import { duration, interval, percent } from '../base/format.ts';
import { evaluationText } from '../report/report.ts';
import { adviceFor, deviceSpent, deviceText, timeRows, timeSpent } from '../report/timing.ts';
import type { Store } from '../store/store.ts';
import { spawnChild } from '../process/child.ts';
import { ConfigError, type RunConfig } from '../config/config.ts';
import { readConfig } from '../config/upgrade.ts';
import { launchWith } from '../process/launch.ts';
import { parseSeeds, worldIssues } from '../config/orders.ts';
import { applyOverrides } from '../config/overrides.ts';
import { loadPreset, presetIds, type Size, SIZES, sized } from '../config/presets.ts';
import { RunQueue } from '../queue/queue.ts';
import { estimateRun } from '../queue/estimate.ts';
import { megabytes } from '../engine/graph/memory.ts';
import { ModelError } from '../policy/model/files/tensor-source.ts';
import { type FittedRun, fitMemory } from '../training/batching/fit-memory.ts';
import { planText } from '../training/batching/memory-text.ts';
import type { RunReport } from '../training/reports.ts';
import { branchConfig, branchIssues } from '../queue/branch.ts';
import { newRun, writerOptions } from '../queue/new-run.ts';
import { catalog } from './shared/catalog.ts';
import { CallError, answer, exitWith, note, noteLine } from './shared/output.ts';
import { onInterrupt } from './shared/interrupt.ts';
import { addOn, answerDryRun, type OnOptions, sendTo, waitFor } from './on-cluster.ts';
import { findRun, withStore } from './shared/store.ts';
import { addDataOptions, dataSetting } from './shared/world-options.ts';

interface TrainOptions extends OnOptions {
  readonly seeds?: string;
  readonly wait?: boolean;
  readonly preset?: string;
  readonly from?: string;
  readonly size?: Size;
  readonly config?: string;
  readonly seed?: string;
  readonly set: readonly string[];
  readonly device?: string;
  readonly name?: string;
  readonly tag: readonly string[];
}

const collect = (text: string, before: readonly string[]): string[] => [...before, text];

export function register(program: Command): void {
  addDataOptions(
    addOn(program.command('train'), 'start nothing: show what the run would take of this machine; with --on, the batch scripts'),
  )
    .description('train a run: reference policy, V*, updates, evaluation')
    .option('--preset <name>', `where the config starts from (${presetIds(catalog()).join(', ')})`)
    .addOption(
      new Option(
        '--size <size>',
        'of the preset: quick shows that it works, small where a small policy goes, medium where it goes',
      ).choices([...SIZES]),
    )
    .option('--from <run@update>', 'branch: start from a checkpoint of another run, with its config (run@best: the best validation)')
    .option('--config <file>', 'a JSON file with a run config instead of a preset')
    .option('--seed <n>', 'every random draw of the run follows from it')
    .option('--seeds <list>', 'a run for each of these seeds, for example 1-20')
    .option('--wait', 'with --on: wait for the runs and collect them')
    .option('--set <key=value>', 'change one field of the config, e.g. training.updates=50 (repeatable)', collect, [])
    .option('--device <id>', '`lab doctor` lists what there is')
    .option('--name <text>', 'name of the run, for people')
    .option('--tag <text>', 'a tag for the list of runs (repeatable)', collect, [])
    .action(async (options: TrainOptions) => {
      await withStore(async (store) => {
        const config = configOf(store, options);
        const seeds = seedsOf(options, config);
        if (options.on !== undefined)
          return trainOn(
            store,
            options.on,
            seeds.map((seed) => ({ ...config, seed })),
            options,
          );
        const fitted = fitHere(store, config);
        if (options.dryRun === true) return answerPlan(store, fitted, seeds);
        if (fitted.plan) note(planText(fitted));
        if (seeds.length > 1)
          return trainSeeds(
            store,
            seeds.map((seed) => ({ ...fitted.config, seed })),
            options,
          );
        const run = store.runs.create(
          newRun(store.catalog, { ...fitted.config, seed: seeds[0] ?? config.seed }, options.preset ?? null, options.tag),
        );
        note(`Run ${run.id} “${run.name}” in ${store.dataFolder}`);
        await trainHere(store, run.id);
        return tellOutcome(store, run.id);
      });
    });

  program
    .command('resume <run>')
    .description('resume an interrupted, paused or stopped run exactly where it stopped')
    .option('--restart', 'start from the beginning if no checkpoint can be read, and drop what was recorded')
    .option('--on-cpu', 'continue on the CPU a run that was started on another device')
    .action(async (reference: string, options: { restart?: boolean; onCpu?: boolean }) => {
      await withStore(async (store) => {
        const run = findRun(store, reference);
        await trainHere(store, run, { restart: options.restart === true, onCpu: options.onCpu === true });
        tellOutcome(store, run);
      });
    });
}

const LARGEST_CONFIG = 4 * 1024 * 1024;

/** A device has no size to go by and may never end, so only a plain file is read. */
function readConfigFile(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found?.isFile() !== true) throw new CallError(`There is no file ${file}`, 'Expected a JSON file with a run config');
  if (found.size > LARGEST_CONFIG) throw new CallError(`${file} has ${found.size} bytes; a run config has a few thousand`);
  return readFileSync(file, 'utf8');
}

/** What the config starts from: a preset, a file, or a checkpoint of another run. */
function baseOf(store: Store, { preset, config, from, on, size }: TrainOptions): unknown {
  if (size !== undefined && preset === undefined) throw new CallError('--size is for --preset');
  if (from !== undefined) {
    if (preset !== undefined || config !== undefined) throw new CallError('Expected --from or --preset or --config, not several');
    if (on !== undefined) throw new CallError('--from trains on this machine, where the checkpoint is; leave --on out');
    const match = /^(.+)@(\d+|best)$/.exec(from);
    if (!match?.[1]) throw new CallError(`--from expects RUN@UPDATE or RUN@best, found "${from}"`, 'For example --from 3@40');
    return branchConfig(store, findRun(store, match[1]), match[2] === 'best' ? 'best' : Number(match[2]));
  }
  if (config !== undefined) return JSON.parse(readConfigFile(config));
  if (preset !== undefined) return sized(store.catalog, loadPreset(store.catalog, preset), size ?? 'full');
  throw new CallError('Expected --preset, --config or --from', `Presets: ${presetIds(store.catalog).join(', ')}`);
}

function configOf(store: Store, options: TrainOptions): RunConfig {
  try {
    const base = baseOf(store, options);
    const changes = [...options.set];
    if (options.seed !== undefined) changes.push(`seed=${options.seed}`);
    if (options.device !== undefined) changes.push(`device=${options.device}`);
    if (options.name !== undefined) changes.push(`name=${options.name}`);
    const config = applyOverrides(store.catalog, readConfig(store.catalog, base), changes);
    const data = dataSetting(config.world, options);
    const chosen = data ? applyOverrides(store.catalog, config, [`world.settings.${data[0]}=${data[1]}`]) : config;
    const [issue] = [...worldIssues(store.catalog, chosen), ...branchIssues(store, chosen)];
    if (issue) throw new CallError(`${issue.key}: ${issue.message}`, `--set ${issue.key}=…`);
    return chosen;
  } catch (error) {
    if (error instanceof ConfigError) throw new CallError(error.message, 'npm run lab -- train --help');
    if (error instanceof SyntaxError) throw new CallError(`${options.config} is not JSON: ${error.message}`);
    throw error;
  }
}

function seedsOf({ seeds, seed, on, wait }: TrainOptions, config: RunConfig): readonly number[] {
  if (on === undefined && wait === true) throw new CallError('--wait is for --on CLUSTER');
  if (seeds === undefined) return [config.seed];
  if (seed !== undefined) throw new CallError('Expected --seed or --seeds, not both');
  const parsed = parseSeeds(seeds);
  if (typeof parsed === 'string') throw new CallError(`--seeds: ${parsed}`);
  return parsed;
}

/** The config as it fits into this machine's memory. */
function fitHere(store: Store, config: RunConfig): FittedRun {
  try {
    return fitMemory(store.catalog, config, store.dataFolder);
  } catch (error) {
    if (error instanceof ConfigError || error instanceof ModelError) throw new CallError(error.message);
    throw error;
  }
}

/** What a run would take, without creating it. */
function answerPlan(store: Store, fitted: FittedRun, seeds: readonly number[]): void {
  const { config, plan, changes, free } = fitted;
  const { seconds, memoryBytes, diskBytes, basis } = estimateRun(store, config);
  answer(
    {
      config,
      seeds,
      changes,
      memory: plan ? { ...plan, free } : { needed: memoryBytes, free },
      seconds,
      disk: diskBytes,
    },
    [
      `${config.name}: ${seeds.length === 1 ? `seed ${seeds[0]}` : `${seeds.length} seeds`}; nothing was started`,
      plan ? planText(fitted) : `Memory: at most ${config.memory} MB (setting memory), ${megabytes(free ?? 0)} free`,
      `Disk: ${megabytes(diskBytes)}`,
      seconds === null ? basis : `Time: about ${duration(seconds)}. ${basis}`,
    ].join('\n'),
  );
}

/** One run after the other on this machine. */
async function trainSeeds(store: Store, configs: readonly RunConfig[], { preset, tag }: TrainOptions): Promise<void> {
  const runs: { run: number; seed: number; state: string }[] = [];
  for (const config of configs) {
    const { id } = store.runs.create(newRun(store.catalog, config, preset ?? null, tag));
    note(`Run ${id}, seed ${config.seed}`);
    await trainHere(store, id);
    const { state } = store.runs.get(id);
    runs.push({ run: id, seed: config.seed, state });
    if (state !== 'done') process.exitCode = 1;
    if (state === 'stopped') break;
  }
  answer({ runs }, runs.map(({ run, seed, state }) => `Run ${run}, seed ${seed}: ${state}`).join('\n'));
}

async function trainOn(store: Store, on: string, configs: readonly RunConfig[], options: TrainOptions): Promise<void> {
  const wanted = configs.map((config) => ({ config, preset: options.preset ?? null, tags: options.tag }));
  const title = `${configs[0]?.name ?? ''}, ${configs.length} runs`;
  if (options.dryRun === true) return answerDryRun(store, on, wanted, title);
  const { at, submissions } = await sendTo(store, on, wanted, title);
  const ids = submissions.map(({ id }) => id);
  if (options.wait !== true) {
    const next = `npm run lab -- cluster status ${ids.at(-1) ?? 'last'}`;
    return answer(
      { cluster: on, submissions: ids, runs: [] },
      `Submitted. ${next} shows the tasks, cluster collect brings finished runs here`,
    );
  }
  const failed = await waitFor(at, submissions);
  const runs = submissions.flatMap(({ file }) => file.tasks.flatMap(({ uid }) => store.runs.findByUid(uid)?.id ?? []));
  for (const { id, name, seed, reason } of failed) note(`Task ${id} (${name}, seed ${seed}) failed: ${reason}`);
  if (failed.length > 0) process.exitCode = 1;
  answer(
    { cluster: on, submissions: ids, runs, failed: failed.map(({ id }) => id) },
    `${runs.length} runs here: ${runs.join(', ')}; ${failed.length} failed`,
  );
}

/** Trains a run to its end and reports progress. */
export async function trainHere(store: Store, id: number, options: { restart?: boolean; onCpu?: boolean } = {}): Promise<void> {
  const queue = new RunQueue({
    store,
    launch: launchWith(spawnChild, store.dataFolder),
    writer: writerOptions,
    onReport: (_run, report) => narrate(report),
  });
  let asked = 0;
  const ignore = onInterrupt(() => {
    asked += 1;
    if (asked === 1) {
      note('\nSaving before stopping; Ctrl-C again ends at once');
      queue.stop(id);
    } else queue.cancel(id);
  });
  try {
    queue.train(id, options);
    await queue.settled();
  } finally {
    await queue.close();
    ignore();
  }
}

/** The command's answer; the exit code is the outcome of the run. */
function tellOutcome(store: Store, id: number): void {
  const run = store.runs.get(id);
  const evaluation = store.evaluations.finalOrLatest(id);
  const table = evaluation && tabulate(store.evaluations.results(evaluation.id));
  const { state, updates, episodes, seconds } = run;
  const time = timeSpent(store, id);
  const device = deviceSpent(store, id);
  const spent = timeRows(time).map(({ name, seconds: own, share }) => `${name} ${own.toFixed(1)} s (${percent(share)})`);
  const advice = adviceFor(store, run);
  if (state === 'failed' || run.reason !== null) note(`Run ${id} is ${state}${run.reason === null ? '' : `: ${run.reason}`}`);
  answer(
    {
      run: id,
      state,
      updates,
      episodes,
      seconds,
      evaluation: table ? { split: evaluation.split, ...table } : null,
      time,
      advice,
      ...(device && { device }),
    },
    [
      `Run ${id}: ${state} after ${updates} updates, ${episodes} episodes, ${duration(seconds)}`,
      table ? evaluationText({ name: `${run.name} (${evaluation.split} tasks)`, table }) : '',
      spent.length > 0 ? `Where the time of the updates went: ${spent.join(', ')}` : '',
      ...(device ? [deviceText(device)] : []),
      ...advice,
    ].join('\n'),
  );
  exitWith(state);
}

let lastNews = '';
let lastTold = Number.NEGATIVE_INFINITY;
/** Into a file or a pipe, progress of the same kind is told no more often than this. */
const TOLD_EVERY = 60_000;

/** One line per kind of news; progress is rewritten in place on a terminal and printed sparsely elsewhere. */
function narrate(report: RunReport): void {
  if (report.type === 'progress') {
    const left = report.secondsLeft === null ? '' : `, ${duration(report.secondsLeft)} left`;
    const line = `${report.phase}: ${Math.round(report.done)} of ${Math.round(report.total)}${left}`;
    const news = report.phase.replace(/loss [\d.]+/, '');
    if (process.stderr.isTTY) process.stderr.write(`\r\x1b[2K${line}`);
    else if (news !== lastNews || performance.now() - lastTold > TOLD_EVERY) {
      note(line);
      lastTold = performance.now();
    }
    lastNews = news;
  } else if (report.type === 'event') noteLine(`update ${report.update}: ${report.text}`);
  else if (report.type === 'evaluation') {
    const { success, steps } = tabulate(report.results);
    noteLine(
      `update ${report.update}: ${percent(success.rate)} (${interval(success)}) of ${success.n} ${report.split} tasks, ${steps.toFixed(2)} steps`,
    );
  }
}
