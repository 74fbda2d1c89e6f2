// The report of several runs, written from the database: tables, figures, what the statistics say in words, how the runs
// fail with an example of each class, the settings that differ, and the commands that make the numbers again. Every file is
// made of the same data, in the form that its reader wants: Markdown, HTML, CSV, LaTeX, SVG, slides, an audit log.

import type { Catalog } from '../config/catalog.ts';
import { z } from 'zod';
import type { Run } from '../store/runs.ts';
import type { Store } from '../store/store.ts';
import { episodesJsonLines } from '../interchange/tables.ts';
import { presetBase, trainCommands } from '../config/command.ts';
import { diffConfigs } from '../config/overrides.ts';
import { compare, type Comparison, type Contender } from '../evaluation/compare.ts';
import { BUDGET_NAMES, BUDGETS, type Budgets, budgetsOf, meanBudget, unequalBudgets } from './budget.ts';
import { contenderOf } from './contenders.ts';
import { tabulate } from '../evaluation/evaluate.ts';
import { failureMeaning, inOrder } from '../evaluation/failures.ts';
import { barFigure, type FigureLine, lineFigure } from './figures.ts';
import { readReplay } from '../replay/replay.ts';
import { groupIntoArms, usualGrouping } from '../base/arms.ts';
import { codeLine, interval, markdown, percent, pValue, signedPoints } from '../base/format.ts';
import { csv, latexTable, markdownTable, mismatchText } from './report.ts';
import { armBars, type ComparedArms, armComparison, armCsv, armTable } from './report-arms.ts';
import { meanLine, MOST_RUNS, type ReportView, type RunGroup, viewed } from './report-groups.ts';
import { armProfiles, scoredArms, TAUS } from './profiles.ts';
import { reportHtml, slidesHtml } from './report-html.ts';
import { wilson } from '../base/statistics.ts';
import { type ReportFormat, reportFormats, verdicts } from '../base/vocabulary.ts';

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
  /** `profiles` only of runs in several worlds. */
  readonly figures: { readonly learning: string; readonly final: string; readonly profiles: string | null };
  readonly commands: readonly string[];
  /** The same numbers for a spreadsheet: a number a cell, shares from 0 to 1. */
  readonly csv: { readonly results: string; readonly paired: string; readonly arms: string };
}

/** A file of the report: its name and its text, piece by piece where it is long. */
export interface ReportFile {
  readonly name: string;
  readonly text: Iterable<string>;
}

export function studyReport(store: Store, ids: readonly number[], title: string, view?: ReportView): StudyReport {
  const runs = ids.map((id) => store.runs.get(id));
  const contenders = ids.map((id) => contenderOf(store, id));
  const without = contenders.filter(({ results }) => results.length === 0);
  if (without.length === contenders.length) {
    throw new Error(`None of the runs ${ids.join(', ')} has been evaluated yet: let them train on, or evaluate them with "lab eval RUN"`);
  }
  const groups = groupsOf(runs, contenders, view);
  const arms = armComparison(groups, contenders, view?.baseline ?? null);
  const base = groups.find(({ key }) => key === arms.baseline)?.members[0]?.run;
  // Against the baseline on screen; else every pair up to six runs, and beyond, each against the first.
  const comparison = compare(contenders, view || contenders.length > 6 ? base : undefined);
  const all = contenders.flatMap(({ results }) => results);
  const many = view ? view.groups.length < runs.length : comparison.runs.length > MOST_RUNS;
  const lines = (): FigureLine[] => {
    if (!many && !view) return runs.map((run) => learningLine(store, run));
    return groups.map(({ key, members, look }) => {
      const own = members.map(({ run }) => learningLine(store, store.runs.get(run)));
      return own.length === 1 && own[0] ? { ...own[0], ...look, label: key } : meanLine(key, own, look);
    });
  };
  const spent = budgetsOf(store, ids);
  const unequal = unequalBudgets(armBudgets(spent, groups));
  const tested = ids.every((id) => store.evaluations.finalOrLatest(id)?.kind === 'final');
  return {
    title,
    about: [
      `${counted(runs.length, 'run')} of ${[...new Set(runs.map(({ world }) => world))].join(', ')}; ${counted(all.length, 'episode')} in the final ${runs.length === 1 ? 'evaluation' : 'evaluations'}`,
      `Algorithms: ${[...new Set(runs.map(({ variant }) => variant))].join(', ')}; seeds: ${[...new Set(runs.map(({ seed }) => seed))].join(', ')}`,
      ...(comparison.mismatches.length > 0 ? [mismatchText(comparison)] : []),
      ...(unequal.length > 0 ? [`Unequal budgets: ${unequal.join('; ')}`] : []),
      ...(without.length > 0 ? [`Not evaluated yet: ${without.map(({ run }) => run).join(', ')}`] : []),
    ],
    verdicts: verdictTable(store, title),
    summary: armTable(arms),
    results: resultTable(comparison),
    paired: pairTable(comparison),
    // Where seeds can be put together their sentences say it all; the pairs are in the table.
    words: arms.several ? arms.pairs.map(({ words }) => words) : comparison.words,
    settings: settingTable(comparison, groups),
    budgets: budgetTable(spent, groups),
    categories: categoryTable(contenders, groups),
    failures: failureCases(store, ids, all.length),
    failed: all.filter(({ success }) => !success).length,
    episodes: all.length,
    figures: {
      learning: lineFigure(learningTitle(many, groups.length), bandsOf(lines())),
      final: finalFigure(tested ? 'Test success' : 'Success in the latest evaluation', comparison, arms, groups, many),
      profiles: profileFigure(store, groups),
    },
    commands: [...runs.map((run) => trainCommand(store.catalog, run)), `npm run lab -- compare ${runWords(ids)}`],
    csv: { results: resultsCsv(comparison), paired: pairedCsv(comparison), arms: armCsv(arms) },
  };
}

