// The log of a run, newest first by the clock.

import type { RunEvent } from '../../main/lab/features/runs.ts';
import { Icon } from '../components/icons.tsx';
import { formatDate } from '../format.ts';
import { inLogOrder } from './alert-states.ts';
import styles from './live.module.css';

export function Log({ events }: { events: readonly RunEvent[] }) {
  if (events.length === 0) return <p className={styles.remark}>No events.</p>;
  return (
    <ol className={styles.log} aria-label="Run log">
      {inLogOrder(events).map(({ id, update, time, kind, severity, text }) => (
        <li key={id} data-severity={severity}>
          <span className={styles.number}>u{update}</span>
          <time className={styles.remark} dateTime={new Date(time).toISOString()}>
            {formatDate(time)}
          </time>
          <span className={styles.kind}>
            {severity !== 'info' && <Icon name="warning" size={13} />}
            {kind}
          </span>
          <span className={styles.text}>{text}</span>
        </li>
      ))}
    </ol>
  );
}
