// How a run looks wherever it appears: a colour of the colour-blind-safe set and a line style, so that colour is never
// the only sign. A run keeps its look on every page and across restarts.

import { useEffect } from 'react';
import { z } from 'zod';
import { useView } from '../state/view.ts';

const COLOURS = 8;
/** Line styles as canvas and SVG understand them; the second eight runs repeat the colours with another style. */
const DASHES: readonly (readonly number[])[] = [[], [7, 3], [2, 3], [9, 3, 2, 3]];

export interface RunStyle {
  /** A CSS colour; canvas code resolves it with `resolveColour` of charts/theme.ts. */
  readonly colour: string;
  /** Its number in the set: reports and exported figures have shades of their own for it. Absent outside the set. */
  readonly hue?: number;
  readonly dash: readonly number[];
}

/** The look number `index`; neighbours differ in both colour and line style, and no two numbers look the same. */
export function runStyle(index: number): RunStyle {
  const round = Math.floor(index / COLOURS);
  const again = Math.floor(round / DASHES.length);
  const dash = DASHES[(index + round) % DASHES.length] ?? [];
  // Beyond 32 runs the line styles begin again with wider gaps.
  const hue = index % COLOURS;
  return { colour: `var(--run-${hue})`, hue, dash: again === 0 ? dash : [...dash, 1, 4 + 3 * again] };
}

const looks = z.record(z.string(), z.int().min(0));

/** The looks of these runs: the remembered one, or the next that none of the runs beside it has. */
export function useRunStyles(runs: readonly string[]): ReadonlyMap<string, RunStyle> {
  const [known, remember] = useView('run-looks', looks, {});
  const shown = assignLooks(known, runs);
  const fresh = runs.filter((run) => !(run in known));
  useEffect(() => {
    if (fresh.length > 0) remember({ ...known, ...Object.fromEntries(fresh.map((run) => [run, shown.get(run) ?? 0])) });
  });
  return new Map(runs.map((run) => [run, runStyle(shown.get(run) ?? 0)]));
}

/** Runs that were first seen apart may remember the same look; side by side, the later one gets a free one for as long. */
export function assignLooks(known: Readonly<Record<string, number>>, runs: readonly string[]): Map<string, number> {
  const shown = new Map<string, number>();
  const taken = new Set<number>();
  for (const run of runs) {
    const look = known[run];
    if (look === undefined || taken.has(look)) continue;
    taken.add(look);
    shown.set(run, look);
  }
  for (const run of runs) {
    if (shown.has(run)) continue;
    let look = 0;
    while (taken.has(look)) look++;
    taken.add(look);
    shown.set(run, look);
  }
  return shown;
}
