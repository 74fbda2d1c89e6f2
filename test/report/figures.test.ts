// Figures and tables with more arms than a page is used to: nothing is cut off, nothing is lost, and what leaves as LaTeX has
// the structure that pdfLaTeX asks for. Where pdflatex is installed, `npm run test:slow` compiles it (latex.slow.test.ts).

import { expect, test } from 'vitest';
import { barFigure, lineFigure } from '../../main/report/figures.ts';
import { latexTable } from '../../main/report/report.ts';

const ARMS = Array.from({ length: 28 }, (_, index) => `arm ${index + 1} with a long name that goes on and on`);
const size = (svg: string): { width: number; height: number } => ({
  width: Number(/ width="(\d+)"/.exec(svg)?.[1]),
  height: Number(/ height="(\d+)"/.exec(svg)?.[1]),
});

test('with 28 arms every line, name and bar lies inside the figure', () => {
  const point = (x: number, y: number) => ({ x, y, low: y - 0.1, high: y + 0.1 });
  const lines = lineFigure(
    'Success',
    ARMS.map((label, index) => ({ label, points: [point(0, 0.2), point(100, 0.2 + index / 50)] })),
  );
  const bars = barFigure(
    'Success',
    ARMS.map((label) => ({ label, value: 0.5, low: 0.4, high: 0.6 })),
  );
  for (const svg of [lines, bars]) {
    const { width, height } = size(svg);
    for (const label of ARMS) expect(svg).toContain(`<title>${label}</title>`);
    const places = [...svg.matchAll(/<(?:text|rect|line)[^>]*? (?:x|x1)="([\d.]+)"[^>]*? (?:y|y1)="([\d.]+)"/g)];
    expect(places.length).toBeGreaterThan(28);
    for (const [, x, y] of places) {
      expect(Number(x)).toBeLessThanOrEqual(width);
      expect(Number(y)).toBeLessThanOrEqual(height - 2);
    }
  }
});

test('a line has the colour and dash it is given, else those of its place', () => {
  const points = [
    { x: 0, y: 0, low: 0, high: 0 },
    { x: 1, y: 1, low: 1, high: 1 },
  ];
  const svg = lineFigure('Success', [
    { label: 'a', points, colour: 3, dash: [2, 3] },
    { label: 'b', points },
  ]);
  const strokes = [...svg.matchAll(/<polyline[^>]*stroke="(#\w+)"[^>]*stroke-dasharray="([\d ]*)"/g)].map(([, colour, dash]) => [
    colour,
    dash,
  ]);
  expect(strokes).toEqual([
    ['#b85c92', '2 3'],
    ['#d55e00', '7 3'],
  ]);
});

test('LaTeX: every row has its columns, special signs are escaped, foreign letters cannot stop the paper, long tables break', () => {
  const rows = Array.from({ length: 41 }, (_, index) => [`run_${index} 100% β₂ “q” ${index === 0 ? '🦊 שלום' : ''}`, '−3.1', '61.0–64.2%']);
  const table = latexTable(['run', 'a & b', 'interval'], rows);
  const lines = table.split('\n');
  expect(lines[0]).toBe('\\begin{longtable}{lrr}');
  expect(lines.at(-1)).toBe('\\end{longtable}');
  const body = lines.filter((line) => line.endsWith('\\\\'));
  expect(body).toHaveLength(42);
  for (const line of body) {
    expect(line.replaceAll('\\&', '').split('&')).toHaveLength(3);
    // oxlint-disable-next-line no-control-regex -- what pdfLaTeX reads without further packages
    expect(line).toMatch(/^[\u0020-\u007e\u00c0-\u017f]*$/);
    expect(line.replace(/\\[%&_#${}\\]/g, '')).not.toMatch(/[%#_]/);
  }
  expect(body[1]).toContain('run\\_0 100\\% $\\beta$');
  expect(body[1]).toContain('$-$3.1');
});