/** Longer lists of consecutive runs are written as a range, in the words of a shell. */
const MOST_LISTED = 12;

function runWords(ids: readonly number[]): string {
  const [first = 0] = ids;
  const inOrder = ids.every((id, place) => id === first + place);
  return inOrder && ids.length > MOST_LISTED ? `$(seq ${first} ${ids.at(-1)})` : ids.join(' ');
}

/** Bands of more lines than these lie over each other. */
const MOST_BANDS = 8;

const bandsOf = (lines: readonly FigureLine[]): readonly FigureLine[] =>
  lines.length <= MOST_BANDS
    ? lines
    : lines.map((line) => ({ ...line, points: line.points.map(({ x, y }) => ({ x, y, low: y, high: y })) }));

function learningTitle(many: boolean, lines: number): string {
  const band = many ? ' (mean and range over seeds)' : ' (95% intervals)';
  return `Validation success during training${lines > MOST_BANDS ? (many ? ' (mean over seeds)' : '') : band}`;
}

/** As on screen; else by name or algorithm. */
function groupsOf(runs: readonly Run[], contenders: readonly Contender[], view: ReportView | undefined): RunGroup<Contender>[] {
  if (view) return viewed(view, contenders);
  const differing = diffConfigs(contenders.map(({ config }) => config));
  return groupIntoArms(contenders, usualGrouping(runs), differing);
}

function finalFigure(
  measured: string,
  { runs }: Comparison,
  arms: ComparedArms,
  groups: readonly RunGroup<Contender>[],
  many: boolean,
): string {
  if (many) return barFigure(`${measured} (mean over seeds, 95% intervals)`, armBars(arms, groups));
  const bars = runs.flatMap(({ run, variant, seed, success }) => {
    const look = groups.find(({ members }) => members.some((member) => member.run === run))?.look;
    return success
      ? [{ ...look, label: `${run} ${variant}, seed ${seed}`, value: success.rate, low: success.low, high: success.high }]
      : [];
  });
  return barFigure(`${measured} (95% intervals)`, bars);
}

/** Null where all runs are of one world. */
function profileFigure(store: Store, groups: readonly RunGroup<Contender>[]): string | null {
  const arms = groups.map(({ key, members }) => ({ key, runs: members.map(({ run }) => run) }));
  const { worlds, profiles } = armProfiles(scoredArms(store, arms));
  if (profiles.length === 0) return null;
  const lines = profiles.map(({ key, n, value, low, high }): FigureLine => ({
    ...groups.find((group) => group.key === key)?.look,
    label: `${key}, ${n} runs`,
    points: TAUS.map((tau, index) => ({ x: tau, y: value[index] ?? 0, low: low[index] ?? 0, high: high[index] ?? 0 })),
  }));
  const title = `Performance profiles over ${worlds.length} worlds: share of runs above a success of τ`;
  return lineFigure(title, lines, { unit: 'share', xLabel: 'τ (success)' });
}

/** The files of each format, the audit log last; pictures and PDF are made from them by whoever has a window. */
const FILES: Readonly<Record<ReportFormat, readonly string[]>> = {
  html: ['report.html'],
  pdf: ['report.html'],
  markdown: ['report.md', 'success.svg', 'learning.svg', 'profiles.svg'],
  latex: ['results.tex'],
  csv: ['arms.csv', 'results.csv', 'paired.csv'],
  slides: ['slides.html'],
  svg: ['success.svg', 'learning.svg', 'profiles.svg'],
  png: ['success.svg', 'learning.svg', 'profiles.svg'],
  audit: ['audit.jsonl'],
};

