// The queue beside the form: what trains now, what waits, in the order it will start. Drag to reorder, or Alt with the
// arrow keys on a focused entry.

import { useState } from 'react';
import { Link } from 'wouter';
import type { RunRow } from '../../main/lab/features/runs.ts';
import { call } from '../bridge.ts';
import { IconButton } from '../components/button.tsx';
import { RunStateBadge } from '../components/run-state.tsx';
import { Progress } from '../components/stat.tsx';
import { queued, steer } from '../state/runs.ts';
import { toastError } from '../state/toasts.ts';
import util from '../theme/utilities.module.css';
import styles from './new-run.module.css';

export function QueuePanel({ runs }: { runs: readonly RunRow[] }) {
  const [dragged, setDragged] = useState<number | null>(null);
  const [over, setOver] = useState<number | null>(null);
  const active = runs.filter(({ state }) => state === 'running' || state === 'stopping');
  const waiting = queued(runs);

  const move = (run: number, to: number): void => {
    const others = waiting.filter(({ id }) => id !== run);
    const before = others[to]?.id ?? null;
    call('queue.move', { run, before }).catch((error: unknown) => toastError('Could not reorder the queue', error));
  };

  if (active.length === 0 && waiting.length === 0) return <p className={util.muted}>The queue is empty.</p>;
  return (
    <>
      {active.map((run) => (
        <div key={run.id} className={styles.active}>
          <div className={styles.queueLine}>
            <RunStateBadge state={run.state} />
            <Link href={`/runs/${run.id}`}>
              #{run.id} {run.name}
            </Link>
            <span className={styles.number}>
              {run.updates} / {run.planned}
            </span>
          </div>
          <Progress label={`Run ${run.id}`} value={run.planned > 0 ? run.updates / run.planned : null} />
        </div>
      ))}
      {waiting.length > 0 && (
        <ol className={styles.queue} aria-label="Queued runs, in order">
          {waiting.map((run, index) => (
            <li
              key={run.id}
              className={styles.queueLine}
              tabIndex={0}
              draggable
              data-over={over === index || undefined}
              aria-label={`${index + 1}. Run ${run.id}, ${run.name}, seed ${run.seed}. Alt+Up and Alt+Down move it.`}
              onDragStart={() => setDragged(run.id)}
              onDragEnd={() => {
                setDragged(null);
                setOver(null);
              }}
              onDragOver={(event) => {
                event.preventDefault();
                setOver(index);
              }}
              onDrop={(event) => {
                event.preventDefault();
                if (dragged !== null && dragged !== run.id) move(dragged, index);
              }}
              onKeyDown={(event) => {
                const by = event.key === 'ArrowUp' ? -1 : event.key === 'ArrowDown' ? 1 : 0;
                if (by === 0 || !event.altKey) return;
                event.preventDefault();
                move(run.id, Math.max(0, index + by));
              }}
            >
              <span className={styles.place}>{index + 1}</span>
              <Link href={`/runs/${run.id}`} tabIndex={-1}>
                #{run.id} {run.name}
              </Link>
              <span className={util.muted}>seed {run.seed}</span>
              <span className={styles.queueTools}>
                <IconButton icon="cross" label={`Remove run ${run.id} from the queue`} onClick={() => steer(run.id, 'cancel')} />
              </span>
            </li>
          ))}
        </ol>
      )}
    </>
  );
}
