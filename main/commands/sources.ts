// `lab sources`: the systems of the write-ups as a table of what was expected, measured then and measured here; with --train it first trains what is
// missing (interrupted runs continue where they stopped) and plays training tasks for the train–test gap.

import { type Command, Option } from 'commander';
import { parseSeeds } from '../config/orders.ts';
import { type Size, SIZES } from '../config/presets.ts';
import { evaluatePolicy } from '../evaluation/play.ts';
import { duration, percent } from '../base/format.ts';
import { writeOutput } from '../base/output-file.ts';
import { estimateRun } from '../queue/estimate.ts';
import { policyOfRun } from '../replay/policies.ts';
import { textTable } from '../report/report.ts';
import type { Store } from '../store/store.ts';
import { evaluationOn, loadSystems, measureSystem, type System, systemConfig } from '../study/sources.ts';
import { SOURCES_HEADER, sourcesMarkdown, sourcesRow } from '../study/sources-page.ts';
import { sameRun, trainAll } from '../study/work.ts';
import { worldHash } from '../training/run-setup.ts';
import { outFile } from './shared/out.ts';
import { answer, CallError, note } from './shared/output.ts';
import { withStore } from './shared/store.ts';
import { addJobs, collect, working } from './shared/work.ts';

interface Options {
  readonly train?: boolean;
  readonly plan?: boolean;
  readonly jobs: number;
  readonly size: Size;
  readonly seeds: string;
  readonly only?: string;
  readonly set: readonly string[];
  readonly out?: string;
}

/** Training tasks that are played for the train–test gap. */
const TRAIN_TASKS = 200;

export function register(program: Command): void {
  addJobs(program.command('sources'))
    .description('the systems of the write-ups: expected, measured then, measured here')
    .option('--train', 'train what is missing first; what was interrupted continues')
    .option('--plan', 'only list the runs that are missing, with an estimate of their time')
    .addOption(new Option('--size <size>', 'of the presets').choices([...SIZES]).default('medium'))
    .option('--seeds <list>', 'of every system, for example 1-3', '1-3')
    .option(
      '--only <ids>',
      `some of the systems (${loadSystems()
        .map(({ id }) => id)
        .join(', ')}), comma-separated`,
    )
    .option('--set <key=value>', 'change one field of every config (repeatable)', collect, [])
    .option('--out <file>', 'also write the tables to this Markdown file', outFile)
    .action((options: Options) => withStore((store) => run(store, options)));
}

async function run(store: Store, options: Options): Promise<void> {
  const systems = chosen(options.only);
  const seeds = parseSeeds(options.seeds);
  if (typeof seeds === 'string') throw new CallError(`--seeds: ${seeds}`);
  const { size, set: changes } = options;
  if (options.plan === true) return plan(store, systems, seeds, options);
  if (options.train === true) await train(store, systems, seeds, options);
  const measured = systems.map((system) => measureSystem(store, system, { size, seeds, changes }));
  const command = `npm run lab -- sources --size ${size} --seeds ${options.seeds}${changes.map((change) => ` --set ${change}`).join('')}`;
  if (options.out !== undefined) writeOutput(options.out, sourcesMarkdown(store.catalog, measured, command));
  answer(
    { size, seeds, systems: measured.map(({ system, updates, runs }) => ({ system: system.id, updates, runs })) },
    textTable([...SOURCES_HEADER], measured.map(sourcesRow)),
  );
}

function chosen(only: string | undefined): readonly System[] {
  const all = loadSystems();
  if (only === undefined) return all;
  return only.split(',').map((id) => {
    const system = all.find((one) => one.id === id.trim());
    if (!system) throw new CallError(`There is no system "${id.trim()}"`, `There are ${all.map((one) => one.id).join(', ')}`);
    return system;
  });
}

function plan(store: Store, systems: readonly System[], seeds: readonly number[], { size, set }: Options): void {
  const rows = systems.flatMap((system) =>
    seeds.map((seed) => {
      const config = systemConfig(store.catalog, system, size, seed, set);
      const state = sameRun(store, config)?.state ?? 'missing';
      return {
        system: system.id,
        seed,
        state,
        updates: config.training.updates,
        seconds: state === 'done' ? 0 : estimateRun(store, config).seconds,
      };
    }),
  );
  const shown = (seconds: number | null): string => (seconds === null ? 'not measured yet' : duration(seconds));
  answer(
    { size, runs: rows },
    textTable(
      ['system', 'seed', 'state', 'updates', 'estimate'],
      rows.map(({ system, seed, state, updates, seconds }) => [system, String(seed), state, String(updates), shown(seconds)]),
    ),
  );
}

/** The first seed of every system, then the second, so that an early end leaves something of each. */
async function train(store: Store, systems: readonly System[], seeds: readonly number[], { size, set, jobs }: Options): Promise<void> {
  const wanted = seeds.flatMap((seed) =>
    systems.map((system) => ({ config: systemConfig(store.catalog, system, size, seed, set), preset: system.preset, tags: ['sources'] })),
  );
  const runs = await working(store, jobs, (work) => trainAll(store, wanted, work));
  for (const { id, name, seed, state, reason } of runs) {
    if (state !== 'done') {
      note(`Run ${id} (${name}, seed ${seed}) ${state}: ${reason ?? ''}`);
      process.exitCode = 1;
    } else if (!evaluationOn(store, id, 'train')) await playTraining(store, id);
  }
}

/** The final policy on training tasks, decoded as it was on the test tasks. */
async function playTraining(store: Store, run: number): Promise<void> {
  const { player, setup, update } = policyOfRun(store, run);
  const { temperature, beam } = setup.config.evaluation;
  const { environment } = setup;
  const request = {
    split: 'train',
    tasks: TRAIN_TASKS,
    temperature,
    beam,
    seed: 1,
    update,
    kind: 'manual',
    agent: 'policy',
    worldHash: worldHash(environment, environment.levels - 1),
  } as const;
  const { episodes: _episodes, ...report } = await evaluatePolicy(player, request);
  await player.sampler.dispose();
  store.evaluations.add(run, report, []);
  note(
    `Run ${run}: ${percent(report.results.filter(({ success }) => success).length / report.results.length)} of ${report.results.length} training tasks`,
  );
}