export interface ReportChoice {
  readonly view?: ReportView | undefined;
  readonly formats?: readonly ReportFormat[];
}

/** Everything, or the chosen formats, as files. */
export function reportFiles(store: Store, ids: readonly number[], title: string, { view, formats }: ReportChoice = {}): ReportFile[] {
  const report = studyReport(store, ids, title, view);
  const wanted = new Set((formats ?? reportFormats).flatMap((format) => FILES[format]));
  const files: ReportFile[] = [
    { name: 'report.md', text: [reportMarkdown(report)] },
    { name: 'report.html', text: [reportHtml(report)] },
    { name: 'slides.html', text: [slidesHtml(report)] },
    { name: 'arms.csv', text: [report.csv.arms] },
    { name: 'results.csv', text: [report.csv.results] },
    { name: 'paired.csv', text: [report.csv.paired] },
    { name: 'results.tex', text: [latexText(report)] },
    { name: 'learning.svg', text: [report.figures.learning] },
    { name: 'success.svg', text: [report.figures.final] },
    ...(report.figures.profiles === null ? [] : [{ name: 'profiles.svg', text: [report.figures.profiles] }]),
    { name: 'audit.jsonl', text: auditLog(store, ids) },
  ];
  return files.filter(({ name }) => wanted.has(name));
}

/** The arms and the runs, for a paper with the packages booktabs and longtable. */
function latexText({ summary, results }: StudyReport): string {
  const tables = [
    ['Arms', summary],
    ['Runs', results],
  ] as const;
  const shown = tables.filter(([, { rows }]) => rows.length > 0);
  return `${shown.map(([name, { header, rows }]) => `% ${name}\n${latexTable(header, rows)}`).join('\n\n')}\n`;
}

/** Every stored episode of every run: what was asked, said and paid, one JSON document a line. */
function* auditLog(store: Store, ids: readonly number[]): Generator<string> {
  for (const id of ids) yield* episodesJsonLines(store, id, {}, false);
}

/** What of a study's plan is needed here (study/record.ts has all of it). */
const decided = z.object({
  claims: z.array(
    z.object({
      claim: z.string(),
      source: z.string(),
      verdict: z.enum(verdicts),
      corrected: z.string().nullish(),
    }),
  ),
});

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

function verdictTable(store: Store, title: string): ReportTable {
  const claims = decided.safeParse(store.studies.find(title)?.plan).data?.claims ?? [];
  return {
    header: ['claim', 'source', 'verdict', 'corrected (Holm)'],
    rows: claims.map(({ claim, source, verdict, corrected }) => [claim, source, verdict, corrected ?? '–']),
  };
}

const armBudgets = ({ budgets }: Budgets, groups: readonly RunGroup<Contender>[]) =>
  groups.map(({ key, members }) => ({
    name: key,
    budget: meanBudget(budgets.filter(({ run }) => members.some((member) => member.run === run))),
  }));

function budgetTable(spent: Budgets, groups: readonly RunGroup<Contender>[]): ReportTable {
  const rows = armBudgets(spent, groups).flatMap(({ name: arm, budget }) =>
    budget ? [[arm, ...BUDGETS.map((name) => Math.round(budget[name]).toLocaleString('en'))]] : [],
  );
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
  const header = 'a,b,n,clusters,both,onlyA,onlyB,neither,difference,low,high,p,improvement,returns,returnsLow,returnsHigh'.split(',');
  const rows = paired.map(({ a, b, n, clusters, both, onlyA, onlyB, neither, difference, low, high, p, improvement, returns }) => {
    const paid = [returns.value, returns.low, returns.high];
    return [a, b, n, clusters, both, onlyA, onlyB, neither, difference, low, high, p, improvement, ...paid];
  });
  return csv(header, rows);
}

function resultTable({ runs }: Comparison): ReportTable {
  return {
    header: ['run', 'algorithm', 'seed', 'updates', 'success', '95% interval', 'k of n', 'return', 'steps'],
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
    header: ['pair', 'tasks', 'clusters', 'only first', 'only second', 'difference, points', '95% interval', 'p', 'P(better)'],
    rows: paired.map(({ a, b, n, clusters, onlyA, onlyB, difference, low, high, p, improvement }) => [
      `${a} − ${b}`,
      String(n),
      String(clusters),
      String(onlyA),
      String(onlyB),
      signedPoints(difference),
      `${signedPoints(low)} to ${signedPoints(high)}`,
      pValue(p),
      improvement.toFixed(2),
    ]),
  };
}

