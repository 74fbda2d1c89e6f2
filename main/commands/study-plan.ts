// `lab study plan`: seeds × tasks that find a difference, before anything is run.

import type { Command } from 'commander';
import { percent, points } from '../base/format.ts';
import { textTable } from '../report/report.ts';
import { ASSUMED, measuredComponents, planStudy } from '../study/planner.ts';
import { readRecord } from '../study/record.ts';
import { answer, CallError } from './shared/output.ts';
import { withStore } from './shared/store.ts';
import { wholeNumber } from './shared/work.ts';

interface PlanOptions {
  readonly difference: number;
  readonly power: number;
  readonly cluster?: number;
  readonly tests?: number;
}

const share = (option: string) => (text: string) => {
  const value = Number(text);
  if (!(value > 0 && value < 1)) throw new CallError(`${option} takes a share between 0 and 1, such as 0.05, not "${text}"`);
  return value;
};

export function registerPlan(study: Command): void {
  study
    .command('plan [name]')
    .description('seeds × tasks needed to find a difference, with the spread of a finished study or an assumed one')
    .requiredOption('--difference <share>', 'the true difference to be found: 0.05 is 5 points', share('--difference'))
    .option('--power <share>', 'probability of detecting it', share('--power'), 0.8)
    .option('--cluster <n>', 'tasks per cluster, i.e. about the same thing (default: those of the study, else 1)', wholeNumber('--cluster'))
    .option('--tests <n>', 'tests of the study, for the correction (default: those of the study, else 1)', wholeNumber('--tests'))
    .action((name: string | undefined, options: PlanOptions) =>
      withStore((store) => {
        const record = name === undefined ? undefined : readRecord(store.studies.find(name)?.plan);
        if (name !== undefined && !record)
          throw new CallError(`There is no study with claims named "${name}"`, '`lab study list` names the studies');
        const measured = record && measuredComponents(store, record);
        if (name !== undefined && !measured)
          throw new CallError(
            `The study "${name}" has no pair of arms with two seeds or more yet`,
            'Leave the name out to plan with assumed spreads',
          );
        const components = measured ?? { ...ASSUMED, clusterSize: 1 };
        const tests = Math.max(1, options.tests ?? record?.claims.flatMap((claim) => claim.tests).length ?? 1);
        const clusterSize = Math.max(1, options.cluster ?? components.clusterSize);
        const plan = planStudy(components, { difference: options.difference, power: options.power, clusterSize, tests });
        const known = (seeds: number | null): string => (seeds === null ? 'more than 200' : String(seeds));
        const basis = measured ? `Spread of the study “${name}”` : 'Assumed spread';
        const text = [
          `${basis}: standard deviation ${points(Math.sqrt(components.seed))} points between seeds, ${points(Math.sqrt(components.cluster))} between clusters of ${clusterSize.toFixed(1)} tasks.`,
          `A true difference of ${points(options.difference)} points is found with this probability (alone; first of ${tests} tests under Holm’s correction):`,
          textTable(
            ['seeds', 'tasks', 'alone', 'corrected'],
            plan.rows.map((row) => [String(row.seeds), String(row.tasks), percent(row.alone), percent(row.corrected)]),
          ),
          `Seeds needed for ${percent(options.power)}:`,
          textTable(
            ['tasks', 'alone', 'corrected'],
            plan.needed.map((row) => [String(row.tasks), known(row.alone), known(row.corrected)]),
          ),
        ];
        answer({ study: name ?? null, ...options, tests, clusterSize, components, ...plan }, text.join('\n\n'));
      }),
    );
}
