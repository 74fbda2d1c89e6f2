// Turns series, marks and theme into what chart.js wants. Pure but for the colours, which come resolved.

import type { Chart, ChartConfiguration, ChartDataset, Point } from 'chart.js';
import { formatTick } from '../format.ts';
import { smooth } from './series.ts';
import type { Mark, Range, Scale, Series } from './series.ts';
import type { ChartTheme } from './theme.ts';
import { type AxisKind, linearTicks, logTicks } from './ticks.ts';

export interface LineOptions {
  /** Of the y axis; `share` is drawn as 0–100%. */
  readonly unit: string;
  readonly scale: Scale;
  /** Weight of the past in the smoothed line, 0 … 0.99. */
  readonly smoothing: number;
  readonly xLabel: string;
  readonly formatX: (x: number) => string;
  /** Which ticks the x axis has. */
  readonly xKind: AxisKind;
  /** Fixes the y axis; for shares it is 0–1 unless something else is given or the axis is to fit. */
  readonly yRange?: Range;
  readonly fit: boolean;
}

/** Room that a tick needs along its axis. */
const X_TICK_PIXELS = 72;
const Y_TICK_PIXELS = 30;

type LineDataset = ChartDataset<'line', Point[]>;

/** Per series: the band (two invisible edges, filled between), the raw line, and the smoothed one above it. */
export function datasets(series: readonly Series[], options: LineOptions, theme: ChartTheme): LineDataset[] {
  return series.flatMap(({ id, x, y, low, high, look }) => {
    const shown = (values: readonly number[]): Point[] => points(x, values, options.scale);
    const line = (role: string, values: readonly number[], opacity: number, width: number): LineDataset => ({
      label: `${id} ${role}`,
      data: shown(values),
      borderColor: theme.resolve(look.colour, opacity),
      borderWidth: width,
      borderDash: role === 'raw' ? [] : [...look.dash],
      // A single point has no line; it is drawn as a dot so that the first value is seen.
      pointRadius: values.length === 1 ? 2.5 : 0,
      pointBackgroundColor: theme.resolve(look.colour, opacity),
      pointHitRadius: 0,
      fill: false,
    });
    const list: LineDataset[] = [];
    if (low && high) {
      const edge = { borderWidth: 0, pointRadius: 0, pointHitRadius: 0 };
      list.push({ ...edge, label: `${id} low`, data: shown(low), fill: false });
      list.push({ ...edge, label: `${id} high`, data: shown(high), fill: '-1', backgroundColor: theme.resolve(look.colour, 0.16) });
    }
    if (options.smoothing > 0) list.push(line('raw', y, 0.3, 1), line('smoothed', smooth(y, options.smoothing, options.scale), 1, 1.8));
    else list.push(line('raw-only', y, 1, 1.6));
    return list;
  });
}

function points(x: readonly number[], y: readonly number[], scale: LineOptions['scale']): Point[] {
  const list: Point[] = Array.from({ length: x.length });
  for (let i = 0; i < x.length; i++) {
    const value = y[i] ?? Number.NaN;
    list[i] = { x: x[i] ?? Number.NaN, y: scale === 'log' && value <= 0 ? Number.NaN : value };
  }
  return list;
}

type LineConfiguration = ChartConfiguration<'line', Point[]>;