/** One column per run; of many runs one row per value, with the arms that have it, because a hundred columns fit no page. */
function settingTable({ runs, diff }: Comparison, groups: readonly RunGroup<Contender>[]): ReportTable {
  const shown = (value: unknown): string => (value === undefined ? '–' : JSON.stringify(value));
  if (runs.length <= MOST_RUNS) {
    return {
      header: ['setting', ...runs.map(({ run }) => `run ${run}`)],
      rows: diff.map(({ key, values }) => [key, ...values.map(shown)]),
    };
  }
  const armOf = new Map(groups.flatMap(({ key, members }) => members.map(({ run }) => [run, key] as const)));
  const rows = diff.flatMap(({ key, values }) => {
    const byValue = Map.groupBy(runs, (_run, index) => shown(values[index]));
    return [...byValue].map(([value, own]) => [key, value, [...new Set(own.map(({ run }) => armOf.get(run) ?? `run ${run}`))].join(', ')]);
  });
  return { header: ['setting', 'value', 'arms'], rows };
}

/** One column per run; of many runs one row per arm, its seeds pooled. */
function categoryTable(contenders: readonly ReturnType<typeof contenderOf>[], groups: readonly RunGroup<Contender>[]): ReportTable {
  const tables = new Map(contenders.map(({ run, results }) => [run, tabulate(results).categories]));
  const names = [...new Set([...tables.values()].flatMap((table) => Object.keys(table)))].sort();
  const cell = (runs: readonly number[], name: string): string => {
    const own = runs.flatMap((run) => tables.get(run)?.[name] ?? []);
    const [k, n] = [own.reduce((sum, one) => sum + one.k, 0), own.reduce((sum, one) => sum + one.n, 0)];
    return n === 0 ? '–' : `${percent(k / n)} (${k} of ${n})`;
  };
  if (contenders.length > MOST_RUNS) {
    const rows = groups.map(({ key, members }) => {
      const runs = members.map(({ run }) => run);
      return [key, ...names.map((name) => cell(runs, name))];
    });
    return { header: ['arm', ...names], rows: names.length === 0 ? [] : rows };
  }
  return {
    header: ['category', ...contenders.map(({ run }) => `run ${run}`)],
    rows: names.map((name) => [name, ...contenders.map(({ run }) => cell([run], name))]),
  };
}

/** The frequency of each class in the final evaluations, with its first kept episode step by step. */
function failureCases(store: Store, ids: readonly number[], episodes: number): FailureCase[] {
  const results = ids.flatMap((id) => {
    const shown = store.evaluations.finalOrLatest(id);
    return shown ? store.evaluations.results(shown.id) : [];
  });
  return inOrder(results.flatMap(({ failure }) => failure ?? [])).map((failure) => {
    const own = results.filter((result) => result.failure === failure);
    const episode = own.find((result) => result.episode !== null)?.episode ?? null;
    return {
      failure,
      meaning: failureMeaning(store.catalog, failure),
      count: own.length,
      share: own.length / episodes,
      example: episode === null ? 'No episode of this class was stored.' : told(store, episode),
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
function trainCommand(catalog: Catalog, run: Run): string {
  return (
    trainCommands(catalog, [run.config], presetBase(catalog, run.preset)) ??
    `npm run lab -- train --config run-${run.id}.json --seed ${run.seed}`
  );
}

function reportMarkdown(report: StudyReport): string {
  const table = ({ header, rows }: ReportTable): string => markdownTable(header, rows);
  const lines = [`# ${markdown(report.title)}`, '', ...report.about.map((line) => `- ${markdown(line)}`), ''];
  if (report.verdicts.rows.length > 0) lines.push('## Verdicts', '', table(report.verdicts), '');
  if (report.summary.rows.length > 0) lines.push('## Arms', '', table(report.summary), '');
  lines.push('## Results', '', table(report.results), '', '![Success](success.svg)', '', '![During training](learning.svg)', '');
  if (report.figures.profiles !== null) lines.push('## Performance profiles', '', '![Performance profiles](profiles.svg)', '');
  if (report.paired.rows.length > 0)
    lines.push('## Paired by task', '', ...report.words.map((words) => `- ${markdown(words)}`), '', table(report.paired), '');
  if (report.categories.rows.length > 0) lines.push('## Success per category', '', table(report.categories), '');
  lines.push('## Budgets', '', table(report.budgets), '');
  lines.push('## Failure analysis', '', `${report.failed} of ${report.episodes} episodes failed.`, '');
  for (const { failure, meaning, count, share, example } of report.failures)
    lines.push(`- **${failure}** (${count}, ${percent(share)}): ${meaning}.`, `  Example: ${markdown(example)}`);
  lines.push(
    '',
    '## Settings that differ',
    '',
    report.settings.rows.length === 0 ? 'The settings are identical.' : table(report.settings),
    '',
  );
  lines.push('## How to reproduce these numbers', '', '```', ...report.commands.map(codeLine), '```');
  return `${lines.join('\n')}\n`;
}
