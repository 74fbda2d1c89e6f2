// The legend and the readout in one: each series with its line and its value at the crosshair (or its last one).
// Values change in place, at a fixed width; a click hides a series, a double click shows it alone.

import { LineSwatch } from '../components/run-label.tsx';
import { formatValue } from '../format.ts';
import { useCrosshair } from './group.ts';
import type { ChartGroup } from './group.ts';
import { nearest } from './series.ts';
import type { Mark, Series } from './series.ts';
import styles from './charts.module.css';

export interface LegendProps {
  group: ChartGroup;
  series: readonly Series[];
  smoothed: ReadonlyMap<string, readonly number[]>;
  smoothing: number;
  unit: string;
  xLabel: string;
  formatX: (x: number) => string;
  marks: readonly Mark[];
  hidden: ReadonlySet<string>;
  onHidden: (hidden: ReadonlySet<string>) => void;
}

export function Legend({ group, series, smoothed, smoothing, unit, xLabel, formatX, marks, hidden, onHidden }: LegendProps) {
  const x = useCrosshair(group);
  return (
    <div className={styles.legend}>
      <ul className={styles.entries}>
        {series.map((entry) => {
          const { value, raw, interval } = readout(entry, smoothed, x);
          return (
            <li key={entry.id}>
              <button
                type="button"
                className={styles.entry}
                aria-pressed={!hidden.has(entry.id)}
                onClick={() => onHidden(toggled(hidden, entry.id))}
                onDoubleClick={() => onHidden(isolated(series, entry.id))}
              >
                <LineSwatch look={entry.look} />
                <span className={styles.name}>{entry.label}</span>
                <span className={styles.value}>{formatValue(value, unit)}</span>
                {smoothing > 0 && <span className={styles.raw}>({formatValue(raw, unit)})</span>}
                {interval && (
                  <span className={styles.interval}>
                    {formatValue(interval[0], unit)}–{formatValue(interval[1], unit)}
                  </span>
                )}
              </button>
            </li>
          );
        })}
      </ul>
      <output className={styles.where}>{x === null ? 'latest' : whereText(series, marks, x, xLabel, formatX)}</output>
    </div>
  );
}

/** The values of a series at the crosshair, or its latest ones. */
export function readout(entry: Series, smoothed: LegendProps['smoothed'], x: number | null) {
  const index = x === null ? entry.x.length - 1 : nearest(entry.x, x);
  const interval: [number, number] | null =
    entry.low && entry.high ? [entry.low[index] ?? Number.NaN, entry.high[index] ?? Number.NaN] : null;
  return { value: smoothed.get(entry.id)?.[index] ?? Number.NaN, raw: entry.y[index] ?? Number.NaN, interval };
}

export function toggled(hidden: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(hidden);
  if (!next.delete(id)) next.add(id);
  return next;
}

/** All hidden but this one. */
export const isolated = (series: readonly Series[], id: string): ReadonlySet<string> =>
  new Set(series.flatMap((other) => (other.id === id ? [] : [other.id])));

/** "update 120 · checkpoint": the real x of the nearest point, and the marks that lie on it. */
export function whereText(
  series: readonly Series[],
  marks: readonly Mark[],
  x: number,
  xLabel: string,
  formatX: (x: number) => string,
): string {
  const xs = series[0]?.x ?? [];
  const index = nearest(xs, x);
  const at = xs[index] ?? x;
  const gap = Math.abs((xs[index + 1] ?? xs[index - 1] ?? at + 1) - at) / 2;
  const near = marks.filter((mark) => Math.abs(mark.x - at) <= gap).map(({ label }) => label);
  return [`${xLabel} ${formatX(at)}`, ...near].join(' · ');
}
