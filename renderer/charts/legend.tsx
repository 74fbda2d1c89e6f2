// The legend and the readout in one: each series with its line and its value at the crosshair (or its last one).
// Values change in place, at a fixed width; a click hides a series, a double click shows it alone.

import { LineSwatch } from '../components/run-label.tsx';
import { formatValue } from '../format.ts';
import { useCrosshair } from './group.ts';
import type { ChartGroup } from './group.ts';
import { nearest } from './series.ts';
import type { Mark, Series } from './series.ts';
import styles from './charts.module.css';

interface LegendProps {
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
  const toggle = (id: string): void => {
    const next = new Set(hidden);
    if (!next.delete(id)) next.add(id);
    onHidden(next);
  };
  const alone = (id: string): void => onHidden(new Set(series.map((other) => other.id).filter((other) => other !== id)));
  return (
    <div className={styles.legend}>
      <ul className={styles.entries}>
        {series.map((entry) => {
          const index = x === null ? entry.x.length - 1 : nearest(entry.x, x);
          const value = smoothed.get(entry.id)?.[index] ?? Number.NaN;
          const raw = entry.y[index] ?? Number.NaN;
          const interval = entry.low && entry.high ? [entry.low[index] ?? Number.NaN, entry.high[index] ?? Number.NaN] : null;
          return (
            <li key={entry.id}>
              <button
                type="button"
                className={styles.entry}
                aria-pressed={!hidden.has(entry.id)}
                onClick={() => toggle(entry.id)}
                onDoubleClick={() => alone(entry.id)}
              >
                <LineSwatch look={entry.look} />
                <span className={styles.name}>{entry.label}</span>
                <span className={styles.value}>{formatValue(value, unit)}</span>
                {smoothing > 0 && <span className={styles.raw}>({formatValue(raw, unit)})</span>}
                {interval && (
                  <span className={styles.interval}>
                    {formatValue(interval[0] ?? 0, unit)}–{formatValue(interval[1] ?? 0, unit)}
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

/** "update 120 · checkpoint": the real x of the nearest point, and the marks that lie on it. */
function whereText(series: readonly Series[], marks: readonly Mark[], x: number, xLabel: string, formatX: (x: number) => string): string {
  const xs = series[0]?.x ?? [];
  const index = nearest(xs, x);
  const at = xs[index] ?? x;
  const gap = Math.abs((xs[index + 1] ?? xs[index - 1] ?? at + 1) - at) / 2;
  const near = marks.filter((mark) => Math.abs(mark.x - at) <= gap).map(({ label }) => label);
  return [`${xLabel} ${formatX(at)}`, ...near].join(' · ');
}
