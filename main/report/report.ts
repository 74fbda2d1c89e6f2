// What leaves the lab as text: the evaluation as a table for a terminal, a Markdown report with a failure analysis, CSV and JSONL.
// Everything is made of the same tables the window shows; nothing is computed here that is not computed there.

import type { EvaluationResult } from '../evaluation/evaluation-report.ts';
import { BUDGET_NAMES, BUDGETS, type Budgets } from './budget.ts';
import type { Comparison } from '../evaluation/compare.ts';
import type { EvaluationTable } from '../evaluation/evaluate.ts';
import { inOrder } from '../evaluation/failures.ts';
import { codeLine, csvLine, interval, latex, markdown, percent, terminal, type Cell } from '../base/format.ts';
import type { Proportion } from '../base/statistics.ts';

/** One column per row of cells, padded so that a terminal lines them up. The first column is text, the others are numbers. */
export function textTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [header, ...rows].map((row) => row.map((cell) => terminal(cell.replace(/\s+/g, ' '))));
  const widths = header.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  const line = (row: readonly string[]) =>
    row.map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join('  ');
  const [first = [], ...others] = all;
  return [line(first), widths.map((width) => '─'.repeat(width)).join('  '), ...others.map(line)].join('\n');
}

/** A cell that is Markdown already, such as a verdict in bold; every other cell is plain text. */
export interface Markup {
  readonly markup: string;
}

export function markdownTable(header: readonly string[], rows: readonly (readonly (string | Markup)[])[]): string {
  const line = (row: readonly (string | Markup)[]) =>
    `| ${row.map((cell) => (typeof cell === 'string' ? markdown(cell) : cell.markup)).join(' | ')} |`;
  // Numbers stand to the right, words to the left.
  const isNumber = (cell: string | Markup | undefined): boolean => typeof cell !== 'string' || /^[-–−+<>\d]|^$|^baseline$/.test(cell);
  const right = header.map((_, column) => column > 0 && rows.every((row) => isNumber(row[column])));
  return [line(header), line(right.map((numeric) => (numeric ? '---:' : '---'))), ...rows.map(line)].join('\n');
}

export interface NamedTable {
  readonly name: string;
  readonly table: EvaluationTable;
}

export const SUMMARY = ['agent', 'success', '95% interval', 'n', 'return', 'steps'];

export const summaryRow = ({ name, table }: NamedTable): string[] => [
  name,
  percent(table.success.rate),
  interval(table.success),
  String(table.success.n),
  table.return.toFixed(3),
  table.steps.toFixed(2),
];

const proportions = (groups: Readonly<Record<string, Proportion>>): string[][] =>
  Object.entries(groups).map(([name, value]) => [name, percent(value.rate), interval(value), `${value.k} of ${value.n}`]);

const failureRows = (table: EvaluationTable): string[][] =>
  Object.entries(table.failures)
    .filter(([, { count }]) => count > 0)
    .map(([name, { count, share }]) => {
      const failed = table.success.n - table.success.k;
      return [name, String(count), percent(share), percent(failed === 0 ? 0 : count / failed)];
    });

/** For the terminal: one agent in full. */
export function evaluationText(named: NamedTable): string {
  const { table } = named;
  const parts = [
    textTable(SUMMARY, [summaryRow(named)]),
    textTable(['category', 'success', '95% interval', 'k of n'], proportions(table.categories)),
    textTable(['tier', 'success', '95% interval', 'k of n'], proportions(table.tiers)),
  ];
  const failures = failureRows(table);
  if (failures.length > 0) parts.push(textTable(['failure', 'count', 'of all', 'of failures'], failures));
  return parts.join('\n\n');
}

/** Rows that fit a page. */
const LATEX_ROWS = 40;
/** More columns than this are printed small. */
const WIDE_COLUMNS = 6;

/** A LaTeX tabular for a paper: booktabs rules, numbers to the right. */
export function latexTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (row: readonly string[]) => `${row.map(latex).join(' & ')} \\\\`;
  const columns = header.map((_, column) => (column === 0 ? 'l' : 'r')).join('');
  // A tabular never breaks: more rows than a page has would run off its end.
  const kind = rows.length > LATEX_ROWS ? 'longtable' : 'tabular';
  // Wide tables in small print, so that nothing runs over the edge of the page.
  const wide = header.length > WIDE_COLUMNS;
  const head = ['\\toprule', line(header), '\\midrule', ...(kind === 'longtable' ? ['\\endhead'] : [])];
  const table = [`\\begin{${kind}}{${columns}}`, ...head, ...rows.map(line), '\\bottomrule', `\\end{${kind}}`];
  return (wide ? ['{\\scriptsize\\setlength{\\tabcolsep}{3pt}', ...table, '}'] : table).join('\n');
}

/** For the terminal: several agents, one line each. */
export const summaryText = (agents: readonly NamedTable[]): string => textTable(SUMMARY, agents.map(summaryRow));

export interface FailureExample {
  readonly task: string;
  readonly failure: string;
  /** Of the failure. */
  readonly meaning: string;
  readonly evidence: string;
}

export interface ReportInput {
  readonly title: string;
  /** Facts about the run worth a line each: algorithm, seed, updates, world. */
  readonly about: Readonly<Record<string, string | number>>;
  /** The subject first, then the baselines it is measured against. */
  readonly agents: readonly NamedTable[];
  /** Further tables, in their order. */
  readonly sections: readonly {
    readonly title: string;
    readonly header: readonly string[];
    readonly rows: readonly (readonly string[])[];
  }[];
  readonly examples: readonly FailureExample[];
  /** Commands that make these numbers again. */
  readonly commands: readonly string[];
}

