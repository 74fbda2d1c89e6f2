// A histogram outside of the page: as numbers for a file, and drawn for the clipboard.

import type { Input } from '../../preload/contract.ts';
import type { Histogram } from '../../main/lab/features/metrics.ts';
import { base64Of } from '../charts/chart-menu.tsx';
import type { ChartTheme } from '../charts/theme.ts';
import { formatTick } from '../format.ts';

type Save = Input<'charts.save'>;

/** An edge of the bins, short. */
export const edgeText = (value: number): string => formatTick(Number(value.toPrecision(3)));

/** For a table the middle of each bin with its count; for a figure the outline of the bars. */
export function histogramFigure(title: string, unit: string, { low, width, counts }: Histogram, format: Save['format']): Save['figure'] {
  const edge = (index: number): number => low + index * width;
  const places = counts.map((count, index) =>
    format === 'csv'
      ? [[edge(index + 0.5), count]]
      : [
          [edge(index), count],
          [edge(index + 1), count],
        ],
  );
  const line = places.flat();
  const [x, y] = [0, 1].map((axis) => line.map((place) => place[axis] ?? 0));
  return {
    title,
    unit: '',
    xLabel: unit === '' ? 'value' : unit,
    lines: [{ label: 'count', colour: 0, dash: [], x: x ?? [], y: y ?? [] }],
  };
}

const SIZE = { width: 720, height: 400, left: 64, right: 24, top: 56, bottom: 56 };

/** Title, bars, counts at the left and values below, on the theme's ground. */
export function histogramPicture(title: string, unit: string, shown: Histogram, theme: ChartTheme): string {
  const { width, height, left, right, top, bottom } = SIZE;
  const sharpness = window.devicePixelRatio;
  const picture = document.createElement('canvas');
  [picture.width, picture.height] = [width * sharpness, height * sharpness];
  const pen = picture.getContext('2d');
  if (!pen) return '';
  pen.scale(sharpness, sharpness);
  pen.fillStyle = theme.surface;
  pen.fillRect(0, 0, width, height);
  pen.fillStyle = theme.text;
  pen.font = `600 14px ${theme.font}`;
  pen.fillText(`${title} (update ${shown.update}, n = ${shown.n})`, 16, 28);
  const most = Math.max(1, ...shown.counts);
  const floor = height - bottom;
  const y = (count: number): number => floor - (count / most) * (floor - top);
  const bar = (width - left - right) / shown.counts.length;
  pen.fillStyle = theme.resolve('var(--run-0)');
  shown.counts.forEach((count, index) => pen.fillRect(left + index * bar + 0.5, y(count), bar - 1, floor - y(count)));
  pen.fillStyle = theme.muted;
  pen.font = `12px ${theme.font}`;
  pen.textAlign = 'right';
  for (const count of [0, most / 2, most]) pen.fillText(edgeText(count), left - 8, y(count) + 4);
  pen.textAlign = 'center';
  const { length } = shown.counts;
  for (const at of [0, length / 2, length]) pen.fillText(edgeText(shown.low + at * shown.width), left + at * bar, floor + 18);
  pen.fillText(unit === '' ? 'value' : unit, (left + width - right) / 2, height - 14);
  return base64Of(picture);
}
