// The report of several runs, written from the database: tables, figures, what the statistics say in words, how the runs
// fail with an example of each class, the settings that differ, and the commands that make the numbers again. Every file is
// made of the same data, in the form that its reader wants: Markdown, HTML, CSV, LaTeX, SVG, slides, an audit log.

import { z } from 'zod';
import type { Run } from '../store/runs.ts';
import type { Store } from '../store/store.ts';
import { episodesJsonLines } from '../store/tables.ts';
import { completeConfig } from '../config/config.ts';
import { flatten } from '../config/overrides.ts';
import { loadPreset, presetIds } from '../config/presets.ts';
import { compare, type Comparison } from '../evaluation/compare.ts';
import { BUDGET_NAMES, BUDGETS, type Budgets, budgetsOf, meanBudget } from './budget.ts';
import { contenderOf } from './contenders.ts';
import { tabulate } from '../evaluation/evaluate.ts';
import { failureMeaning, inOrder } from '../evaluation/failures.ts';
import { barFigure, type FigureLine, lineFigure } from './figures.ts';
import { readReplay } from '../replay/replay.ts';
import { codeLine, interval, markdown, percent, pValue, signedPoints } from '../format.ts';
import { csv, latexTable, markdownTable, mismatchText } from './report.ts';
import { groupBars, grouped, meanLine, MOST_RUNS, type RunGroup, spread } from './report-groups.ts';
import { reportHtml, slidesHtml } from './report-html.ts';
import { wilson } from '../statistics.ts';