export function configuration(
  options: LineOptions,
  marks: readonly Mark[],
  range: Range | null,
  theme: ChartTheme,
  onRange: (range: Range) => void,
): NonNullable<LineConfiguration['options']> {
  const font = { family: theme.font, size: 11 };
  const report = ({ chart }: { chart: { scales: Record<string, { min: number; max: number }> } }): void => {
    const { x } = chart.scales;
    if (x) onRange({ min: x.min, max: x.max });
  };
  return {
    animation: false,
    responsive: true,
    maintainAspectRatio: false,
    parsing: false,
    normalized: true,
    spanGaps: false,
    events: ['mousemove', 'mouseout', 'click', 'touchstart', 'touchmove'],
    layout: { padding: { top: 6, right: 10 } },
    scales: scales(options, range, theme, font),
    plugins: {
      decimation: { enabled: true, algorithm: 'min-max' },
      annotation: {
        clip: true,
        annotations: Object.fromEntries(marks.map((mark, index) => [`mark-${index}`, annotationOf(mark, theme, font)])),
      },
      zoom: {
        pan: { enabled: true, mode: 'x', modifierKey: 'shift', onPanComplete: report },
        zoom: {
          mode: 'x',
          wheel: { enabled: true, modifierKey: 'ctrl' },
          drag: {
            enabled: true,
            threshold: 6,
            backgroundColor: theme.resolve('var(--accent)', 0.14),
            borderColor: theme.accent,
            borderWidth: 0,
          },
          onZoomComplete: report,
        },
      },
    },
  };
}

type Scales = NonNullable<NonNullable<LineConfiguration['options']>['scales']>;

function scales(options: LineOptions, range: Range | null, theme: ChartTheme, font: { family: string; size: number }): Scales {
  const yRange =
    options.yRange ?? (options.unit === 'share' && options.scale === 'linear' && !options.fit ? { min: 0, max: 1 } : undefined);
  return {
    x: {
      type: 'linear',
      ...range,
      border: { color: theme.line },
      grid: { display: false },
      afterBuildTicks: (axis) => {
        const most = Math.max(2, Math.floor(axis.width / X_TICK_PIXELS));
        axis.ticks = linearTicks(axis.min, axis.max, most, options.xKind).map((value) => ({ value }));
      },
      ticks: { font, color: theme.muted, maxRotation: 0, autoSkipPadding: 24, callback: (value) => options.formatX(Number(value)) },
      title: { display: true, text: options.xLabel, color: theme.muted, font, padding: 2 },
    },
    y: {
      type: options.scale === 'log' ? 'logarithmic' : 'linear',
      ...yRange,
      border: { display: false },
      grid: { color: theme.line, drawTicks: false },
      afterBuildTicks: (axis) => {
        const most = Math.max(2, Math.floor(axis.height / Y_TICK_PIXELS));
        const ticks = options.scale === 'log' ? logTicks(axis.min, axis.max, most) : linearTicks(axis.min, axis.max, most);
        axis.ticks = ticks.map((value) => ({ value }));
      },
      ticks: {
        font,
        color: theme.muted,
        padding: 6,
        callback: (value) => formatTick(Number(value), options.unit),
      },
      // The same room for every chart, so that charts one above the other have the same x axis.
      afterFit: (axis) => {
        axis.width = 52;
      },
    },
  };
}

function annotationOf({ x, label, kind }: Mark, theme: ChartTheme, font: { family: string; size: number }) {
  if (kind === 'alert' || kind === 'cleared') return edgeMark(x, kind === 'alert', theme);
  const colour = kind === 'level' ? theme.accent : theme.muted;
  return {
    type: 'line' as const,
    xMin: x,
    xMax: x,
    borderColor: kind === 'checkpoint' || kind === 'evaluation' ? theme.resolve('var(--text-muted)', 0.35) : colour,
    borderWidth: 1,
    borderDash: kind === 'evaluation' ? [1, 3] : [4, 3],
    label: {
      display: kind === 'level',
      content: label,
      position: 'start' as const,
      color: colour,
      backgroundColor: theme.surface,
      font,
      padding: 2,
      yAdjust: -2,
    },
  };
}

/** A triangle that hangs from the upper edge of the plot. */
function edgeMark(x: number, active: boolean, theme: ChartTheme) {
  return {
    type: 'point' as const,
    xValue: x,
    yValue: ({ chart }: { chart: Chart }) => chart.scales['y']?.max ?? 0,
    yAdjust: 4,
    pointStyle: 'triangle' as const,
    rotation: 180,
    radius: 5,
    borderWidth: 1,
    borderColor: theme.warning,
    backgroundColor: active ? theme.warning : theme.surface,
  };
}
