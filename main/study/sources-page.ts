// The table "expected, measured then, measured here" as Markdown and as plain rows for the terminal and the window. Means are over seeds, with the
// least and the most beside them: three seeds have no interval worth its name.

import type { Worlds } from '../environment/registry.ts';
import { failureMeaning, inOrder } from '../evaluation/failures.ts';
import { percent, signedPoints } from '../base/format.ts';
import { mean } from '../base/statistics.ts';
import { markdownTable } from '../report/report.ts';
import type { MeasuredRun, MeasuredSystem } from './sources.ts';

export const SOURCES_HEADER = [
  'system',
  'expected',
  'measured then',
  'here: test success',
  'steps',
  'return',
  'achievable only',
  'step efficiency',
  'steps used',
  'train − test, points',
  'opened what it bought: successes / failures',
] as const;

const NONE = '–';

function spread(values: readonly number[], show: (value: number) => string): string {
  if (values.length === 0) return NONE;
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return show(low) === show(high) ? show(low) : `${show(mean(values))} (${show(low)} to ${show(high)})`;
}

const over = (runs: readonly MeasuredRun[], value: (run: MeasuredRun) => number | null | undefined): number[] =>
  runs.flatMap((run) => value(run) ?? []);

/** Two decimals without a sign where there is nothing to sign. */
const decimal = (value: number): string => value.toFixed(2);

export function sourcesRow({ system, updates, runs }: MeasuredSystem): string[] {
  const seeds = runs.length === 0 ? 'not run at this size' : `${runs.length} ${runs.length === 1 ? 'seed' : 'seeds'}, ${updates} updates`;
  const trait = (side: 'successes' | 'failures'): string =>
    spread(
      over(runs, ({ conduct }) => {
        const found = conduct.traits.find(({ id }) => id === 'click-before-buy')?.[side];
        return found && found.n > 0 ? found.rate : null;
      }),
      percent,
    );
  const successes = spread(
    over(runs, ({ table }) => table.success.rate),
    percent,
  );
  return [
    system.title,
    system.expected,
    system.reported,
    runs.length === 0 ? seeds : `${successes}, ${seeds}`,
    spread(
      over(runs, ({ table }) => table.steps),
      decimal,
    ),
    spread(
      over(runs, ({ table }) => table.return),
      decimal,
    ),
    spread(
      over(runs, ({ conduct }) => conduct.achievable.rate),
      percent,
    ),
    spread(
      over(runs, ({ conduct }) => conduct.efficiency),
      percent,
    ),
    spread(
      over(runs, ({ conduct }) => conduct.stepShare),
      percent,
    ),
    spread(
      over(runs, ({ train, table }) => (train ? train.rate - table.success.rate : null)),
      signedPoints,
    ),
    runs.some(({ conduct }) => conduct.traits.length > 0) ? `${trait('successes')} / ${trait('failures')}` : NONE,
  ];
}

/** Names with their share then and here; names that only one side has are there too. */
export interface Breakdown {
  readonly title: string;
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export function breakdowns(catalog: Worlds, { system, runs }: MeasuredSystem): Breakdown[] {
  if (runs.length === 0) return [];
  const then = (shares: Readonly<Record<string, number>>, name: string): string => {
    const share = shares[name];
    return share === undefined ? NONE : percent(share);
  };
  const categories = [
    ...new Set([...Object.keys(system.categories), ...runs.flatMap(({ table }) => Object.keys(table.categories))]),
  ].sort();
  const covered = runs.some(({ conduct }) => conduct.coverage !== null);
  const coverage = (name: string): number[] => over(runs, ({ conduct }) => conduct.coverage?.categories[name]?.coverage);
  const failed = inOrder([...Object.keys(system.failures), ...runs.flatMap(({ table }) => namesWithCount(table.failures))]);
  return [
    {
      title: 'success by category',
      header: ['category', 'then', 'here', ...(covered ? ['wanted words that may be searched for'] : [])],
      rows: categories.map((name) => [
        name,
        then(system.categories, name),
        spread(
          over(runs, ({ table }) => table.categories[name]?.rate),
          percent,
        ),
        ...(covered ? [spread(coverage(name), percent)] : []),
      ]),
    },
    {
      title: 'why episodes fail (shares of the failures)',
      header: ['failure', 'then', 'here'],
      rows: failed.map((name) => [
        failureMeaning(catalog, name),
        then(system.failures, name),
        spread(
          over(runs, ({ table }) => {
            const all = table.success.n - table.success.k;
            return all === 0 ? null : (table.failures[name]?.count ?? 0) / all;
          }),
          percent,
        ),
      ]),
    },
    ...commonRows(runs),
  ];
}

const namesWithCount = (failures: MeasuredRun['table']['failures']): string[] =>
  Object.entries(failures).flatMap(([name, { count }]) => (count > 0 ? [name] : []));

function commonRows(runs: readonly MeasuredRun[]): Breakdown[] {
  const traits = runs[0]?.conduct.traits ?? [];
  const rate = (id: string, side: 'successes' | 'failures'): string =>
    spread(
      over(runs, ({ conduct }) => {
        const share = conduct.traits.find((trait) => trait.id === id)?.[side];
        return share && share.n > 0 ? share.rate : null;
      }),
      percent,
    );
  const common: Breakdown = {
    title: 'what successes have in common',
    header: ['trait', 'of the successes', 'of the failures'],
    rows: traits.map(({ id, title }) => [title, rate(id, 'successes'), rate(id, 'failures')]),
  };
  const bands = (['none', 'some', 'all'] as const).map((words) => [
    `${words} of the wanted words may be searched for`,
    spread(
      over(runs, ({ conduct }) => conduct.coverage?.bands.find((band) => band.words === words)?.success.rate),
      percent,
    ),
  ]);
  const correlation = spread(
    over(runs, ({ conduct }) => conduct.coverage?.correlation),
    decimal,
  );
  const missing = spread(
    over(runs, ({ conduct }) => conduct.coverage?.missing.rate),
    percent,
  );
  const words: Breakdown = {
    title: 'success against the words that may be searched for',
    header: ['tasks', 'success'],
    rows: [...bands, ['rank correlation over the categories', correlation], ['failures with a wanted word missing', missing]],
  };
  return [...(traits.length > 0 ? [common] : []), ...(runs.some(({ conduct }) => conduct.coverage !== null) ? [words] : [])];
}

export function sourcesMarkdown(catalog: Worlds, systems: readonly MeasuredSystem[], how: string): string {
  const lines = [
    '# Expected, measured then, measured here',
    '',
    `The systems of the four write-ups ([SOURCES](SOURCES.md)), each trained from its preset ([PRESETS](PRESETS.md)). Made by \`${how}\`; means over seeds, the least`,
    'and the most in brackets. [metrics.md](metrics.md) defines the columns.',
    '',
    markdownTable([...SOURCES_HEADER], systems.map(sourcesRow)),
  ];
  for (const measured of systems) {
    const parts = breakdowns(catalog, measured);
    if (parts.length === 0) continue;
    lines.push('', `## ${measured.system.title}`);
    for (const { title, header, rows } of parts)
      lines.push('', `### ${title[0]?.toUpperCase()}${title.slice(1)}`, '', markdownTable(header, rows));
  }
  return `${lines.join('\n')}\n`;
}
