// Small pieces that carry numbers and states: a Stat (label over value, with its interval), a Badge, a progress bar.

import type { ReactNode } from 'react';
import { Icon } from './icons.tsx';
import type { IconName } from './icons.tsx';
import styles from './stat.module.css';

interface StatProps {
  label: string;
  value: ReactNode;
  unit?: string;
  /** Under the value: the interval, n, or how it changed. */
  note?: ReactNode;
  explain?: ReactNode;
}

export function Stat({ label, value, unit, note, explain }: StatProps) {
  return (
    <div className={styles.stat}>
      <dt className={styles.label}>
        {label} {explain}
      </dt>
      <dd className={styles.value}>
        {value}
        {unit !== undefined && <span className={styles.unit}> {unit}</span>}
        {note !== undefined && <div className={styles.note}>{note}</div>}
      </dd>
    </div>
  );
}

/** A row of Stats. */
export function Stats({ children }: { children: ReactNode }) {
  return <dl className={styles.stats}>{children}</dl>;
}

export type Tone = 'neutral' | 'accent' | 'success' | 'failure' | 'warning';

const TONE_ICONS: Readonly<Partial<Record<Tone, IconName>>> = { success: 'check', failure: 'cross', warning: 'warning' };

/** Success, failure and warning always bring their icon: colour is never the only sign. */
export function Badge({ tone = 'neutral', icon, children }: { tone?: Tone; icon?: IconName; children: ReactNode }) {
  const shown = icon ?? TONE_ICONS[tone];
  return (
    <span className={styles.badge} data-tone={tone}>
      {shown && <Icon name={shown} size={12} />}
      {children}
    </span>
  );
}

/** `value` in 0…1; null while the total is unknown. */
export function Progress({ label, value }: { label: string; value: number | null }) {
  return (
    <div
      className={styles.progress}
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={value === null ? undefined : Math.round(value * 100)}
    >
      <div
        className={styles.fill}
        data-unknown={value === null || undefined}
        style={{ width: value === null ? '30%' : `${value * 100}%` }}
      />
    </div>
  );
}
