// A level as a grid to draw, from either form of its text.

import { cellsOf, drawGridPage, fieldsOf } from '../grid.ts';
import type { DrawnPage, PageCell } from '../page.ts';

const CELLS: Readonly<Record<string, PageCell>> = {
  '#': { text: '', tone: 'ground', label: 'wall' },
  _: { text: '', tone: 'plain', label: 'floor' },
  O: { text: 'O', tone: 'goal', label: 'target' },
  X: { text: 'X', tone: 'near', label: 'box' },
  '√': { text: '√', tone: 'good', label: 'box on the target' },
  P: { text: 'P', tone: 'agent', label: 'you' },
  S: { text: 'PO', tone: 'agent', label: 'you, on the target' },
};

export const drawLevelPage = (text: string, size: number): DrawnPage | undefined =>
  drawGridPage(text, size, { ending: /^(?:The|You) [^.]*\. /, signsOf, cellOf: (sign) => CELLS[sign] });

function signsOf(body: string, size: number): string[] {
  const fields = fieldsOf(body, ['you', 'box', 'target', 'walls', 'left']);
  const [player, box, target] = ['you', 'box', 'target'].map((name) => cellsOf(fields.get(name) ?? '', size)[0]);
  const walls = cellsOf(fields.get('walls') ?? '', size);
  return Array.from({ length: size * size }, (_, cell) => {
    const edge = cell < size || cell >= size * (size - 1) || cell % size === 0 || cell % size === size - 1;
    if (edge || walls.includes(cell)) return '#';
    if (cell === box) return cell === target ? '√' : 'X';
    if (cell === player) return cell === target ? 'S' : 'P';
    return cell === target ? 'O' : '_';
  });
}
