// The lab's line chart: raw lines under smoothed ones, bands for intervals, a crosshair and zoom shared with its group,
// linear or log, marks, and a legend that reads out all series at the crosshair. Drag zooms, double-click shows all,
// Shift-drag pans, Ctrl-wheel zooms, arrow keys move the crosshair, + − 0 zoom, Enter opens the point.

import { useEffect, useMemo, useRef, useState } from 'react';
import type { KeyboardEvent, ReactNode } from 'react';
import type { Chart as ChartType, ChartConfiguration, Point } from 'chart.js';
import { formatTick } from '../format.ts';
import { configuration, datasets } from './configuration.ts';
import type { LineOptions } from './configuration.ts';
import { crosshairPlugin, nextX } from './crosshair.ts';
import type { CrosshairPoint } from './crosshair.ts';
import { ChartGroup, chartGroup, useRange } from './group.ts';
import { Legend } from './legend.tsx';
import { Chart } from './register.ts';
import { countNotPositive, extent, nearest, smooth } from './series.ts';
import type { Mark, Range, Series } from './series.ts';
import { useChartTheme } from './theme.ts';
import styles from './charts.module.css';

export interface LineChartProps {
  title: string;
  /** Glossary unit; `share` shows percent on a 0–100% axis. */
  unit?: string;
  series: readonly Series[];
  /** An <Explain> with the metric's glossary entry. */
  explain?: ReactNode;
  /** What n is, e.g. "n = 128 episodes a point". */
  sample?: string;
  smoothing?: number;
  scale?: LineOptions['scale'];
  xLabel?: string;
  formatX?: (x: number) => string;
  yRange?: Range;
  marks?: readonly Mark[];
  /** Charts of one group share crosshair and zoom. Default: a group of its own. */
  group?: string;
  height?: number;
  /** The data is old (paused, disconnected); said in words. */
  stale?: string;
  /** A click, or Enter, on a point: its series and x. */
  onPoint?: (series: string, x: number) => void;
}

/** What chart.js is given. */
interface Drawing {
  readonly datasets: ReturnType<typeof datasets>;
  readonly options: NonNullable<ChartConfiguration<'line', Point[]>['options']>;
}

const NO_MARKS: readonly Mark[] = [];
/** Bands of more series than these lie over each other; the others wait in the legend. */
const MOST_BANDS = 8;
const tooMany = (series: readonly Series[]): ReadonlySet<string> =>
  new Set(
    series
      .filter(({ low }) => low)
      .slice(MOST_BANDS)
      .map(({ id }) => id),
  );
const plainX = (x: number): string => formatTick(x);

