// `lab runs` and `lab metrics`: what there is, and what was measured. `lab delete`, `restore` and `clean` tidy up:
// deleting moves runs into the trash, from where they can be restored until `clean` empties it.

import type { Command } from 'commander';
import { bytes as size, interval, percent } from '../base/format.ts';
import { wilson } from '../base/statistics.ts';
import type { RunFilter, RunSummary } from '../store/runs.ts';
import { type RunState, runStates } from '../base/vocabulary.ts';
import { jsonNumber } from '../interchange/tables.ts';
import { answer, CallError } from './shared/output.ts';
import { findRun, withStore } from './shared/store.ts';

interface ListOptions {
  readonly state?: string;
  readonly variant?: string;
  readonly world?: string;
  readonly tag?: string;
  readonly seed?: string;
  readonly text?: string;
  readonly deleted?: boolean;
}

/** Names with this prefix measure the machine; two runs of one config agree on all others. */
const MACHINE = 'system/';

export function register(program: Command): void {
  program
    .command('runs')
    .description('the list of runs, newest first')
    .option('--state <states>', `one or more of ${runStates.join(', ')}, separated by commas`)
    .option('--variant <names>', 'one or more algorithms, separated by commas')
    .option('--world <names>', 'one or more worlds, separated by commas')
    .option('--tag <tag>', 'runs with this tag')
    .option('--seed <n>', 'runs with this seed')
    .option('--text <text>', 'part of the name, notes, algorithm, world or a tag')
    .option('--deleted', 'the trash instead')
    .action((options: ListOptions) =>
      withStore((store) => {
        const runs = store.runs.list(filterOf(options)).map(listed);
        answer(runs, runs.length === 0 ? 'No runs. `lab train --preset …` makes one.' : runsTable(runs));
      }),
    );

  program
    .command('metrics <run>')
    .description('every recorded point of a run')
    .option('--name <names>', 'only these metrics, separated by commas')
    .option('--system', 'also what was measured of the machine (time, memory), which differs between repetitions')
    .action((reference: string, options: { name?: string; system?: boolean }) =>
      withStore((store) => {
        const run = findRun(store, reference);
        const recorded = store.metrics.names(run);
        const names = options.name?.split(',') ?? recorded.filter((name) => options.system === true || !name.startsWith(MACHINE));
        const unknown = names.find((name) => !recorded.includes(name));
        if (unknown !== undefined) throw new CallError(`Run ${run} has no metric "${unknown}"`, `It has ${recorded.join(', ')}`);
        const series = store.metrics.many(run, names);
        const points = Object.fromEntries(
          names.map((name) => [
            name,
            [...(series[name]?.updates ?? [])].map((update, i) => [update, jsonNumber(series[name]?.values[i] ?? NaN)]),
          ]),
        );
        const last = Object.entries(points).map(([name, list]) => `${name}: ${list.length} points, last ${list.at(-1)?.[1] ?? '–'}`);
        answer(points, last.join('\n') || `Run ${run} has recorded nothing yet`);
      }),
    );

  program
    .command('delete <runs...>')
    .description('move runs into the trash')
    .action((references: string[]) =>
      withStore((store) => {
        const runs = references.map((reference) => findRun(store, reference));
        store.runs.delete(runs);
        answer({ deleted: runs }, `In the trash: ${runs.join(', ')}. \`lab restore\` brings them back.`);
      }),
    );

  program
    .command('restore <runs...>')
    .description('bring runs back from the trash')
    .action((references: string[]) =>
      withStore((store) => {
        const runs = references.map((reference) => findRun(store, reference));
        store.runs.restore(runs);
        answer({ restored: runs }, `Restored: ${runs.join(', ')}`);
      }),
    );

  program
    .command('clean')
    .description('empty the trash for good and give its space back')
    .action(() =>
      withStore(async (store) => {
        const { purge, storageUse, vacuum } = await import('../store/maintenance.ts'); // reads configs; the list of runs does not wait for it
        const purged = purge(store);
        const { before, after } = vacuum(store);
        answer(
          { purged, before, after, use: storageUse(store) },
          `${purged} runs deleted for good; the database has ${size(after)} (was ${size(before)})`,
        );
      }),
    );
}

function filterOf(options: ListOptions): RunFilter {
  const states = options.state?.split(',').map((text): RunState => {
    const state = runStates.find((known) => known === text);
    if (state === undefined) throw new CallError(`There is no state "${text}"`, `Expected ${runStates.join(', ')}`);
    return state;
  });
  if (options.seed !== undefined && !/^\d+$/.test(options.seed))
    throw new CallError(`--seed expects a whole number, found "${options.seed}"`);
  return {
    ...(states && { states }),
    ...(options.variant !== undefined && { variants: options.variant.split(',') }),
    ...(options.world !== undefined && { worlds: options.world.split(',') }),
    ...(options.tag !== undefined && { tag: options.tag }),
    ...(options.seed !== undefined && { seed: Number(options.seed) }),
    ...(options.text !== undefined && { text: options.text }),
    ...(options.deleted === true && { deleted: true }),
  };
}

function listed(run: RunSummary) {
  const { id, name, variant, seed, state, updates, world, preset, planned, episodes, seconds, tags, reason, origin, damaged } = run;
  const success = run.test && { ...wilson(run.test.k, run.test.n), temperature: run.test.temperature };
  const during = (found: RunSummary['validation']) => found && { ...wilson(found.k, found.n), update: found.update };
  const [validation, bestValidation] = [during(run.validation), during(run.best)];
  return {
    run: id,
    name,
    variant,
    seed,
    state,
    updates,
    success,
    validation,
    bestValidation,
    world,
    preset,
    planned,
    episodes,
    seconds,
    tags,
    reason,
    branchedFrom: origin,
    damaged,
  };
}

const originText = ({ run, uid, update }: NonNullable<RunSummary['origin']>): string => `from ${run ?? uid}@${update}`;

function runsTable(runs: readonly ReturnType<typeof listed>[]): string {
  const rows = runs.map(({ run, name, variant, seed, state, updates, planned, success, validation, branchedFrom }) => [
    String(run),
    branchedFrom ? `${name} (${originText(branchedFrom)})` : name,
    variant,
    String(seed),
    state,
    `${updates}/${planned}`,
    success
      ? `${percent(success.rate)} of ${success.n} (${interval(success)})${success.temperature === 0 ? '' : `, sampled at ${success.temperature}`}`
      : '–',
    validation ? `${percent(validation.rate)} of ${validation.n} at update ${validation.update}` : '–',
  ]);
  const cells = [['run', 'name', 'variant', 'seed', 'state', 'updates', 'test success', 'validation'], ...rows];
  const widths = cells[0]?.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0))) ?? [];
  return cells
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
