// What the tour shows, chosen from the study's data: the two arms that differ most, the first update at which their
// curves diverge, a task that one solves and the other does not. It depends on no particular study. No React in here.

import type { Answer } from '../../preload/contract.ts';
import type { ComparedRun } from '../../main/lab/features/compare.ts';
import { usualGrouping } from '../../main/base/arms.ts';
import { mean } from '../../main/base/statistics.ts';
import { type Group, groupRuns, meanCurve, type MeanCurve } from '../compare/groups.ts';

type Compared = Pick<Answer<'compare.open'>, 'runs' | 'diff'> & Answer<'compare.tasks'>;

export interface Side {
  readonly key: string;
  readonly runs: readonly number[];
  /** Mean success over its runs at the final evaluation. */
  readonly rate: number;
  readonly curve: MeanCurve;
}

export interface TourPlan {
  readonly better: Side;
  readonly worse: Side;
  /** The first evaluation at which the mean curves are a margin apart; null when they have none in common. */
  readonly parting: { readonly update: number; readonly better: number; readonly worse: number } | null;
  /** A task that a run of the better side solved and one of the worse did not, both episodes kept; null where there is none. */
  readonly example: Example | null;
}

export interface Example {
  readonly task: string;
  readonly solver: { readonly run: number; readonly episode: number };
  readonly failer: { readonly run: number; readonly episode: number };
}

/** Curves count as parted from this difference of success on. */
const MARGIN = 0.1;

/** Undefined when fewer than two groups of runs were evaluated. */
export function planTour(data: Compared): TourPlan | undefined {
  const evaluated = data.runs.filter(({ success }) => success !== null);
  const arms = groupRuns(data.runs, usualGrouping(data.runs), data.diff);
  const sides = arms.flatMap((arm) => sideOf(arm, evaluated) ?? []);
  const pairs = sides
    .flatMap((better) => sides.filter((worse) => better !== worse && better.rate >= worse.rate).map((worse) => ({ better, worse })))
    .sort((x, y) => y.better.rate - y.worse.rate - (x.better.rate - x.worse.rate));
  const [first] = pairs;
  if (!first) return undefined;
  // The largest difference that can be shown on a task; where no episode was kept, the largest.
  const shown = pairs.find(({ better, worse }) => exampleOf(data, better, worse) !== null) ?? first;
  return { ...shown, parting: partingOf(shown.better.curve, shown.worse.curve), example: exampleOf(data, shown.better, shown.worse) };
}

/** Undefined for an arm of which no run was evaluated. */
function sideOf({ key, runs: members }: Group, evaluated: readonly ComparedRun[]): Side | undefined {
  const own = evaluated.filter(({ run }) => members.includes(run));
  if (own.length === 0) return undefined;
  const rates = own.map(({ success }) => success?.rate ?? 0);
  const curves = own.map(({ run, evaluations }) => ({
    run,
    x: evaluations.map(({ update }) => update),
    y: evaluations.map(({ success }) => success.rate),
  }));
  return { key, runs: own.map(({ run }) => run), rate: mean(rates), curve: meanCurve(curves) };
}

function partingOf(better: MeanCurve, worse: MeanCurve): TourPlan['parting'] {
  const points = better.x.flatMap((update, index) => {
    const other = worse.x.indexOf(update);
    const [high, low] = [better.y[index], worse.y[other]];
    return high === undefined || low === undefined ? [] : [{ update, better: high, worse: low }];
  });
  const gap = (point: { better: number; worse: number }): number => point.better - point.worse;
  return points.find((point) => gap(point) >= MARGIN) ?? points.toSorted((x, y) => gap(y) - gap(x))[0] ?? null;
}

function exampleOf({ matrix }: Compared, better: Side, worse: Side): Example | null {
  const columns = (side: Side) => matrix.columns.filter(({ run }) => side.runs.includes(run));
  for (const [row, { task }] of matrix.tasks.entries()) {
    const having = (outcome: number) => (column: Compared['matrix']['columns'][number]) =>
      column.outcome[row] === outcome && (column.episode[row] ?? 0) > 0;
    const solver = columns(better).find(having(1));
    const failer = columns(worse).find(having(0));
    if (solver && failer) {
      const place = ({ run, episode }: typeof solver) => ({ run, episode: episode[row] ?? 0 });
      return { task, solver: place(solver), failer: place(failer) };
    }
  }
  return null;
}
