// The menu of a chart: its picture to the clipboard, or as PNG, SVG or CSV to a file that the user names.

import { writeFile } from 'node:fs/promises';
import { clipboard, dialog, nativeImage } from 'electron';
import type { chartCalls, Figure } from '../../preload/contract/charts.ts';
import { csv } from '../report/report.ts';
import { lineFigure } from '../report/figures.ts';
import type { Handlers } from './dispatch.ts';

export function chartHandlers(): Handlers<typeof chartCalls> {
  return {
    'charts.copy': ({ png }) => {
      clipboard.writeImage(nativeImage.createFromBuffer(Buffer.from(png, 'base64')));
      return {};
    },

    'charts.save': async ({ format, figure, png }) => {
      const { canceled, filePath } = await dialog.showSaveDialog({
        title: 'Save the chart',
        defaultPath: `${fileName(figure.title)}.${format}`,
        filters: [{ name: format.toUpperCase(), extensions: [format] }],
      });
      if (canceled || !filePath) return { file: null };
      await writeFile(filePath, format === 'png' ? Buffer.from(png, 'base64') : format === 'svg' ? svgOf(figure) : csvOf(figure));
      return { file: filePath };
    },
  };
}

/** A name that every file system takes. */
export function fileName(title: string): string {
  const plain = title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  return plain.replaceAll(/^-+|-+$/g, '').slice(0, 60) || 'chart';
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
