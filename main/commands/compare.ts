// `lab compare RUN RUN…`: the runs' end points, intervals, paired statistics and the settings that differ, in numbers and in words.

import type { Command } from 'commander';
import { compare } from '../evaluation/compare.ts';
import { budgetsOf } from '../report/budget.ts';
import { contenderOf } from '../report/contenders.ts';
import { budgetText, comparisonText } from '../report/report.ts';
import { answer, CallError } from './shared/output.ts';
import { findRun, withStore } from './shared/store.ts';

export function register(program: Command): void {
  program
    .command('compare <runs...>')
    .description('compare runs on their test tasks: intervals, paired statistics, settings that differ')
    .action((references: string[]) => {
      if (references.length < 2)
        throw new CallError('compare needs at least two runs', 'npm run lab -- compare 1 2; `lab runs` lists them');
      return withStore((store) => {
        const runs = references.map((reference) => findRun(store, reference));
        const comparison = compare(runs.map((run) => contenderOf(store, run)));
        const spent = budgetsOf(store, runs);
        answer({ ...comparison, ...spent }, `${comparisonText(comparison)}\n\n${budgetText(spent)}`);
      });
    });
}