export interface ReportTable {
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export interface FailureCase {
  readonly failure: string;
  readonly meaning: string;
  /** In all runs together, and as a share of their episodes. */
  readonly count: number;
  readonly share: number;
  /** One episode of the class, in words. */
  readonly example: string;
}

export interface StudyReport {
  readonly title: string;
  readonly about: readonly string[];
  /** What the study set out to decide, where it did. */
  readonly verdicts: ReportTable;
  /** One row per arm; empty when every run has a seed to itself. */
  readonly summary: ReportTable;
  readonly results: ReportTable;
  readonly paired: ReportTable;
  readonly words: readonly string[];
  readonly settings: ReportTable;
  /** What each arm spent. */
  readonly budgets: ReportTable;
  readonly categories: ReportTable;
  readonly failures: readonly FailureCase[];
  readonly failed: number;
  readonly episodes: number;
  readonly figures: { readonly learning: string; readonly final: string };
  readonly commands: readonly string[];
  /** The same numbers for a spreadsheet: a number a cell, shares from 0 to 1. */
  readonly csv: { readonly results: string; readonly paired: string };
}

/** A file of the report: its name and its text, piece by piece where it is long. */
export interface ReportFile {
  readonly name: string;
  readonly text: Iterable<string>;
}

export function studyReport(store: Store, ids: readonly number[], title: string): StudyReport {
  const runs = ids.map((id) => store.runs.get(id));
  const contenders = ids.map((id) => contenderOf(store, id));
  const without = contenders.filter(({ results }) => results.length === 0);
  if (without.length === contenders.length) {
    throw new Error(`None of the runs ${ids.join(', ')} has been evaluated yet: let them train on, or evaluate them with "lab eval RUN"`);
  }
  const [first] = contenders;
  // Every pair up to six runs; beyond, each against the first.
  const comparison = compare(contenders, contenders.length > 6 ? first?.run : undefined);
  const all = contenders.flatMap(({ results }) => results);
  const groups = grouped(comparison.runs);
  const spent = budgetsOf(store, ids);
  const many = comparison.runs.length > MOST_RUNS;
  const tested = ids.every((id) => store.evaluations.decisive(id)?.kind === 'final');
  const measured = tested ? 'Test success' : 'Success in the latest evaluation';
  return {
    title,
    about: [
      `${runs.length} runs of ${[...new Set(runs.map(({ world }) => world))].join(', ')}; ${all.length} episodes in their final evaluations`,
      `Variants: ${[...new Set(runs.map(({ variant }) => variant))].join(', ')}; seeds: ${[...new Set(runs.map(({ seed }) => seed))].join(', ')}`,
      ...(comparison.mismatches.length > 0 ? [mismatchText(comparison)] : []),
      ...(spent.unequal.length > 0 ? [`Unequal budgets: ${spent.unequal.join('; ')}`] : []),
      ...(without.length > 0 ? [`Not evaluated yet: ${without.map(({ run }) => run).join(', ')}`] : []),
    ],
    verdicts: verdictTable(store, title),
    summary: summaryTable(groups),
    results: resultTable(comparison),
    paired: pairTable(comparison),
    // Where seeds can be put together their sentences say it all; the pairs are in the table.
    words: comparison.groupPairs.length > 0 ? comparison.groupPairs.map(({ words }) => words) : comparison.words,
    settings: {
      header: ['setting', ...comparison.runs.map(({ run }) => `run ${run}`)],
      rows: comparison.diff.map(({ key, values }) => [key, ...values.map((value) => (value === undefined ? '–' : JSON.stringify(value)))]),
    },
    budgets: budgetTable(spent, groups),
    categories: categoryTable(contenders),
    failures: failureCases(store, ids, all.length),
    failed: all.filter(({ success }) => !success).length,
    episodes: all.length,
    figures: {
      learning: lineFigure(
        many ? 'Validation success during training (mean and range over seeds)' : 'Validation success during training (95% intervals)',
        many
          ? grouped(runs).map(({ key, members }) =>
              meanLine(
                key,
                members.map((run) => learningLine(store, run)),
              ),
            )
          : runs.map((run) => learningLine(store, run)),
      ),
      final: barFigure(
        many ? `${measured} (mean and range over seeds)` : `${measured} (95% intervals)`,
        many
          ? groupBars(groups)
          : comparison.runs.flatMap(({ run, variant, seed, success }) =>
              success ? [{ label: `${run} ${variant}, seed ${seed}`, value: success.rate, low: success.low, high: success.high }] : [],
            ),
      ),
    },
    commands: [...runs.map(trainCommand), `npm run lab -- compare ${ids.join(' ')}`],
    csv: { results: resultsCsv(comparison), paired: pairedCsv(comparison) },
  };
}

/** Everything as files, the audit log last. */
export function reportFiles(store: Store, ids: readonly number[], title: string): ReportFile[] {
  const report = studyReport(store, ids, title);
  return [
    { name: 'report.md', text: [reportMarkdown(report)] },
    { name: 'report.html', text: [reportHtml(report)] },
    { name: 'slides.html', text: [slidesHtml(report)] },
    { name: 'results.csv', text: [report.csv.results] },
    { name: 'paired.csv', text: [report.csv.paired] },
    { name: 'results.tex', text: [`${latexTable(report.results.header, report.results.rows)}\n`] },
    { name: 'learning.svg', text: [report.figures.learning] },
    { name: 'success.svg', text: [report.figures.final] },
    { name: 'audit.jsonl', text: auditLog(store, ids) },
  ];
}

/** Every stored episode of every run: what was asked, said and paid, one JSON document a line. */
function* auditLog(store: Store, ids: readonly number[]): Generator<string> {
  for (const id of ids) yield* episodesJsonLines(store, id, {}, false);
}

/** What of a study's plan is needed here (study/record.ts has all of it). */
const decided = z.object({ claims: z.array(z.object({ claim: z.string(), source: z.string(), verdict: z.string() })) });

function verdictTable(store: Store, title: string): ReportTable {
  const claims = decided.safeParse(store.studies.find(title)?.plan).data?.claims ?? [];
  return { header: ['claim', 'source', 'verdict'], rows: claims.map(({ claim, source, verdict }) => [claim, source, verdict]) };
}

function summaryTable(groups: readonly RunGroup[]): ReportTable {
  const rows = groups.flatMap((group) => {
    const found = spread(group);
    if (!found) return [];
    const runs = group.members.map(({ run }) => run).join(', ');
    return [[group.key, String(found.seeds), percent(found.mean), found.seeds > 1 ? interval(found) : '–', runs]];
  });
  const some = groups.some(({ members }) => members.length > 1);
  return { header: ['arm', 'seeds', 'mean success', 'lowest to highest seed', 'runs'], rows: some ? rows : [] };
}

function budgetTable({ budgets }: Budgets, groups: readonly RunGroup[]): ReportTable {
  const rows = groups.flatMap(({ key, members }) => {
    const own = meanBudget(budgets.filter(({ run }) => members.some((member) => member.run === run)));
    return own ? [[key, ...BUDGETS.map((name) => Math.round(own[name]).toLocaleString('en'))]] : [];
  });
  return { header: ['arm', ...BUDGETS.map((name) => `${BUDGET_NAMES[name]} a run`)], rows };
}

function resultsCsv({ runs }: Comparison): string {
  const header = ['run', 'name', 'variant', 'seed', 'updates', 'k', 'n', 'success', 'low', 'high', 'return', 'steps'];
  const rows = runs.map(({ run, name, variant, seed, updates, success, return: mean, steps }) =>
    [run, name, variant, seed, updates, success?.k, success?.n, success?.rate, success?.low, success?.high, mean, steps].map(
      (value) => value ?? '',
    ),
  );
  return csv(header, rows);
}

function pairedCsv({ paired }: Comparison): string {
  const header = 'a,b,n,both,onlyA,onlyB,neither,difference,low,high,p,improvement,returns,returnsLow,returnsHigh'.split(',');
  const rows = paired.map(({ a, b, n, both, onlyA, onlyB, neither, difference, low, high, p, improvement, returns }) => {
    const paid = [returns.value, returns.low, returns.high];
    return [a, b, n, both, onlyA, onlyB, neither, difference, low, high, p, improvement, ...paid];
  });
  return csv(header, rows);
}

function resultTable({ runs }: Comparison): ReportTable {
  return {
    header: ['run', 'variant', 'seed', 'updates', 'success', '95% interval', 'k of n', 'return', 'steps'],
    rows: runs.map(({ run, name, variant, seed, updates, success, return: mean, steps }) => [
      `${run} ${name}`,
      variant,
      String(seed),
      String(updates),
      success ? percent(success.rate) : '–',
      success ? interval(success) : '–',
      success ? `${success.k} of ${success.n}` : '–',
      mean === null ? '–' : mean.toFixed(3),
      steps === null ? '–' : steps.toFixed(2),
    ]),
  };
}

function pairTable({ paired }: Comparison): ReportTable {
  return {
    header: ['pair', 'tasks', 'only first', 'only second', 'difference, points', '95% interval', 'McNemar p', 'P(better)'],
    rows: paired.map(({ a, b, n, onlyA, onlyB, difference, low, high, p, improvement }) => [
      `${a} − ${b}`,
      String(n),
      String(onlyA),
      String(onlyB),
      signedPoints(difference),
      `${signedPoints(low)} to ${signedPoints(high)}`,
      pValue(p),
      improvement.toFixed(2),
    ]),
  };
}

function categoryTable(contenders: readonly ReturnType<typeof contenderOf>[]): ReportTable {
  const tables = contenders.map(({ results }) => tabulate(results).categories);
  const names = [...new Set(tables.flatMap((table) => Object.keys(table)))].sort();
  return {
    header: ['category', ...contenders.map(({ run }) => `run ${run}`)],
    rows: names.map((name) => [
      name,
      ...tables.map((table) => {
        const value = table[name];
        return value ? `${percent(value.rate)} (${value.k} of ${value.n})` : '–';
      }),
    ]),
  };
}

/** How often each class occurs in the final evaluations, with the first kept episode of it told step by step. */
function failureCases(store: Store, ids: readonly number[], episodes: number): FailureCase[] {
  const results = ids.flatMap((id) => {
    const decisive = store.evaluations.decisive(id);
    return decisive ? store.evaluations.results(decisive.id) : [];
  });
  return inOrder(results.flatMap(({ failure }) => failure ?? [])).map((failure) => {
    const own = results.filter((result) => result.failure === failure);
    const episode = own.find((result) => result.episode !== null)?.episode ?? null;
    return {
      failure,
      meaning: failureMeaning(failure),
      count: own.length,
      share: own.length / episodes,
      example: episode === null ? 'No episode of this class was kept.' : told(store, episode),
    };
  });
}

function told(store: Store, episode: number): string {
  const replay = readReplay(store, episode);
  const actions = replay.steps.map(({ action }) => `“${action}”`).join(', ');
  return `${replay.instruction} (run ${replay.run.id}, task ${replay.task}, episode ${episode}): ${actions}. ${replay.diagnosis?.evidence ?? ''}`;
}

function learningLine(store: Store, run: Run): FigureLine {
  const points = store.evaluations
    .list(run.id)
    .filter(({ agent, kind, success }) => agent === 'policy' && kind === 'periodic' && success.n > 0)
    .map(({ update, success }) => {
      const { rate, low, high } = wilson(success.k, success.n);
      return { x: update, y: rate, low, high };
    });
  return { label: `${run.id} ${run.name} (${run.variant}, seed ${run.seed})`, points };
}

/** The command that trains the run again: its preset and whatever was changed about it. */
function trainCommand(run: Run): string {
  const known = run.preset !== null && presetIds().includes(run.preset);
  if (!known) return `npm run lab -- train --config run-${run.id}.json --seed ${run.seed}`;
  const preset = loadPreset(run.preset ?? '').config;
  const before = flatten(preset);
  const changed = [...flatten(completeConfig(run.config))].filter(
    ([key, value]) => key !== 'seed' && key !== 'name' && JSON.stringify(value) !== JSON.stringify(before.get(key)),
  );
  // Another variant brings its own defaults, so it is set before its settings.
  changed.sort(([a], [b]) => Number(b === 'algorithm.id') - Number(a === 'algorithm.id'));
  const sets = changed.map(([key, value]) => ` --set ${key}=${Array.isArray(value) ? value.join(',') : String(value)}`);
  return `npm run lab -- train --preset ${run.preset} --seed ${run.seed}${sets.join('')}`;
}

function reportMarkdown(report: StudyReport): string {
  const table = ({ header, rows }: ReportTable): string => markdownTable(header, rows);
  const lines = [`# ${markdown(report.title)}`, '', ...report.about.map((line) => `- ${markdown(line)}`), ''];
  if (report.verdicts.rows.length > 0) lines.push('## Verdicts', '', table(report.verdicts), '');
  if (report.summary.rows.length > 0) lines.push('## Arms', '', table(report.summary), '');
  lines.push('## Results', '', table(report.results), '', '![Success](success.svg)', '', '![During training](learning.svg)', '');
  if (report.paired.rows.length > 0)
    lines.push('## The same tasks, paired', '', ...report.words.map((words) => `- ${markdown(words)}`), '', table(report.paired), '');
  if (report.categories.rows.length > 0) lines.push('## Success per category', '', table(report.categories), '');
  lines.push('## Budgets', '', table(report.budgets), '');
  lines.push('## Failure analysis', '', `${report.failed} of ${report.episodes} episodes failed.`, '');
  for (const { failure, meaning, count, share, example } of report.failures)
    lines.push(`- **${failure}** (${count}, ${percent(share)}): ${meaning}.`, `  Example: ${markdown(example)}`);
  lines.push(
    '',
    '## Settings that differ',
    '',
    report.settings.rows.length === 0 ? 'The settings are the same.' : table(report.settings),
    '',
  );
  lines.push('## How to make these numbers', '', '```', ...report.commands.map(codeLine), '```');
  return `${lines.join('\n')}\n`;
}
