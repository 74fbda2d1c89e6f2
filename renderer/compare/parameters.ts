// Settings against success, for sweeps: which settings can be put on an axis, where their values lie, and how strongly success goes
// with them. No React in here.

import { shownValue } from '../../main/base/arms.ts';
import { rankCorrelation } from '../../main/base/statistics.ts';
import type { ComparedRun } from '../../main/lab/features/compare.ts';

export interface Setting {
  readonly key: string;
  readonly values: readonly unknown[];
}

/** Settings that differ between evaluated runs, the one with the most numbers first; the seed is no setting. */
export function plottable(runs: readonly ComparedRun[], diff: readonly Setting[]): Setting[] {
  const evaluated = runs.flatMap(({ success }, index) => (success ? [index] : []));
  const distinct = ({ values }: Setting): number =>
    new Set(evaluated.flatMap((index) => (values[index] === undefined ? [] : [shownValue(values[index])]))).size;
  const numbers = ({ values }: Setting): number =>
    new Set(evaluated.flatMap((index) => (typeof values[index] === 'number' ? [values[index]] : []))).size;
  return diff
    .filter((setting) => setting.key !== 'seed' && distinct(setting) > 1)
    .toSorted((a, b) => numbers(b) - numbers(a) || a.key.localeCompare(b.key));
}

export interface Placed {
  readonly run: number;
  /** 0 … 1 along the axis. */
  readonly x: number;
  readonly y: number;
  readonly value: string;
}

export interface Placing {
  readonly points: readonly Placed[];
  readonly ticks: readonly { readonly x: number; readonly label: string }[];
  readonly log: boolean;
  /** Evaluated runs without this setting, where it is a number. */
  readonly missing: number;
  /** Rank correlation of the setting with success; null where it is not a number. */
  readonly rho: number | null;
}

/** Numbers lie on a line (a log one when they span a factor of 20 or more), other values side by side. */
export function placeSetting(runs: readonly ComparedRun[], { values }: Setting): Placing {
  const evaluated = runs.flatMap(({ run, success }, index) => (success ? [{ run, y: success.rate, value: values[index] }] : []));
  const known = evaluated.filter(({ value }) => value !== undefined);
  const numeric = known.flatMap(({ value }) => (typeof value === 'number' ? [value] : []));
  const all = [...new Set(known.map(({ value }) => shownValue(value)))].sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  const missing = evaluated.length - known.length;
  if (numeric.length < known.length || new Set(numeric).size < 2) {
    const at = (label: string): number => (all.indexOf(label) + 0.5) / Math.max(1, all.length);
    const points = known.map(({ run, y, value }) => ({ run, y, x: at(shownValue(value)), value: shownValue(value) }));
    return { points, ticks: all.map((label) => ({ x: at(label), label })), log: false, missing, rho: null };
  }
  const [low, high] = [Math.min(...numeric), Math.max(...numeric)];
  const log = low > 0 && high / low >= 20;
  const along = (value: number): number =>
    0.04 + 0.92 * (log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low));
  const distinct = [...new Set(numeric)].sort((a, b) => a - b);
  return {
    points: known.map(({ run, y }, index) => ({ run, y, x: along(numeric[index] ?? low), value: shownValue(numeric[index]) })),
    ticks: apart(distinct.map((value) => ({ x: along(value), label: String(Number(value.toPrecision(3))) }))),
    log,
    missing,
    rho: rankCorrelation(
      numeric,
      known.map(({ y }) => y),
    ),
  };
}

/** Ticks that would lie over each other are left out. */
function apart(ticks: readonly { x: number; label: string }[]): { x: number; label: string }[] {
  const kept: { x: number; label: string }[] = [];
  for (const tick of ticks) if (kept.length === 0 || tick.x - (kept.at(-1)?.x ?? 0) > 0.07) kept.push(tick);
  return kept;
}
