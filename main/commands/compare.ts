// `lab compare RUN RUN…`: the runs' end points, intervals, paired statistics and the settings that differ, in numbers and in words.

import type { Command } from 'commander';
import { compare, type Contender } from '../evaluation/compare.ts';
import { comparisonText } from '../evaluation/report.ts';
import type { Store } from '../store/store.ts';
import { answer, CallError } from './output.ts';
import { findRun, withStore } from './store.ts';

export function register(program: Command): void {
  program
    .command('compare <runs...>')
    .description('compare runs on their held-out tasks: intervals, paired statistics, settings that differ')
    .action((references: string[]) => {
      if (references.length < 2)
        throw new CallError('compare needs at least two runs', 'npm run lab -- compare 1 2; `lab runs` lists them');
      return withStore((store) => {
        const comparison = compare(references.map((reference) => contender(store, reference)));
        answer(comparison, comparisonText(comparison));
      });
    });
}

function contender(store: Store, reference: string): Contender {
  const run = store.runs.get(findRun(store, reference));
  const evaluation = store.evaluations.decisive(run.id);
  return {
    run: run.id,
    name: run.name,
    variant: run.variant,
    seed: run.seed,
    group: run.groupHash,
    updates: run.updates,
    config: run.config,
    ends: store.metrics.latest(run.id),
    results: evaluation ? store.evaluations.results(evaluation.id) : [],
    place: evaluation ? `${evaluation.worldHash} ${evaluation.split}` : '',
  };
}
