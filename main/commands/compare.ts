// `lab compare RUN RUN…`: the runs' end points, intervals, paired statistics and the settings that differ, in numbers and in words.

import type { Command } from 'commander';
import { compare, type Contender } from '../evaluation/compare.ts';
import { comparisonText } from '../evaluation/report.ts';
import { Store } from '../store/store.ts';
import { answer, CallError, dataFolder } from './output.ts';

export function register(program: Command): void {
  program
    .command('compare <runs...>')
    .description('compare runs on their held-out tasks: intervals, paired statistics, settings that differ')
    .action((references: string[]) => {
      if (references.length < 2)
        throw new CallError('compare needs at least two runs', 'npm run lab -- compare 1 2; `lab runs` lists them');
      const store = Store.read(dataFolder());
      try {
        const comparison = compare(references.map((reference) => contender(store, reference)));
        answer(comparison, comparisonText(comparison));
      } finally {
        store.close();
      }
    });
}

function contender(store: Store, reference: string): Contender {
  const run = find(store, reference);
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

function find(store: Store, reference: string) {
  try {
    return store.runs.resolve(reference);
  } catch (error) {
    throw new CallError(error instanceof Error ? error.message : String(error));
  }
}