/** A Markdown report with summary table, breakdowns and failure analysis. */
export function markdownReport(input: ReportInput): string {
  const [subject, ...baselines] = input.agents;
  if (!subject) throw new Error('A report needs at least one evaluated agent; found none. Evaluate the run first.');
  const { table } = subject;
  const lines = [
    `# ${markdown(input.title)}`,
    '',
    ...Object.entries(input.about).map(([key, value]) => `- ${key}: ${markdown(String(value))}`),
    '',
  ];
  lines.push('## Summary', '', markdownTable(SUMMARY, [subject, ...baselines].map(summaryRow)), '');
  lines.push('## By category', '', markdownTable(['category', 'success', '95% interval', 'k of n'], proportions(table.categories)), '');
  lines.push('## By tier', '', markdownTable(['tier', 'success', '95% interval', 'k of n'], proportions(table.tiers)), '');
  lines.push('## Failure analysis', '', failureAnalysis(table, input.examples));
  for (const { title, header, rows } of input.sections) lines.push('', `## ${markdown(title)}`, '', markdownTable(header, rows));
  if (input.commands.length > 0) lines.push('', '## How to make these numbers', '', '```', ...input.commands.map(codeLine), '```');
  return `${lines.join('\n')}\n`;
}

function failureAnalysis(table: EvaluationTable, examples: readonly FailureExample[]): string {
  const failed = table.success.n - table.success.k;
  if (failed === 0) return `All ${table.success.n} episodes succeeded.`;
  const lines = [
    `${failed} of ${table.success.n} episodes failed.`,
    '',
    markdownTable(['failure', 'count', 'of all', 'of failures'], failureRows(table)),
  ];
  for (const name of inOrder(examples.map(({ failure }) => failure))) {
    const own = examples.filter((example) => example.failure === name).slice(0, 3);
    lines.push(
      '',
      `**${own[0]?.meaning ?? name}.**`,
      '',
      ...own.map((example) => `- ${markdown(example.task)}: ${markdown(example.evidence)}`),
    );
  }
  return lines.join('\n');
}

/** For the terminal: what each run spent, and what they did not spend equally. */
export function budgetText({ budgets, unequal }: Budgets): string {
  const whole = (value: number): string => Math.round(value).toLocaleString('en');
  const rows = budgets.map((budget) => [String(budget.run), ...BUDGETS.map((key) => whole(budget[key]))]);
  const warning = unequal.length > 0 ? [`Unequal budgets: ${unequal.join('; ')}.`] : [];
  return [textTable(['run', ...BUDGETS.map((key) => BUDGET_NAMES[key])], rows), ...warning].join('\n\n');
}

/** One sentence that names what keeps the runs from being compared; empty when nothing does. */
export function mismatchText({ mismatches }: Pick<Comparison, 'mismatches'>): string {
  return mismatches.length === 0 ? '' : `Not directly comparable. ${mismatches.map(({ words }) => words).join('. ')}.`;
}

/** For the terminal: runs side by side, then what it means in words, then what differs. */
export function comparisonText(comparison: Comparison): string {
  const rows = comparison.runs.map((run) => [
    `${run.run} ${run.name}`,
    run.variant,
    String(run.seed),
    String(run.updates),
    run.success ? percent(run.success.rate) : '–',
    run.success ? interval(run.success) : '–',
    run.return === null ? '–' : run.return.toFixed(3),
    run.steps === null ? '–' : run.steps.toFixed(2),
  ]);
  const warning = mismatchText(comparison);
  const parts = [
    ...(warning === '' ? [] : [warning]),
    textTable(['run', 'variant', 'seed', 'updates', 'success', '95% interval', 'return', 'steps'], rows),
  ];
  const groups = comparison.groups.filter((group) => group.runs.length > 1);
  if (groups.length > 0) {
    const cells = groups.map(({ name, runs, success }) => [
      name,
      String(runs.length),
      `${percent(success.mean.value)} (${interval(success.mean)})`,
      `${percent(success.iqm.value)} (${interval(success.iqm)})`,
    ]);
    parts.push(textTable(['seeds of', 'n', 'mean (bootstrap 95%)', 'inter-quartile mean'], cells));
  }
  if (comparison.words.length > 0) parts.push(comparison.words.join('\n'));
  const shown = (value: unknown) => (value === undefined ? '–' : JSON.stringify(value));
  if (comparison.diff.length === 0) parts.push('The settings are the same.');
  else
    parts.push(
      textTable(
        ['setting', ...comparison.runs.map((run) => String(run.run))],
        comparison.diff.map(({ key, values }) => [key, ...values.map(shown)]),
      ),
    );
  return parts.join('\n\n');
}

export function csv(header: readonly string[], rows: readonly (readonly Cell[])[]): string {
  return [header, ...rows].map(csvLine).join('');
}

const RESULT_COLUMNS = ['task', 'category', 'tier', 'seed', 'success', 'return', 'steps', 'failure'] as const;

export const resultsCsv = (results: readonly EvaluationResult[]): string =>
  csv(
    RESULT_COLUMNS,
    results.map((result) => RESULT_COLUMNS.map((column) => result[column])),
  );

export const resultsJsonl = (results: readonly EvaluationResult[]): string =>
  results.map((result) => `${JSON.stringify(result)}\n`).join('');
