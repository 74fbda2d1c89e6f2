// The usual columns of the list, and which of them a narrow window shows.

import type { Column } from './columns.tsx';

export const DEFAULT_COLUMNS: readonly string[] = [
  'state',
  'id',
  'name',
  'variant',
  'seed',
  'world',
  'success',
  'validation',
  'spark',
  'updates',
  'time',
  'tags',
  'notes',
];

type Sized = Pick<Column, 'id' | 'width' | 'narrow'>;

/** Which of the usual columns give way first where the window is narrow: what is empty in most lists, then what is least looked for. */
const GIVE_WAY: readonly string[] = ['notes', 'tags', 'world', 'time', 'spark'];

interface FittedColumns<C> {
  readonly columns: readonly C[];
  /** Intervals are left out. */
  readonly narrow: boolean;
  /** What the columns take, in pixels. */
  readonly width: number;
}

/** The columns for this many pixels. Columns that the reader chose all stay, and the table is scrolled sideways. */
export function fitColumns<C extends Sized>(columns: readonly C[], room: number): FittedColumns<C> {
  const taken = (own: readonly C[], narrow: boolean): number =>
    own.reduce((sum, column) => sum + (narrow ? (column.narrow ?? column.width) : column.width), 0);
  const asUsual = columns.length === DEFAULT_COLUMNS.length && columns.every(({ id }, place) => id === DEFAULT_COLUMNS[place]);
  const fitted = (gone: number, narrow: boolean): FittedColumns<C> => {
    const own = columns.filter(({ id }) => !GIVE_WAY.slice(0, gone).includes(id));
    return { columns: own, narrow, width: taken(own, narrow) };
  };
  const all = fitted(0, false);
  if (!asUsual) return all;
  // Notes and tags first, then the intervals, then the others one by one.
  const least = fitted(GIVE_WAY.length, true);
  const steps = [all, fitted(1, false), fitted(2, false), ...GIVE_WAY.slice(2).map((_, place) => fitted(2 + place, true))];
  return steps.find(({ width }) => width <= room) ?? least;
}
