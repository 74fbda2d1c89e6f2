// Many runs in a report: the seeds of one arm put together, so that a figure has a line and a table a row for each arm and
// not for each run. Bands and ranges reach from the lowest to the highest seed, which needs no assumption about their spread.

import { mean } from '../base/statistics.ts';
import type { ComparedRun } from '../evaluation/compare.ts';
import type { FigureLine, FigureLook } from './figures.ts';

/** More runs than this are shown by group. */
export const MOST_RUNS = 8;

export interface RunGroup<T extends { readonly name: string; readonly variant: string } = ComparedRun> {
  readonly key: string;
  readonly members: readonly T[];
  /** As the window draws it; left out, its place decides. */
  readonly look?: FigureLook;
}

/** What is on screen: the arms with their looks, and the arm that the others are measured against. */
export interface ReportView {
  readonly groups: readonly { readonly key: string; readonly runs: readonly number[]; readonly look: FigureLook }[];
  readonly baseline: string | null;
}

/** The groups of a view. */
export function viewed<T extends { readonly run: number; readonly name: string; readonly variant: string }>(
  view: ReportView,
  runs: readonly T[],
): RunGroup<T>[] {
  return view.groups.map(({ key, runs: ids, look }) => ({ key, look, members: runs.filter(({ run }) => ids.includes(run)) }));
}

/** The lines of the members as one: mean and range at every x that all of them have. */
export function meanLine(label: string, lines: readonly FigureLine[], look: FigureLook = {}): FigureLine {
  const known = lines.filter(({ points }) => points.length > 0);
  const byX = Map.groupBy(
    known.flatMap(({ points }) => points),
    ({ x }) => x,
  );
  const points = [...byX]
    .filter(([, own]) => own.length === known.length)
    .sort(([a], [b]) => a - b)
    .map(([x, own]) => {
      const ys = own.map(({ y }) => y);
      return { x, y: mean(ys), low: Math.min(...ys), high: Math.max(...ys) };
    });
  return { ...look, label, points };
}
