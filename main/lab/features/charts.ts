// Calls of every chart's menu: the picture to the clipboard, or to a file that the user names in the system's dialog.

import { writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { lineFigure } from '../../report/figures.ts';
import { csv } from '../../report/report.ts';
import { type Handlers, nothing } from '../definition.ts';
import { fileName } from '../file-name.ts';
import type { Lab } from '../lab.ts';

const anyNumber = z.union([z.number(), z.nan(), z.literal(Number.POSITIVE_INFINITY), z.literal(Number.NEGATIVE_INFINITY)]);
const numbers = z.array(anyNumber).max(200_000);
/** A PNG as base64. */
const png = z.string().max(60_000_000);

const line = z.strictObject({
  label: z.string().max(400),
  /** Number of the colour in the set for runs. */
  colour: z.int().min(0).max(100),
  dash: z.array(z.number()).max(8),
  x: numbers,
  y: numbers,
  low: numbers.optional(),
  high: numbers.optional(),
});

const figure = z.strictObject({
  title: z.string().max(400),
  unit: z.string().max(60),
  xLabel: z.string().max(60),
  lines: z.array(line).max(500),
});
export type Figure = z.infer<typeof figure>;

export const calls = {
  'charts.copy': { input: z.strictObject({ png }), answer: nothing },
  /** Null when the user changed their mind. */
  'charts.save': {
    input: z.strictObject({ format: z.enum(['png', 'svg', 'csv']), figure, png }),
    answer: z.object({ file: z.string().nullable() }),
  },
};

export function handlers({ desktop }: Lab): Handlers<typeof calls> {
  return {
    'charts.copy': async ({ png }) => {
      await desktop.copyImage(png);
      return {};
    },

    'charts.save': async ({ format, figure, png }) => {
      const file = await desktop.chooseTarget({
        title: 'Save the chart',
        defaultPath: `${fileName(figure.title)}.${format}`,
        filters: [{ name: format.toUpperCase(), extensions: [format] }],
      });
      if (file === null) return { file };
      await writeFile(file, format === 'png' ? Buffer.from(png, 'base64') : format === 'svg' ? svgOf(figure) : csvOf(figure));
      return { file };
    },
  };
}

function svgOf({ title, unit, xLabel, lines }: Figure): string {
  const drawn = lines.map(({ label, colour, dash, x, y, low, high }) => ({
    label,
    colour,
    dash,
    points: x.map((at, index) => {
      const value = y[index] ?? Number.NaN;
      return { x: at, y: value, low: low?.[index] ?? value, high: high?.[index] ?? value };
    }),
  }));
  return lineFigure(title, drawn, { unit, xLabel });
}

/** One row per point of every line: long, as analysis programs want it. */
function csvOf({ xLabel, lines }: Figure): string {
  const rows = lines.flatMap(({ label, x, y, low, high }) =>
    x.map((at, index) => [label, at, y[index] ?? null, low?.[index] ?? null, high?.[index] ?? null]),
  );
  return csv(['series', xLabel, 'value', 'low', 'high'], rows);
}
