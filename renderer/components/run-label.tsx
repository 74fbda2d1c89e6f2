// A run's name with its line beside it: the same colour and line style as in every chart.

import type { RunStyle } from '../theme/runs.ts';
import styles from './run-label.module.css';

export function LineSwatch({ look }: { look: RunStyle }) {
  return (
    <svg width="22" height="8" viewBox="0 0 22 8" className={styles.swatch} aria-hidden="true">
      <line
        x1="1"
        y1="4"
        x2="21"
        y2="4"
        stroke={look.colour}
        strokeWidth="2.2"
        strokeDasharray={look.dash.map((length) => length * 0.7).join(' ')}
      />
    </svg>
  );
}

export function RunLabel({ name, look }: { name: string; look: RunStyle }) {
  return (
    <span className={styles.label}>
      <LineSwatch look={look} />
      <bdi className={styles.name} title={name}>
        {name}
      </bdi>
    </span>
  );
}
