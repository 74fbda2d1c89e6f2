// What the worlds on a grid share: directions, names of cells, and tasks that come from a seed. A cell is named by a word of two
// letters (row, column), so that a small policy reads a place as one token; language models may prefer the grid itself.

import { Random } from '../base/random.ts';
import type { Split } from '../base/vocabulary.ts';
import type { Grammar, Plain, Turn } from './environment.ts';
import { tidy } from './grammar.ts';
import type { DrawnPage, PageCell } from './page.ts';

export const DIRECTIONS = ['left', 'down', 'right', 'up'] as const;
export type Direction = (typeof DIRECTIONS)[number];

const DELTAS: Readonly<Record<Direction, readonly [row: number, column: number]>> = {
  left: [0, -1],
  down: [1, 0],
  right: [0, 1],
  up: [-1, 0],
};

/** The neighbour of a cell; undefined beyond the edge. Cells are numbered row by row. */
export function neighbour(cell: number, direction: Direction, size: number): number | undefined {
  const [down, right] = DELTAS[direction];
  const row = Math.floor(cell / size) + down;
  const column = (cell % size) + right;
  return row < 0 || column < 0 || row >= size || column >= size ? undefined : row * size + column;
}

/** `bc` is the third cell of the second row. */
export const cellName = (cell: number, size: number): string =>
  String.fromCharCode(97 + Math.floor(cell / size)) + String.fromCharCode(97 + (cell % size));

export const cellNames = (cells: readonly number[], size: number): string =>
  cells.length === 0 ? 'none' : cells.map((cell) => cellName(cell, size)).join(' ');

/** From names back to cells, for drawing. */
export const cellsOf = (names: string, size: number): number[] =>
  [...names.matchAll(/\b([a-z])([a-z])\b/g)].map(
    ([, row = 'a', column = 'a']) => (row.charCodeAt(0) - 97) * size + column.charCodeAt(0) - 97,
  );

export const MOVES: Grammar = [
  [
    { kind: 'literal', text: 'go ' },
    { kind: 'choice', options: DIRECTIONS },
  ],
];

export function readMove(action: string): Direction | undefined {
  const word = /^go (.*)$/.exec(tidy(action))?.[1];
  return DIRECTIONS.find((direction) => direction === word);
}

/** A turn on the grid in which nothing happened yet, with what differs. */
export function gridTurn<State extends Plain & { readonly done: boolean }>(
  state: State,
  observation: string,
  rest: Partial<Turn<State>>,
): Turn<State> {
  return {
    state,
    observation,
    reward: 0,
    reason: 'nothing yet',
    done: state.done,
    valid: true,
    success: false,
    clickables: state.done ? [] : DIRECTIONS,
    facts: {},
    ...rest,
  };
}

/** The answer to any action after the end, and to one that is no move. */
export const OVER = { observation: 'The episode is over.', reason: 'the episode is over', valid: false, facts: { kind: 'invalid' } };
export const NO_MOVE = {
  observation: 'Say go and left, down, right or up.',
  reason: 'nothing happens',
  valid: false,
  facts: { kind: 'invalid' },
};

/** How a world reads its page: its sentences of an end, the signs of the form in names, and a cell to draw for each sign. */
export interface GridReader {
  readonly ending: RegExp;
  signsOf(body: string, size: number): string[];
  cellOf(sign: string, end: string): PageCell | undefined;
}

/** A page of a grid, in names or in signs, as cells to draw; undefined when the text is neither. */
export function drawGridPage(text: string, size: number, { ending, signsOf, cellOf }: GridReader): DrawnPage | undefined {
  const end = ending.exec(text)?.[0] ?? '';
  const body = text.slice(end.length);
  const left = /left (\d+)$/.exec(body)?.[1];
  if (left === undefined) return undefined;
  const lines = body.split('\n').slice(0, size);
  const signs = body.startsWith('you ') ? signsOf(body, size) : lines.flatMap((row) => row.split(' '));
  if (signs.length !== size * size) return undefined;
  const cells = signs.map((sign): PageCell => cellOf(sign, end) ?? { text: sign, tone: 'plain', label: sign });
  const rows = Array.from({ length: size }, (_, row) => cells.slice(row * size, (row + 1) * size));
  return { kind: 'grid', caption: `${end}${left} steps left`, rows };
}

/** The same moves as a short view says them: one word each. */
export const MOVE_SAYINGS: ReadonlyMap<string, string> = new Map(DIRECTIONS.map((direction) => [direction, `go ${direction}`]));

/** A thing and its cell as one word (`hbc`, a hole at bc), so that a small policy reads both from one token. */
export const placed = (thing: string, cells: readonly number[], size: number): string[] =>
  cells.map((cell) => thing + cellName(cell, size));

/** Which split an instance belongs to hangs on what it is, so the same one is never in two: 80 / 10 / 10. */
export function splitOfInstance(world: string, instance: string): Split {
  const share = Random.from(`${world}-split`, instance).next();
  return share < 0.8 ? 'train' : share < 0.9 ? 'validation' : 'test';
}

/** What stands after each of the given words: `goal bc holes ab cd` with goal and holes → goal: 'bc', holes: 'ab cd'. */
export function fieldsOf(text: string, names: readonly string[]): ReadonlyMap<string, string> {
  const parts = text.split(new RegExp(`(?:^| )(${names.join('|')})(?= )`));
  return new Map(parts.flatMap((part, index) => (index % 2 === 1 ? [[part, (parts[index + 1] ?? '').trim()] as const] : [])));
}
