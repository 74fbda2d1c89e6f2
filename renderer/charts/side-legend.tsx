// The legend beside the plot, for many series: a list that scrolls, sorted by name or by the value at the crosshair (or the
// latest one). A click hides a series, a double click shows it alone; a word above the list finds names.

import { useState } from 'react';
import { LineSwatch } from '../components/run-label.tsx';
import { formatValue } from '../format.ts';
import { useCrosshair } from './group.ts';
import { isolated, type LegendProps, readout, toggled, whereText } from './legend.tsx';
import styles from './side-legend.module.css';

/** More names than this get a field to find them by. */
const MANY = 12;

type Order = 'given' | 'name' | 'value';

export function SideLegend({ height, ...props }: LegendProps & { height: number }) {
  const { group, series, smoothed, unit, xLabel, formatX, marks, hidden, onHidden } = props;
  const x = useCrosshair(group);
  const [order, setOrder] = useState<Order>('given');
  const [text, setText] = useState('');
  const rows = series
    .filter(({ label }) => label.toLowerCase().includes(text.toLowerCase()))
    .map((entry) => ({ entry, ...readout(entry, smoothed, x) }))
    .sort((a, b) => inOrder(a, b, order));
  const all = series.map(({ id }) => id);
  return (
    <div className={styles.side} style={{ maxHeight: height }}>
      <output className={styles.where}>{x === null ? 'latest' : whereText(series, marks, x, xLabel, formatX)}</output>
      {series.length > MANY && (
        <input
          type="search"
          className={styles.find}
          aria-label="Find a name"
          placeholder={`Find among ${series.length}`}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => event.stopPropagation()}
        />
      )}
      <div className={styles.head}>
        <SortButton label="Name" pressed={order === 'name'} onPress={() => setOrder(order === 'name' ? 'given' : 'name')} />
        <button type="button" className={styles.small} onClick={() => onHidden(new Set(hidden.size === 0 ? all : []))}>
          {hidden.size === 0 ? 'Hide all' : 'Show all'}
        </button>
        <SortButton label="Value" pressed={order === 'value'} onPress={() => setOrder(order === 'value' ? 'given' : 'value')} />
      </div>
      <ul className={styles.list}>
        {rows.map(({ entry: { id, label, look }, value, interval }) => (
          <li key={id}>
            <button
              type="button"
              className={styles.entry}
              title={interval ? `${label}: ${range(interval, unit)}` : label}
              aria-pressed={!hidden.has(id)}
              onClick={() => onHidden(toggled(hidden, id))}
              onDoubleClick={() => onHidden(isolated(series, id))}
            >
              <LineSwatch look={look} />
              <span className={styles.name}>{label}</span>
              <span className={styles.value}>{formatValue(value, unit)}</span>
              {interval && <span className={styles.interval}>{range(interval, unit).replaceAll('%', '')}</span>}
            </button>
          </li>
        ))}
        {rows.length === 0 && <li className={styles.nothing}>No names match.</li>}
      </ul>
    </div>
  );
}

const range = ([low, high]: readonly [number, number], unit: string): string => `${formatValue(low, unit)}–${formatValue(high, unit)}`;

function SortButton({ label, pressed, onPress }: { label: string; pressed: boolean; onPress: () => void }) {
  return (
    <button type="button" className={styles.small} aria-pressed={pressed} title={`Sort by ${label.toLowerCase()}`} onClick={onPress}>
      {label}
      {pressed && ' ↓'}
    </button>
  );
}

interface Read {
  readonly entry: { readonly label: string };
  readonly value: number;
}

/** Highest value first; gaps last. */
function inOrder(a: Read, b: Read, order: Order): number {
  if (order === 'name') return a.entry.label.localeCompare(b.entry.label, 'en', { numeric: true });
  if (order === 'given') return 0;
  const of = ({ value }: Read): number => (Number.isFinite(value) ? value : Number.NEGATIVE_INFINITY);
  return of(b) - of(a);
}
