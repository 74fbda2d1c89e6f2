// Which rows the list shows and in which order: filter, sort, group. Pure, over thousands of rows, and tested as such.

import { groupIntoArms } from '../../main/base/arms.ts';
import { deviation, mean, studentQuantile } from '../../main/base/statistics.ts';
import type { Json, RunRow } from '../../main/lab/features/runs.ts';
import type { RunState } from '../../main/base/vocabulary.ts';

export interface RunFilter {
  readonly text: string;
  readonly state: RunState | 'live' | '';
  readonly variant: string;
  readonly tag: string;
}

export const NO_FILTER: RunFilter = { text: '', state: '', variant: '', tag: '' };

/** Every word of the text must occur somewhere; "#12" finds run 12, "seed:3" a seed. */
export function filterRuns(runs: readonly RunRow[], { text, state, variant, tag }: RunFilter): RunRow[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return runs.filter((run) => {
    if (state === 'live' ? run.state !== 'running' && run.state !== 'stopping' : state !== '' && run.state !== state) return false;
    if (variant !== '' && run.variant !== variant) return false;
    if (tag !== '' && !run.tags.includes(tag)) return false;
    return words.every((word) => matches(run, word));
  });
}

function matches(run: RunRow, word: string): boolean {
  if (/^#\d+$/.test(word)) return run.id === Number(word.slice(1));
  if (/^seed:\d+$/.test(word)) return run.seed === Number(word.slice(5));
  return [run.name, run.notes, run.variant, run.world, run.preset ?? '', ...run.tags].some((text) => text.toLowerCase().includes(word));
}

export type SortValue = string | number | null;

/** Stable; what has no value comes last in either direction. */
export function sortRuns(runs: readonly RunRow[], value: (run: RunRow) => SortValue, descending: boolean): RunRow[] {
  const keyed = runs.map((run) => ({ run, key: value(run) }));
  keyed.sort((a, b) => {
    if (a.key === null || b.key === null) return Number(a.key === null) - Number(b.key === null) || b.run.id - a.run.id;
    const order = typeof a.key === 'number' && typeof b.key === 'number' ? a.key - b.key : String(a.key).localeCompare(String(b.key));
    return (descending ? -order : order) || b.run.id - a.run.id;
  });
  return keyed.map(({ run }) => run);
}

/** Mean over runs with its 95% interval (Student's t): runs, not episodes, are the sample. */
export interface GroupMean {
  readonly n: number;
  readonly mean: number;
  /** How many there are among these runs: seeds of one are a sample, several are a mixture. */
  readonly configurations: number;
  /** Null with a single run, which has no spread, and with several configurations. */
  readonly interval: readonly [number, number] | null;
}

export interface RunGroup {
  readonly key: string;
  readonly label: string;
  readonly runs: readonly RunRow[];
  readonly success: GroupMean | null;
}

/** A row of the table: a run, or the head of a group. */
export type Item =
  | { readonly kind: 'run'; readonly run: RunRow }
  | { readonly kind: 'group'; readonly group: RunGroup; readonly open: boolean };

/** How the seeds of each configuration are called, by their `group`. */
export function configurationLabels(runs: readonly RunRow[]): Map<string, string> {
  const arms = groupIntoArms(
    runs.map((row) => ({ ...row, run: row.id })),
    'config',
    [],
  );
  return new Map(arms.map(({ key, members }) => [members[0]?.group ?? '', key]));
}

/** `labels`: of values that do not speak for themselves. */
export function groupRuns(
  runs: readonly RunRow[],
  valueOf: (run: RunRow) => Json | undefined,
  labels: ReadonlyMap<string, string> = new Map(),
): RunGroup[] {
  const groups = new Map<string, { label: string; runs: RunRow[]; order: number | string }>();
  for (const run of runs) {
    const value = valueOf(run);
    const key = JSON.stringify(value ?? null);
    let group = groups.get(key);
    if (!group) {
      const label = value === undefined ? 'not set' : typeof value === 'string' ? (labels.get(value) ?? value) : key;
      groups.set(key, (group = { label, runs: [], order: typeof value === 'number' ? value : label }));
    }
    group.runs.push(run);
  }
  return [...groups]
    .sort(([, a], [, b]) =>
      typeof a.order === 'number' && typeof b.order === 'number' ? a.order - b.order : String(a.order).localeCompare(String(b.order)),
    )
    .map(([key, { label, runs: members }]) => ({ key, label, runs: members, success: meanOf(members) }));
}

function meanOf(runs: readonly RunRow[]): GroupMean | null {
  const tested = runs.filter(({ test }) => test !== null);
  const rates = tested.flatMap(({ test }) => (test ? [test.rate] : []));
  const n = rates.length;
  if (n === 0) return null;
  const middle = mean(rates);
  const configurations = new Set(tested.map(({ group }) => group)).size;
  if (n === 1 || configurations > 1) return { n, mean: middle, configurations, interval: null };
  const half = (studentQuantile(0.025, n - 1) * deviation(rates)) / Math.sqrt(n);
  return { n, mean: middle, configurations, interval: [Math.max(0, middle - half), Math.min(1, middle + half)] };
}
