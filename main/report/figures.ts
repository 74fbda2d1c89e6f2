// Figures of a report as plain SVG text: a line chart with intervals and a bar chart. No canvas and no library, so that the
// command line draws the same figures as the window. Colours are Okabe–Ito in the window's shades for white; every line has a dash
// as well. A figure grows with what it shows: with thirty arms the legend has three columns and nothing is cut off.

import { html as escape, percent } from '../base/format.ts';

const COLOURS = ['#0072b2', '#d55e00', '#009e73', '#b85c92', '#b87900', '#2b8cc4', '#857a00', '#3a3c40'];
const DASHES: readonly (readonly number[])[] = [[], [7, 3], [2, 3], [9, 3, 2, 3]];
const WIDTH = 720;
const HEIGHT = 380;
const MARGIN = { left: 58, right: 20, top: 44, bottom: 46 };
const LEGEND_ROW = 18;
/** More lines than this get a legend of two, then three columns. */
const LEGEND_ROWS = 8;

/** A line's colour (a number of the set) and dash; left out, its place decides. */
export interface FigureLook {
  readonly colour?: number;
  readonly dash?: readonly number[];
}

export interface FigureLine extends FigureLook {
  readonly label: string;
  readonly points: readonly { readonly x: number; readonly y: number; readonly low: number; readonly high: number }[];
}

export interface Axes {
  /** `share` is drawn from 0 to 100%; anything else from the least to the greatest value. */
  readonly unit: string;
  readonly xLabel: string;
}

const fixed = (value: number): string => value.toFixed(1);

function lookOf({ colour, dash }: FigureLook, index: number): { colour: string; dash: string } {
  const number = colour ?? index;
  const round = Math.floor(index / COLOURS.length);
  return {
    colour: COLOURS[number % COLOURS.length] ?? '#3a3c40',
    dash: (dash ?? DASHES[(index + round) % DASHES.length] ?? []).join(' '),
  };
}

function frame(title: string, inside: string, height: number): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${escape(title)}" font-family="system-ui, Segoe UI, Liberation Sans, sans-serif" font-size="13">`,
    `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>`,
    `<text x="20" y="24" font-weight="600" font-size="15" fill="#1c1d1f">${escape(shorten(title, 84))}</text>`,
    inside,
    '</svg>',
  ].join('\n');
}

