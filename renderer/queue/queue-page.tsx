// Queue: what trains now with its progress and time left, what waits in which order, and what stopped halfway and can be resumed.

import { Link } from 'wouter';
import type { RunRow } from '../../main/lab/features/runs.ts';
import { Button, LinkButton } from '../components/button.tsx';
import { Page, Section } from '../components/page.tsx';
import { RunStateBadge } from '../components/run-state.tsx';
import { Progress } from '../components/stat.tsx';
import { EmptyState, ErrorState, Loading } from '../components/states.tsx';
import { formatDuration } from '../format.ts';
import { QueuePanel } from '../new-run/queue-panel.tsx';
import { secondsLeft, shareDone, stageNow } from '../state/progress.ts';
import { active, queued, steer, useRuns } from '../state/runs.ts';
import util from '../theme/utilities.module.css';
import styles from './queue.module.css';

const HALFWAY = ['paused', 'interrupted', 'failed'];
const MOST_HALFWAY = 20;

export default function QueuePage() {
  const runs = useRuns();
  return (
    <Page
      title="Queue"
      subtitle={runs.data && summary(runs.data.runs)}
      actions={
        <LinkButton href="/new" icon="plus">
          New run
        </LinkButton>
      }
    >
      {runs.isPending && <Loading label="Loading runs" />}
      {runs.isError && <ErrorState title="Could not read the runs" error={runs.error} retry={() => void runs.refetch()} />}
      {runs.data && <Lists runs={runs.data.runs} />}
    </Page>
  );
}

function summary(runs: readonly RunRow[]): string {
  const [training, waiting] = [active(runs), queued(runs)];
  const left = [...training, ...waiting].map(secondsLeft);
  const total = left.every((one) => one !== null) && left.length > 0 ? left.reduce((sum, one) => sum + (one ?? 0), 0) : null;
  return [
    `${training.length} training`,
    `${waiting.length} queued`,
    ...(total === null ? [] : [`about ${formatDuration(total)} left`]),
  ].join(' · ');
}

function Lists({ runs }: { runs: readonly RunRow[] }) {
  const training = active(runs);
  const waiting = queued(runs);
  const halfway = runs.filter(({ state }) => HALFWAY.includes(state));
  if (training.length + waiting.length + halfway.length === 0) {
    return (
      <EmptyState title="The queue is empty" actions={<LinkButton href="/new">Set up a run</LinkButton>}>
        <p>Runs that train, wait or were interrupted appear here.</p>
      </EmptyState>
    );
  }
  return (
    <div className={styles.lists}>
      {training.length > 0 && (
        <Section title="Training">
          <ul className={styles.rows} aria-label="Training runs">
            {training.map((run) => (
              <li key={run.id} className={styles.row}>
                <RunStateBadge state={run.state} />
                <RunLink run={run} />
                <Progress label={`Run ${run.id}`} value={stageNow(run).share} />
                <span className={util.muted}>
                  {run.updates} of {run.planned} updates, {stageNow(run).words}
                </span>
                <span className={styles.tools}>
                  <Button icon="pause" onClick={() => steer(run.id, 'pause')}>
                    Pause
                  </Button>
                  <Button icon="stop" onClick={() => steer(run.id, 'stop')}>
                    Stop
                  </Button>
                </span>
              </li>
            ))}
          </ul>
        </Section>
      )}
      {waiting.length > 0 && (
        <Section title="Queued" hint="Drag to reorder, or Alt with the arrow keys.">
          <QueuePanel runs={waiting} />
        </Section>
      )}
      {halfway.length > 0 && <Halfway runs={halfway} />}
    </div>
  );
}

function Halfway({ runs }: { runs: readonly RunRow[] }) {
  return (
    <Section title="Paused, interrupted or failed" hint="Resume continues from the last checkpoint with identical results.">
      <ul className={styles.rows} aria-label="Runs that can be resumed">
        {runs.slice(0, MOST_HALFWAY).map((run) => (
          <li key={run.id} className={styles.row}>
            <RunStateBadge state={run.state} />
            <RunLink run={run} />
            <Progress label={`Run ${run.id}`} value={shareDone(run)} />
            <span className={util.muted} title={run.reason ?? ''}>
              {run.updates} of {run.planned} updates
            </span>
            <span className={styles.tools}>
              <Button icon="start" onClick={() => steer(run.id, 'resume')}>
                Resume
              </Button>
            </span>
          </li>
        ))}
      </ul>
      {runs.length > MOST_HALFWAY && <p className={util.muted}>{runs.length - MOST_HALFWAY} more in Runs.</p>}
    </Section>
  );
}

function RunLink({ run }: { run: RunRow }) {
  return (
    <Link href={`/runs/${run.id}`} className={styles.name} title={run.name}>
      #{run.id} <bdi>{run.name}</bdi>, seed {run.seed}
    </Link>
  );
}
