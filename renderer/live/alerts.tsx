// The alerts of a run: those that hold now with their advice, and those that have cleared in one line each.

import { type ReactNode, useState } from 'react';
import { Button } from '../components/button.tsx';
import { Icon } from '../components/icons.tsx';
import type { AlertState } from './alert-states.ts';
import styles from './live.module.css';

/** `action` is what can be done about it: branching from the best checkpoint. */
export function Alerts({ alerts, action }: { alerts: readonly AlertState[]; action: ReactNode }) {
  const [hidden, setHidden] = useState<readonly number[]>([]);
  const active = alerts.filter(({ event, cleared }) => cleared === null && !hidden.includes(event));
  const cleared = alerts.filter((alert) => alert.cleared !== null);
  return (
    <>
      {active.length > 0 && (
        <ul className={styles.alerts} aria-label="Active alerts" aria-live="polite">
          {active.map(({ event, title, text, raised }) => (
            <li key={event} className={styles.alert}>
              <Icon name="warning" />
              <p>
                <strong>{title}</strong> <span className={styles.remark}>since update {raised}</span>
                <br />
                {text}
              </p>
              {action}
              <Button kind="quiet" aria-label={`Hide alert: ${title}`} onClick={() => setHidden([...hidden, event])}>
                Hide
              </Button>
            </li>
          ))}
        </ul>
      )}
      {cleared.length > 0 && (
        <details className={styles.cleared}>
          <summary>{cleared.length === 1 ? '1 cleared alert' : `${cleared.length} cleared alerts`}</summary>
          <ul aria-label="Cleared alerts">
            {cleared.map(({ event, title, raised, cleared: at }) => (
              <li key={event}>
                <Icon name="check" size={13} /> {title}: raised at update {raised}, cleared at update {at}
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}