/** Cut to so many characters, as the reader counts them. */
function shorten(text: string, most: number): string {
  const characters = [...text];
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join('')}…`;
}

/** Lines over updates, each with its band. */
export function lineFigure(title: string, lines: readonly FigureLine[], axes: Axes = { unit: 'share', xLabel: 'update' }): string {
  const points = lines.flatMap((line) => line.points);
  const x = spanOf(points.map((point) => point.x));
  const y = axes.unit === 'share' ? { least: 0, most: 1 } : spanOf(points.flatMap((point) => [point.y, point.low, point.high]));
  const bottom = HEIGHT - MARGIN.bottom;
  const place = {
    x: (value: number): number => MARGIN.left + ((value - x.least) / (x.most - x.least)) * (WIDTH - MARGIN.left - MARGIN.right),
    y: (value: number): number => bottom - ((value - y.least) / (y.most - y.least)) * (bottom - MARGIN.top),
  };
  const parts: string[] = [];
  for (const value of [0, 0.25, 0.5, 0.75, 1].map((share) => y.least + share * (y.most - y.least))) {
    const at = fixed(place.y(value));
    parts.push(`<line x1="${MARGIN.left}" x2="${WIDTH - MARGIN.right}" y1="${at}" y2="${at}" stroke="#e5e4e1"/>`);
    const words = axes.unit === 'share' ? `${Math.round(value * 100)}%` : String(Number(value.toPrecision(3)));
    parts.push(`<text x="${MARGIN.left - 8}" y="${fixed(place.y(value) + 4)}" text-anchor="end" fill="#57595e">${words}</text>`);
  }
  for (const value of [x.least, (x.least + x.most) / 2, x.most])
    parts.push(
      `<text x="${fixed(place.x(value))}" y="${bottom + 20}" text-anchor="middle" fill="#57595e">${Number(value.toPrecision(6))}</text>`,
    );
  const label = axes.unit === 'share' || axes.unit === '' ? axes.xLabel : `${axes.xLabel} (y in ${axes.unit})`;
  parts.push(`<text x="${(WIDTH + MARGIN.left) / 2}" y="${bottom + 38}" text-anchor="middle" fill="#57595e">${escape(label)}</text>`);
  lines.forEach((line, index) => parts.push(drawLine(line, index, place)));
  const legend = drawLegend(lines, HEIGHT + 6);
  return frame(title, [...parts, legend.svg].join('\n'), HEIGHT + legend.height);
}

function spanOf(values: readonly number[]): { least: number; most: number } {
  const finite = values.filter(Number.isFinite);
  const most = finite.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  const least = finite.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  if (!Number.isFinite(most)) return { least: 0, most: 1 };
  return most > least ? { least, most } : { least: least - 0.5, most: most + 0.5 };
}

interface Placing {
  x(value: number): number;
  y(value: number): number;
}

function drawLine(line: FigureLine, index: number, place: Placing): string {
  const { colour, dash } = lookOf(line, index);
  const points = line.points.filter(({ y }) => Number.isFinite(y));
  const pair = (x: number, y: number): string => `${fixed(place.x(x))},${fixed(place.y(y))}`;
  const parts: string[] = [];
  if (points.length > 1 && points.some(({ low, high }) => high > low)) {
    const band = [...points.map((p) => pair(p.x, p.high)), ...points.toReversed().map((p) => pair(p.x, p.low))];
    parts.push(`<polygon points="${band.join(' ')}" fill="${colour}" opacity="0.14"/>`);
  }
  parts.push(
    `<polyline points="${points.map((p) => pair(p.x, p.y)).join(' ')}" fill="none" stroke="${colour}" stroke-width="2" stroke-dasharray="${dash}"/>`,
  );
  if (points.length <= 40)
    for (const p of points) parts.push(`<circle cx="${fixed(place.x(p.x))}" cy="${fixed(place.y(p.y))}" r="2.6" fill="${colour}"/>`);
  return parts.join('\n');
}

function drawLegend(lines: readonly FigureLine[], top: number): { svg: string; height: number } {
  const columns = lines.length <= LEGEND_ROWS ? 1 : lines.length <= 2 * LEGEND_ROWS ? 2 : 3;
  const rows = Math.ceil(lines.length / columns);
  const width = (WIDTH - 40) / columns;
  const svg = lines.map((line, index) => {
    const { colour, dash } = lookOf(line, index);
    const x = 20 + Math.floor(index / rows) * width;
    const y = top + (index % rows) * LEGEND_ROW;
    return [
      `<line x1="${fixed(x)}" x2="${fixed(x + 28)}" y1="${y}" y2="${y}" stroke="${colour}" stroke-width="2" stroke-dasharray="${dash}"/>`,
      `<text x="${fixed(x + 36)}" y="${y + 4}" fill="#1c1d1f">${escape(shorten(line.label, Math.floor((width - 44) / 7)))}<title>${escape(line.label)}</title></text>`,
    ].join('\n');
  });
  return { svg: svg.join('\n'), height: rows * LEGEND_ROW + 6 };
}

export interface FigureBar extends FigureLook {
  readonly label: string;
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/** Shares with their intervals, one bar each, the value written beside it. */
export function barFigure(title: string, bars: readonly FigureBar[]): string {
  const row = bars.length > 16 ? 22 : 30;
  const thick = row - 10;
  const left = 250;
  const width = WIDTH - left - 80;
  const parts = bars.map((bar, index) => {
    const { label, value, low, high } = bar;
    const y = MARGIN.top + index * row;
    const to = (share: number): string => fixed(left + share * width);
    return [
      `<text x="${left - 10}" y="${y + thick / 2 + 5}" text-anchor="end" fill="#1c1d1f">${escape(shorten(label, 33))}<title>${escape(label)}</title></text>`,
      `<rect x="${left}" y="${y}" width="${width}" height="${thick}" fill="#f3f3f1"/>`,
      `<rect x="${left}" y="${y}" width="${fixed(value * width)}" height="${thick}" fill="${lookOf(bar, index).colour}" opacity="0.85"/>`,
      `<line x1="${to(low)}" x2="${to(high)}" y1="${y + thick / 2}" y2="${y + thick / 2}" stroke="#1c1d1f" stroke-width="1.4"/>`,
      `<text x="${left + width + 10}" y="${y + thick / 2 + 5}" fill="#1c1d1f">${percent(value)}</text>`,
    ].join('\n');
  });
  return frame(title, parts.join('\n'), MARGIN.top + bars.length * row + 12);
}
