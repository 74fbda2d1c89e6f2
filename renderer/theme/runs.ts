// How a run looks wherever it appears: a colour of the colour-blind-safe set and a line style, so that colour is never
// the only sign. A run keeps its look on every page and across restarts.

import { z } from 'zod';
import { useView } from '../state/view.ts';

const COLOURS = 8;
/** Line styles as canvas and SVG understand them; the second eight runs repeat the colours with another style. */
const DASHES: readonly (readonly number[])[] = [[], [7, 3], [2, 3], [9, 3, 2, 3]];

export interface RunStyle {
  /** A CSS colour; canvas code resolves it with `resolveColour` of charts/theme.ts. */
  readonly colour: string;
  readonly dash: readonly number[];
}

/** The look number `index`; neighbours differ in both colour and line style. */
export function runStyle(index: number): RunStyle {
  const round = Math.floor(index / COLOURS);
  return { colour: `var(--run-${index % COLOURS})`, dash: DASHES[(index + round) % DASHES.length] ?? [] };
}

const looks = z.record(z.string(), z.int().min(0));

/** The looks of these runs. A run seen for the first time gets the next look that none of the runs beside it has. */
export function useRunStyles(runs: readonly string[]): ReadonlyMap<string, RunStyle> {
  const [known, remember] = useView('run-looks', looks, {});
  const all = assignLooks(known, runs);
  if (Object.keys(all).length > Object.keys(known).length) queueMicrotask(() => remember(all));
  return new Map(runs.map((run) => [run, runStyle(all[run] ?? 0)]));
}

function assignLooks(known: Readonly<Record<string, number>>, runs: readonly string[]): Record<string, number> {
  const all = { ...known };
  const taken = new Set(runs.flatMap((run) => (run in all ? [all[run]] : [])));
  for (const run of runs) {
    if (run in all) continue;
    let look = 0;
    while (taken.has(look)) look++;
    all[run] = look;
    taken.add(look);
  }
  return all;
}
