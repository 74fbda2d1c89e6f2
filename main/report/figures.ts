// Figures of a report as plain SVG text: a line chart with intervals and a bar chart. No canvas and no library, so that the
// command line draws the same figures as the window. Colours are Okabe–Ito; every line has its own dash as well.

import { html as escape, percent } from '../format.ts';

const COLOURS = ['#0072b2', '#d55e00', '#009e73', '#b85c92', '#b87900', '#2b8cc4', '#857a00', '#3a3c40'];
const DASHES = ['', '7 3', '2 3', '9 3 2 3'];
const WIDTH = 720;
const HEIGHT = 380;
const MARGIN = { left: 58, right: 20, top: 44, bottom: 46 };

export interface FigureLine {
  readonly label: string;
  readonly points: readonly { readonly x: number; readonly y: number; readonly low: number; readonly high: number }[];
}

const fixed = (value: number): string => value.toFixed(1);

function frame(title: string, inside: string, height = HEIGHT): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${escape(title)}" font-family="system-ui, Segoe UI, Liberation Sans, sans-serif" font-size="13">`,
    `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>`,
    `<text x="${MARGIN.left}" y="24" font-weight="600" font-size="15" fill="#1c1d1f">${escape(title)}</text>`,
    inside,
    '</svg>',
  ].join('\n');
}

/** Shares (0 … 1) over updates, each line with its band. */
export function lineFigure(title: string, lines: readonly FigureLine[]): string {
  const legend = lines.length * 18;
  const height = HEIGHT + legend;
  const xs = lines.flatMap(({ points }) => points.map(({ x }) => x));
  const most = Math.max(1, ...xs);
  const least = Math.min(most - 1, ...xs);
  const bottom = HEIGHT - MARGIN.bottom;
  const px = (x: number): number => MARGIN.left + ((x - least) / (most - least)) * (WIDTH - MARGIN.left - MARGIN.right);
  const py = (y: number): number => bottom - y * (bottom - MARGIN.top);
  const parts: string[] = [];
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    parts.push(
      `<line x1="${MARGIN.left}" x2="${WIDTH - MARGIN.right}" y1="${fixed(py(share))}" y2="${fixed(py(share))}" stroke="#e5e4e1"/>`,
    );
    parts.push(
      `<text x="${MARGIN.left - 8}" y="${fixed(py(share) + 4)}" text-anchor="end" fill="#57595e">${Math.round(share * 100)}%</text>`,
    );
  }
  for (const x of [least, (least + most) / 2, most])
    parts.push(`<text x="${fixed(px(x))}" y="${bottom + 20}" text-anchor="middle" fill="#57595e">${Math.round(x)}</text>`);
  parts.push(`<text x="${(WIDTH + MARGIN.left) / 2}" y="${bottom + 38}" text-anchor="middle" fill="#57595e">update</text>`);
  lines.forEach(({ label, points }, index) => {
    const colour = COLOURS[index % COLOURS.length];
    const dash = DASHES[index % DASHES.length];
    const band = [
      ...points.map((p) => `${fixed(px(p.x))},${fixed(py(p.high))}`),
      ...[...points].reverse().map((p) => `${fixed(px(p.x))},${fixed(py(p.low))}`),
    ];
    if (points.length > 1) parts.push(`<polygon points="${band.join(' ')}" fill="${colour}" opacity="0.14"/>`);
    const line = points.map((p) => `${fixed(px(p.x))},${fixed(py(p.y))}`).join(' ');
    parts.push(`<polyline points="${line}" fill="none" stroke="${colour}" stroke-width="2" stroke-dasharray="${dash}"/>`);
    for (const p of points) parts.push(`<circle cx="${fixed(px(p.x))}" cy="${fixed(py(p.y))}" r="2.6" fill="${colour}"/>`);
    const y = HEIGHT + 6 + index * 18;
    parts.push(
      `<line x1="${MARGIN.left}" x2="${MARGIN.left + 28}" y1="${y}" y2="${y}" stroke="${colour}" stroke-width="2" stroke-dasharray="${dash}"/>`,
    );
    parts.push(`<text x="${MARGIN.left + 36}" y="${y + 4}" fill="#1c1d1f">${escape(label)}</text>`);
  });
  return frame(title, parts.join('\n'), height);
}

export interface FigureBar {
  readonly label: string;
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/** Shares with their intervals, one bar each, the value written beside it. */
export function barFigure(title: string, bars: readonly FigureBar[]): string {
  const row = 30;
  const left = 230;
  const width = WIDTH - left - 90;
  const height = MARGIN.top + bars.length * row + 20;
  const parts = bars.map(({ label, value, low, high }, index) => {
    const y = MARGIN.top + index * row;
    const middle = y + 10;
    const to = (share: number): string => fixed(left + share * width);
    return [
      `<text x="${left - 10}" y="${y + 15}" text-anchor="end" fill="#1c1d1f">${escape(label)}</text>`,
      `<rect x="${left}" y="${y}" width="${width}" height="20" fill="#f3f3f1"/>`,
      `<rect x="${left}" y="${y}" width="${fixed(value * width)}" height="20" fill="${COLOURS[index % COLOURS.length]}" opacity="0.85"/>`,
      `<line x1="${to(low)}" x2="${to(high)}" y1="${middle}" y2="${middle}" stroke="#1c1d1f" stroke-width="1.4"/>`,
      `<text x="${left + width + 10}" y="${y + 15}" fill="#1c1d1f">${percent(value)}</text>`,
    ].join('\n');
  });
  return frame(title, parts.join('\n'), height);
}
