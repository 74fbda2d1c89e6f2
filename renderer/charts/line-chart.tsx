// The lab's line chart: raw lines under smoothed ones, bands for intervals, a crosshair and zoom shared with its group,
// linear or log, marks, and a legend that reads out all series at the crosshair. Drag zooms, double-click resets the zoom,
// Shift-drag pans, Ctrl-wheel zooms, arrow keys move the crosshair, + − 0 zoom, Enter opens the point.

import { useMemo, useRef, useState } from 'react';
import type { ReactNode } from 'react';
import { Dialog } from '../components/dialog.tsx';
import { formatTick } from '../format.ts';
import { Caption } from './caption.tsx';
import { ChartMenu } from './chart-menu.tsx';
import type { Pin } from './chart-menu.tsx';
import type { LineOptions } from './configuration.ts';
import { ChartGroup, chartGroup, useRange } from './group.ts';
import { chartKeys } from './keys.ts';
import { Legend, type LegendProps } from './legend.tsx';
import { SideLegend } from './side-legend.tsx';
import { usePointer } from './pointer.ts';
import { countNotPositive, smooth, wholeX } from './series.ts';
import type { Mark, Range, Series } from './series.ts';
import { useChartTheme } from './theme.ts';
import { useLineChart } from './use-line-chart.ts';
import styles from './charts.module.css';

export interface LineChartProps {
  title: string;
  /** Glossary unit; `share` shows percent on a 0–100% axis. */
  unit?: string;
  series: readonly Series[];
  /** An <Explain> with the metric's glossary entry. */
  explain?: ReactNode;
  /** What n is, e.g. "n = 128 episodes per point". */
  sample?: string;
  smoothing?: number;
  scale?: LineOptions['scale'];
  xLabel?: string;
  formatX?: (x: number) => string;
  yRange?: Range;
  /** Shares are drawn from 0 to 100%, unless the axis is to fit what is there. */
  fit?: boolean;
  /** Where the names are: above the plot, or beside it as a list that can be sorted. */
  legend?: 'above' | 'beside';
  marks?: readonly Mark[];
  /** Charts of one group share crosshair and zoom. Default: a separate group. */
  group?: string;
  height?: number;
  /** The data is old (paused, disconnected); said in words. */
  stale?: string;
  /** Drawn instead of a plot while there is no point. */
  empty?: string;
  pin?: Pin;
  /** A click, or Enter, on a point: its series and x. */
  onPoint?: (series: string, x: number) => void;
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
/** Where many lines are shown, only their lines. */
const withoutBands = (series: readonly Series[]): readonly Series[] =>
  series.length <= MOST_BANDS ? series : series.map(({ low: _low, high: _high, ...line }) => line);
const lineWords = ({ label, x }: Series): string => `${label} (${x.length} ${x.length === 1 ? 'point' : 'points'})`;
const plainX = (x: number): string => formatTick(x);

export function LineChart(props: LineChartProps) {
  const [large, setLarge] = useState(false);
  return (
    <>
      <Plot {...props} onFullScreen={() => setLarge(true)} />
      <Dialog open={large} onClose={() => setLarge(false)} title={props.title} width={2000}>
        {large && <Plot {...props} height={Math.max(240, window.innerHeight - 260)} />}
      </Dialog>
    </>
  );
}

function Plot(props: LineChartProps & { onFullScreen?: () => void }) {
  const { title, unit = '', series, smoothing = 0, scale = 'linear', xLabel = 'update', formatX = plainX } = props;
  const { yRange, fit = false, legend = 'above', marks = NO_MARKS, height = 220, onPoint, pin, onFullScreen } = props;
  const group = useMemo(() => (props.group === undefined ? new ChartGroup(null) : chartGroup(props.group)), [props.group]);
  const range = useRange(group);
  const theme = useChartTheme();
  /** Undefined until somebody chooses in the legend. */
  const [chosen, setHidden] = useState<ReadonlySet<string>>();
  const hidden = useMemo(() => chosen ?? tooMany(series), [chosen, series]);
  const canvas = useRef<HTMLCanvasElement>(null);

  const visible = useMemo(() => withoutBands(series.filter(({ id }) => !hidden.has(id))), [series, hidden]);
  const smoothed = useMemo(() => new Map(series.map(({ id, y }) => [id, smooth(y, smoothing, scale)])), [series, smoothing, scale]);
  const empty = !series.some(({ x }) => x.length > 0);
  const xKind = xLabel === 'time' ? 'time' : wholeX(series) ? 'whole' : 'number';
  const options: LineOptions = { unit, scale, smoothing, xLabel, formatX, xKind, fit, ...(yRange ? { yRange } : {}) };
  const hitAt = useLineChart(canvas, { options, visible, smoothed, marks, group, range, theme, empty });
  const pointer = usePointer({
    onClick: (x, y) => {
      const hit = hitAt(x, y);
      if (hit) onPoint?.(hit.series, hit.x);
    },
    onDoubleClick: () => group.show(null),
  });
  const names: LegendProps = { group, series, smoothed, smoothing, unit, xLabel, formatX, marks, hidden, onHidden: setHidden };
  return (
    <figure className={styles.chart} aria-label={title}>
      <Caption
        {...{ title, unit, smoothing }}
        explain={props.explain}
        stale={props.stale}
        sample={props.sample}
        shown={visible.length}
        all={series.length}
        dropped={scale === 'log' ? countNotPositive(visible) : 0}
        onReset={range ? () => group.show(null) : undefined}
        menu={!empty && <ChartMenu {...{ title, unit, xLabel, visible, canvas, theme, onFullScreen, pin }} />}
      />
      {!empty && legend === 'above' && <Legend {...names} />}
      {empty ? (
        <div className={styles.empty} style={{ height }}>
          {props.empty ?? 'Waiting for the first update'}
        </div>
      ) : (
        <div className={legend === 'beside' ? styles.beside : undefined}>
          <div
            className={styles.canvas}
            style={{ height }}
            role="group"
            tabIndex={0}
            aria-label={`${title}, chart. Left and right move along ${xLabel}, plus and minus zoom, 0 resets.`}
            onKeyDown={chartKeys({ group, visible, range, onPoint })}
            {...pointer}
            onBlur={() => group.point(null)}
          >
            <canvas ref={canvas} role="img" aria-label={`${title}: ${visible.map(lineWords).join(', ')}`} />
          </div>
          {legend === 'beside' && <SideLegend {...names} height={height} />}
        </div>
      )}
    </figure>
  );
}
