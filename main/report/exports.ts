// What `lab export` can make of evaluations: a report of one run, its results task by task, and a summary table over runs, for a
// text, a spreadsheet or a paper. `lab export` lists the formats from here.

import type { Run } from '../store/runs.ts';
import type { Store } from '../store/store.ts';
import type { EvaluationResult } from '../evaluation/evaluation-report.ts';
import { tabulate } from '../evaluation/evaluate.ts';
import {
  csv,
  latexTable,
  markdownReport,
  markdownTable,
  type NamedTable,
  resultsCsv,
  resultsJsonl,
  SUMMARY,
  summaryRow,
} from './report.ts';
import { reportOfRun } from './run-report.ts';

export interface EvaluationExport {
  /** End of the file's name. */
  readonly ending: string;
  readonly about: string;
  /** One file for all runs, or one for each. */
  readonly over: 'runs' | 'run';
  make(store: Store, runs: readonly Run[]): string;
}

const each = (make: (store: Store, run: Run) => string): Pick<EvaluationExport, 'over' | 'make'> => ({
  over: 'run',
  make: (store, runs) => runs.map((run) => make(store, run)).join('\n'),
});

export const EVALUATION_EXPORTS: Readonly<Record<string, EvaluationExport>> = {
  report: {
    ending: 'report.md',
    about: 'Markdown report with baselines and failure analysis',
    ...each((store, run) => markdownReport(reportOfRun(store, run))),
  },
  'results-csv': { ending: 'results.csv', about: 'every evaluated task', ...each((store, run) => resultsCsv(resultsOf(store, run))) },
  'results-jsonl': { ending: 'results.jsonl', about: 'every evaluated task', ...each((store, run) => resultsJsonl(resultsOf(store, run))) },
  'summary-md': {
    ending: 'summary.md',
    about: 'one line per run, Markdown',
    over: 'runs',
    make: (store, runs) => `${markdownTable(SUMMARY, summaryRows(store, runs))}\n`,
  },
  'summary-tex': {
    ending: 'summary.tex',
    about: 'one line per run, LaTeX',
    over: 'runs',
    make: (store, runs) => `${latexTable(SUMMARY, summaryRows(store, runs))}\n`,
  },
  'summary-csv': {
    ending: 'summary.csv',
    about: 'one line per run, with seeds and intervals as numbers',
    over: 'runs',
    make: (store, runs) => summaryCsv(store, runs),
  },
};

function resultsOf(store: Store, run: Run): EvaluationResult[] {
  const evaluation = store.evaluations.finalOrLatest(run.id);
  if (!evaluation) throw new Error(`Run ${run.id} has not been evaluated yet: let it train on, or evaluate it with "lab eval ${run.id}"`);
  return store.evaluations.results(evaluation.id);
}

const named = (store: Store, run: Run): NamedTable => ({ name: `${run.name} (run ${run.id})`, table: tabulate(resultsOf(store, run)) });

const summaryRows = (store: Store, runs: readonly Run[]): string[][] => runs.map((run) => summaryRow(named(store, run)));

function summaryCsv(store: Store, runs: readonly Run[]): string {
  const header = ['run', 'name', 'world', 'variant', 'seed', 'updates', 'episodes', 'k', 'n', 'success', 'low', 'high', 'return', 'steps'];
  const rows = runs.map((run) => {
    const { success, steps, return: mean } = named(store, run).table;
    const { k, n, rate, low, high } = success;
    return [run.id, run.name, run.world, run.variant, run.seed, run.updates, run.episodes, k, n, rate, low, high, mean, steps];
  });
  return csv(header, rows);
}
