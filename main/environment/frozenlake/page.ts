// A lake as a grid to draw, from either form of its text.

import { cellsOf, drawGridPage, fieldsOf } from '../grid.ts';
import type { DrawnPage, PageCell, PageContext } from '../page.ts';

const CELLS: Readonly<Record<string, PageCell>> = {
  P: { text: 'P', tone: 'agent', label: 'you' },
  _: { text: '', tone: 'plain', label: 'ice' },
  O: { text: 'O', tone: 'danger', label: 'hole' },
  G: { text: 'G', tone: 'goal', label: 'goal' },
  X: { text: 'X', tone: 'danger', label: 'you, in a hole' },
  W: { text: 'P', tone: 'good', label: 'you, on the goal' },
};

export const drawLakePage = (text: string, _context: PageContext, size: number): DrawnPage | undefined =>
  drawGridPage(text, size, {
    ending: /^You [^.]*\. /,
    signsOf,
    cellOf: (sign, end) => CELLS[end.startsWith('You reached') && sign === 'P' ? 'W' : sign],
  });

function signsOf(body: string, size: number): string[] {
  const fields = fieldsOf(body, ['you', 'goal', 'holes', 'left']);
  const at = (name: string): number[] => cellsOf(fields.get(name) ?? '', size);
  const holes = at('holes');
  return Array.from({ length: size * size }, (_, cell) => {
    const here = at('you').includes(cell);
    if (holes.includes(cell)) return here ? 'X' : 'O';
    return here ? 'P' : at('goal').includes(cell) ? 'G' : '_';
  });
}
