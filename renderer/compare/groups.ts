// The arms of a comparison, and the curves of an arm as one: the mean with its 95% interval over the arm's runs. No React in here.

import { type DifferingSetting, groupIntoArms } from '../../main/base/arms.ts';
import { deviation, mean, studentQuantile } from '../../main/base/statistics.ts';
import type { ComparedRun } from '../../main/lab/features/compare.ts';

export interface Curve {
  readonly run: number;
  /** Where the points lie on the axis. */
  readonly x: ArrayLike<number>;
  readonly y: ArrayLike<number>;
  /** Runs meet at equal updates; left out, at equal x. */
  readonly updates?: ArrayLike<number>;
}

export interface Group {
  readonly key: string;
  readonly runs: readonly number[];
}

/** The arms on screen: `by` is one of base/arms.ts. */
export const groupRuns = (runs: readonly ComparedRun[], by: string, diff: readonly DifferingSetting[]): Group[] =>
  groupIntoArms(runs, by, diff).map(({ key, members }) => ({ key, runs: members.map(({ run }) => run) }));

export interface MeanCurve {
  readonly x: number[];
  readonly y: number[];
  readonly low: number[];
  readonly high: number[];
  /** The update of each point. */
  readonly updates: number[];
  /** How many runs stand behind the first and the last point: less at the end when some are still training. */
  readonly n: number;
}

/** Mean and Student's 95% interval at every update that all curves have, at their mean place on the axis; one curve has no interval. */
export function meanCurve(curves: readonly Curve[]): MeanCurve {
  const known = curves.filter(({ x }) => x.length > 0);
  const byUpdate = new Map<number, { x: number; values: number[] }>();
  for (const { x, y, updates = x } of known) {
    for (let i = 0; i < x.length; i++) {
      const value = y[i] ?? Number.NaN;
      if (!Number.isFinite(value)) continue;
      const update = updates[i] ?? 0;
      const place = x[i] ?? 0;
      const point = byUpdate.get(update);
      if (point) {
        point.x += place;
        point.values.push(value);
      } else byUpdate.set(update, { x: place, values: [value] });
    }
  }
  const n = known.length;
  const shared = [...byUpdate].filter(([, { values }]) => values.length === n).sort(([a], [b]) => a - b);
  const result: MeanCurve = { x: [], y: [], low: [], high: [], updates: [], n };
  const t = n > 1 ? studentQuantile(0.025, n - 1) : 0;
  for (const [update, { x, values }] of shared) {
    const middle = mean(values);
    const half = (t * deviation(values)) / Math.sqrt(n);
    result.updates.push(update);
    result.x.push(x / n);
    result.y.push(middle);
    result.low.push(middle - half);
    result.high.push(middle + half);
  }
  return result;
}

/** Each run of the other arms with the baseline arm's run of the same seed, or else with its first. */
export function runPairs(runs: readonly ComparedRun[], groups: readonly Group[], baseline: string): [number, number][] {
  const seedOf = new Map(runs.map(({ run, seed }) => [run, seed]));
  const base = groups.find(({ key }) => key === baseline)?.runs ?? [];
  const [first] = base;
  if (first === undefined) return [];
  return runs.flatMap(({ run, seed }): [number, number][] =>
    base.includes(run) ? [] : [[run, base.find((other) => seedOf.get(other) === seed) ?? first]],
  );
}
