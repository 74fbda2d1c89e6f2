// Makes the chart.js chart on a canvas, keeps it in step with what it is given, and finds the series under a pixel.

import { useEffect, useRef } from 'react';
import type { RefObject } from 'react';
import type { Chart as ChartType, ChartConfiguration, Point } from 'chart.js';
import { configuration, datasets } from './configuration.ts';
import type { LineOptions } from './configuration.ts';
import { crosshairPlugin } from './crosshair.ts';
import type { CrosshairPoint } from './crosshair.ts';
import type { ChartGroup } from './group.ts';
import { showRange } from './keys.ts';
import { Chart } from './register.ts';
import { nearest } from './series.ts';
import type { Mark, Range, Series } from './series.ts';
import type { ChartTheme } from './theme.ts';

/** What chart.js is given. */
interface Drawing {
  readonly datasets: ReturnType<typeof datasets>;
  readonly options: NonNullable<ChartConfiguration<'line', Point[]>['options']>;
}

interface LineChartInput {
  readonly options: LineOptions;
  readonly visible: readonly Series[];
  readonly smoothed: ReadonlyMap<string, readonly number[]>;
  readonly marks: readonly Mark[];
  readonly group: ChartGroup;
  readonly range: Range | null;
  readonly theme: ChartTheme;
  readonly empty: boolean;
}

export interface Hit {
  readonly series: string;
  readonly x: number;
}

export function useLineChart(canvas: RefObject<HTMLCanvasElement | null>, input: LineChartInput): (x: number, y: number) => Hit | null {
  const { options, visible, marks, group, range, theme, empty } = input;
  const { unit, scale, smoothing, xLabel, formatX, yRange, fit, xKind } = options;
  const chart = useRef<ChartType<'line', Point[]> | null>(null);
  const draw = (): Drawing => ({
    datasets: datasets(visible, options, theme),
    options: configuration(options, marks, range, theme, (next) => showRange(group, latest.current.visible, next)),
  });
  // What the chart's callbacks need, always fresh, without making the chart anew.
  const latest = useRef({ ...input, draw });
  latest.current = { ...input, draw };

  const madeFor = useRef<readonly Series[] | null>(null);
  useEffect(() => {
    const element = canvas.current;
    if (!element) return undefined;
    const first = latest.current.draw();
    madeFor.current = latest.current.visible;
    const made = new Chart<'line', Point[]>(element, {
      type: 'line',
      data: { datasets: first.datasets },
      options: first.options,
      plugins: [
        crosshairPlugin(
          group,
          (x) => pointsAt(latest.current, x),
          () => latest.current.theme,
        ),
      ],
    });
    chart.current = made;
    const unsubscribe = group.subscribe(() => made.draw());
    return () => {
      unsubscribe();
      made.destroy();
      chart.current = null;
    };
  }, [canvas, group, empty]);

  useEffect(() => {
    const current = chart.current;
    // A chart that was made a moment ago has drawn this already.
    const fresh = madeFor.current === visible;
    madeFor.current = null;
    if (!current || fresh) return;
    const next = latest.current.draw();
    current.data.datasets = next.datasets;
    current.options = next.options;
    current.update('none');
  }, [visible, unit, scale, smoothing, xLabel, formatX, yRange, fit, xKind, marks, range, theme, group, empty]);

  return (x, y) => (chart.current ? nearestSeries(chart.current.scales, latest.current, x, y) : null);
}

function pointsAt({ visible, smoothed, theme }: LineChartInput, x: number): CrosshairPoint[] {
  return visible.flatMap(({ id, x: xs, look }) => {
    const index = nearest(xs, x);
    return index < 0 ? [] : [{ x: xs[index] ?? 0, y: smoothed.get(id)?.[index] ?? Number.NaN, colour: theme.resolve(look.colour) }];
  });
}

/** The series whose line is nearest to the pixel at its x. */
function nearestSeries(scales: ChartType['scales'], { visible, smoothed }: LineChartInput, pixelX: number, pixelY: number): Hit | null {
  const { x: xAxis, y: yAxis } = scales;
  const value = xAxis?.getValueForPixel(pixelX);
  if (!yAxis || value === undefined) return null;
  let best: (Hit & { distance: number }) | null = null;
  for (const { id, x } of visible) {
    const index = nearest(x, value);
    const y = smoothed.get(id)?.[index];
    if (index < 0 || y === undefined) continue;
    const distance = Math.abs(yAxis.getPixelForValue(y) - pixelY);
    if (!best || distance < best.distance) best = { series: id, x: x[index] ?? 0, distance };
  }
  return best;
}
