// Draws the group's crosshair on one chart: a vertical line and a dot on every visible series, looked up in the full
// data and not in the thinned-out drawing.

import type { Chart, Plugin } from 'chart.js';
import type { ChartGroup } from './group.ts';
import { nearest } from './series.ts';
import type { ChartTheme } from './theme.ts';

export interface CrosshairPoint {
  readonly colour: string;
  readonly x: number;
  readonly y: number;
}

export function crosshairPlugin(
  group: ChartGroup,
  pointsAt: (x: number) => readonly CrosshairPoint[],
  theme: () => ChartTheme,
): Plugin<'line'> {
  return {
    id: 'crosshair',
    afterEvent(chart, { event, inChartArea }) {
      if (event.type === 'mousemove' && inChartArea && event.x !== null) group.point(chart.scales.x?.getValueForPixel(event.x) ?? null);
      else if (event.type === 'mouseout' || (event.type === 'mousemove' && !inChartArea)) group.point(null);
    },
    afterDatasetsDraw(chart) {
      if (group.x !== null) draw(chart, group.x, pointsAt(group.x), theme());
    },
  };
}

function draw({ ctx, chartArea, scales }: Chart, x: number, points: readonly CrosshairPoint[], theme: ChartTheme): void {
  const { x: xAxis, y: yAxis } = scales;
  if (!xAxis || !yAxis || x < xAxis.min || x > xAxis.max) return;
  const pixel = xAxis.getPixelForValue(points[0]?.x ?? x);
  ctx.save();
  ctx.strokeStyle = theme.muted;
  ctx.lineWidth = 1;
  ctx.beginPath();
  ctx.moveTo(pixel, chartArea.top);
  ctx.lineTo(pixel, chartArea.bottom);
  ctx.stroke();
  ctx.lineWidth = 1.5;
  ctx.strokeStyle = theme.surface;
  for (const point of points) {
    const height = yAxis.getPixelForValue(point.y);
    if (!Number.isFinite(height) || height < chartArea.top - 4 || height > chartArea.bottom + 4) continue;
    ctx.fillStyle = point.colour;
    ctx.beginPath();
    ctx.arc(xAxis.getPixelForValue(point.x), height, 4, 0, 2 * Math.PI);
    ctx.fill();
    ctx.stroke();
  }
  ctx.restore();
}

/** The next x of any series in the given direction, for the arrow keys. */
export function nextX(all: readonly (readonly number[])[], x: number | null, direction: 1 | -1): number | null {
  let best: number | null = null;
  for (const xs of all) {
    let index = x === null ? (direction > 0 ? 0 : xs.length - 1) : nearest(xs, x);
    while (x !== null && ((xs[index] ?? Number.NaN) - x) * direction <= 0) index += direction;
    const candidate = xs[index];
    if (candidate !== undefined && (best === null || (candidate - best) * direction < 0)) best = candidate;
  }
  return best;
}