export function LineChart(props: LineChartProps) {
  const { title, unit = '', series, explain, sample, smoothing = 0, scale = 'linear', xLabel = 'update', formatX = plainX } = props;
  const { yRange, marks = NO_MARKS, height = 220, stale, onPoint } = props;
  const group = useMemo(() => (props.group === undefined ? new ChartGroup(null) : chartGroup(props.group)), [props.group]);
  const range = useRange(group);
  const theme = useChartTheme();
  /** Undefined until somebody chooses in the legend. */
  const [chosen, setHidden] = useState<ReadonlySet<string>>();
  const hidden = useMemo(() => chosen ?? tooMany(series), [chosen, series]);
  const canvas = useRef<HTMLCanvasElement>(null);
  const chart = useRef<ChartType<'line', Point[]> | null>(null);

  const visible = useMemo(() => series.filter(({ id }) => !hidden.has(id)), [series, hidden]);
  const smoothed = useMemo(() => new Map(series.map(({ id, y }) => [id, smooth(y, smoothing)])), [series, smoothing]);
  const empty = !series.some(({ x }) => x.length > 0);
  const dropped = scale === 'log' ? countNotPositive(visible) : 0;

  const showRange = (next: Range): void => {
    const all = extent(latest.current.visible);
    group.show(all && next.min <= all.min && next.max >= all.max ? null : next);
  };
  const options: LineOptions = { unit, scale, smoothing, xLabel, formatX, ...(yRange ? { yRange } : {}) };
  const draw = (): Drawing => ({
    datasets: datasets(visible, options, theme),
    options: {
      ...configuration(options, marks, range, theme, showRange),
      onClick: ({ x, y }, _hit, { scales }) => {
        const { visible: shown, smoothed: lines } = latest.current;
        const hit = x === null || y === null ? null : nearestSeries(scales, shown, lines, x, y);
        if (hit) latest.current.onPoint?.(hit.series, hit.x);
      },
    },
  });

  // What the chart's callbacks need, always fresh, without making the chart anew.
  const latest = useRef({ theme, visible, smoothed, onPoint, draw });
  latest.current = { theme, visible, smoothed, onPoint, draw };

  const madeFor = useRef<readonly Series[] | null>(null);
  useEffect(() => {
    const element = canvas.current;
    if (!element) return undefined;
    const pointsAt = (x: number): CrosshairPoint[] => {
      const { visible: shown, smoothed: lines, theme: colours } = latest.current;
      return shown.flatMap(({ id, x: xs, look }) => {
        const index = nearest(xs, x);
        return index < 0 ? [] : [{ x: xs[index] ?? 0, y: lines.get(id)?.[index] ?? Number.NaN, colour: colours.resolve(look.colour) }];
      });
    };
    const first = latest.current.draw();
    madeFor.current = latest.current.visible;
    const made = new Chart<'line', Point[]>(element, {
      type: 'line',
      data: { datasets: first.datasets },
      options: first.options,
      plugins: [crosshairPlugin(group, pointsAt, () => latest.current.theme)],
    });
    chart.current = made;
    const unsubscribe = group.subscribe(() => made.draw());
    return () => {
      unsubscribe();
      made.destroy();
      chart.current = null;
    };
  }, [group, empty]);

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
  }, [visible, unit, scale, smoothing, xLabel, formatX, yRange, marks, range, theme, group, empty]);

  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const xs = visible.map(({ x }) => x);
    const shown = range ?? extent(visible);
    const zoomBy = (factor: number): void => {
      if (!shown) return;
      const middle = group.x ?? (shown.min + shown.max) / 2;
      const next = { min: middle - (middle - shown.min) * factor, max: middle + (shown.max - middle) * factor };
      const all = extent(visible);
      group.show(all && next.min <= all.min && next.max >= all.max ? null : next);
    };
    const keys: Record<string, () => void> = {
      ArrowRight: () => group.point(nextX(xs, group.x, 1) ?? group.x),
      ArrowLeft: () => group.point(nextX(xs, group.x, -1) ?? group.x),
      Escape: () => group.point(null),
      '+': () => zoomBy(0.5),
      '-': () => zoomBy(2),
      '0': () => group.show(null),
      Enter: () => {
        const first = visible[0];
        const index = first && group.x !== null ? nearest(first.x, group.x) : -1;
        if (first && index >= 0) onPoint?.(first.id, first.x[index] ?? 0);
      },
    };
    const act = keys[event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  };

  return (
    <figure className={styles.chart} aria-label={title}>
      <figcaption className={styles.caption}>
        <span className={styles.title}>{title}</span>
        {unit && unit !== 'share' && <span className={styles.faint}>{unit}</span>}
        {explain}
        <span className={styles.notes}>
          {stale && <span className={styles.stale}>{stale}</span>}
          {sample && <span>{sample}</span>}
          {hidden.size > 0 && (
            <span>
              {series.length - hidden.size} of {series.length} shown: click a name to toggle, double-click to isolate
            </span>
          )}
          {smoothing > 0 && <span>smoothing {smoothing} (raw in brackets)</span>}
          {dropped > 0 && <span>{dropped} values ≤ 0 not on a log axis</span>}
          {range && (
            <button type="button" className={styles.reset} onClick={() => group.show(null)}>
              Reset zoom
            </button>
          )}
        </span>
      </figcaption>
      {!empty && <Legend {...{ group, series, smoothed, smoothing, unit, xLabel, formatX, marks, hidden, onHidden: setHidden }} />}
      {empty ? (
        <div className={styles.empty} style={{ height }}>
          Waiting for the first update
        </div>
      ) : (
        <div
          className={styles.canvas}
          style={{ height }}
          role="group"
          tabIndex={0}
          aria-label={`${title}, chart. Left and right move along ${xLabel}, plus and minus zoom, 0 resets.`}
          onKeyDown={onKeyDown}
          onDoubleClick={() => group.show(null)}
          onBlur={() => group.point(null)}
        >
          <canvas ref={canvas} role="img" aria-label={`${title}: ${visible.map(({ label }) => label).join(', ')}`} />
        </div>
      )}
    </figure>
  );
}

/** The series whose line is nearest to the pointer at that x. */
function nearestSeries(
  scales: ChartType['scales'],
  visible: readonly Series[],
  smoothed: ReadonlyMap<string, readonly number[]>,
  pixelX: number,
  pixelY: number,
): { series: string; x: number } | null {
  const { x: xAxis, y: yAxis } = scales;
  const value = xAxis?.getValueForPixel(pixelX);
  if (!yAxis || value === undefined) return null;
  let best: { series: string; x: number; distance: number } | null = null;
  for (const { id, x } of visible) {
    const index = nearest(x, value);
    const y = smoothed.get(id)?.[index];
    if (index < 0 || y === undefined) continue;
    const distance = Math.abs(yAxis.getPixelForValue(y) - pixelY);
    if (!best || distance < best.distance) best = { series: id, x: x[index] ?? 0, distance };
  }
  return best;
}
