// `lab vstar RUN`: the values that a run's tasks were given in stage 1, and how many of them no reference sample solved.

import { mean } from '../base/statistics.ts';
import type { Command } from 'commander';
import { textTable } from '../report/report.ts';
import { answer, note } from './shared/output.ts';
import { findRun, withStore } from './shared/store.ts';

/** Rows of the table for people; --json has all of them. */
const SHOWN = 40;

export function register(program: Command): void {
  program
    .command('vstar <run>')
    .description('the V* table of a run: successes k of n reference samples and the value made of them, per task')
    .action((reference: string) =>
      withStore((store) => {
        const run = findRun(store, reference);
        const entries = store.vstar.ofRun(run).map(({ task, k, n, value }) => ({ task, k, n, value }));
        const unsolved = entries.filter(({ k }) => k === 0).length;
        const rows = entries.slice(0, SHOWN).map(({ task, k, n, value }) => [task, `${k} of ${n}`, value.toFixed(4)]);
        const summary = `${entries.length} tasks, mean V* ${mean(entries.map(({ value }) => value)).toFixed(4)}, ${unsolved} unsolved (k = 0)`;
        if (entries.length === 0) note(`Run ${run} has no V*: its algorithm does not use it, or it has not been estimated yet`);
        const more = entries.length > SHOWN ? `… and ${entries.length - SHOWN} more (--json has all)\n` : '';
        answer(entries, `${textTable(['task', 'k of n', 'V*'], rows)}\n${more}${summary}`);
      }),
    );
}
