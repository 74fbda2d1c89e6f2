// The line above a plot: title, unit, explanation, and at the right what a reader must know of how it is drawn.

import type { ReactNode } from 'react';
import styles from './charts.module.css';

interface CaptionProps {
  title: string;
  unit: string;
  explain: ReactNode;
  stale: string | undefined;
  sample: string | undefined;
  /** Shown and all series. */
  shown: number;
  all: number;
  smoothing: number;
  /** Values that a log axis cannot show. */
  dropped: number;
  /** How to reset the zoom; undefined when there is none. */
  onReset: (() => void) | undefined;
  menu: ReactNode;
}

export function Caption({ title, unit, explain, stale, sample, shown, all, smoothing, dropped, onReset, menu }: CaptionProps) {
  return (
    <figcaption className={styles.caption}>
      <span className={styles.title} title={title}>
        {title}
      </span>
      {unit && unit !== 'share' && <span className={styles.unit}>{unit}</span>}
      {explain}
      <span className={styles.notes}>
        {stale && <span className={styles.stale}>{stale}</span>}
        {sample && <span>{sample}</span>}
        {shown < all && (
          <span title="Click a name to toggle it, double-click to isolate it">
            {shown} of {all} shown
          </span>
        )}
        {smoothing > 0 && <span title="The raw value stands in brackets">smoothing {smoothing}</span>}
        {dropped > 0 && (
          <span className={styles.dropped} title={`A log axis cannot show ${dropped} values that are zero or less`}>
            {dropped} values ≤ 0 not shown
          </span>
        )}
        {onReset && (
          <button type="button" className={styles.reset} onClick={onReset}>
            Reset zoom
          </button>
        )}
      </span>
      {menu}
    </figcaption>
  );
}
