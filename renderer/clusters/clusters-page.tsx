// What was sent to clusters: the submissions with the states of their tasks, and of the chosen one every task with progress, reason, log,
// cancel and retry. Looked at again every few seconds while it is shown; finished runs are collected on the way.

import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useLocation, useParams } from 'wouter';
import type { ClusterTask, ClusterTaskState, DamagedSubmissionRow, SubmissionSummary } from '../../main/lab/features/clusters.ts';
import { call, callOptions } from '../bridge.ts';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Page, Section } from '../components/page.tsx';
import { Badge } from '../components/stat.tsx';
import { EmptyState, ErrorState, Loading } from '../components/states.tsx';
import { Cell, Head, Row, Table } from '../components/table.tsx';
import { formatDate } from '../format.ts';
import { toast, toastError } from '../state/toasts.ts';
import util from '../theme/utilities.module.css';
import styles from './clusters.module.css';

const EVERY_MS = 5000;
const OPEN: readonly ClusterTaskState[] = ['pending', 'running', 'requeued', 'unknown'];
const ENDED: readonly ClusterTaskState[] = ['failed', 'cancelled', 'unsubmitted'];

const TONES = {
  unsubmitted: 'warning',
  pending: 'neutral',
  running: 'accent',
  requeued: 'warning',
  done: 'success',
  failed: 'failure',
  cancelled: 'neutral',
  unknown: 'warning',
} as const;

export default function ClustersPage() {
  const { cluster, submission } = useParams<{ cluster?: string; submission?: string }>();
  const all = useQuery({ ...callOptions('clusters.submissions', {}), refetchInterval: EVERY_MS, refetchOnMount: 'always' });
  const chosen = all.data?.submissions.find((one) => (submission === undefined ? true : one.id === submission && one.cluster === cluster));
  return (
    <Page title="Clusters" subtitle="Runs that were sent to a Slurm cluster">
      {all.error && <ErrorState title="Could not read the submissions" error={all.error} retry={() => void all.refetch()} />}
      {!all.data && !all.error && <Loading label="Loading submissions" rows={4} />}
      {all.data?.problems.map(({ cluster: name, message }) => (
        <p key={name} role="alert" className={util.muted}>
          {name}: {message}
        </p>
      ))}
      {all.data && all.data.submissions.length + all.data.damaged.length === 0 && (
        <EmptyState title="Nothing was submitted yet">
          <p>
            Add a cluster in <Link href="/settings">Settings</Link>, then choose it under “On” in <Link href="/new">New run</Link>.
          </p>
        </EmptyState>
      )}
      {all.data && all.data.submissions.length + all.data.damaged.length > 0 && (
        <Section title="Submissions">
          <Submissions all={all.data.submissions} damaged={all.data.damaged} chosen={chosen?.id} />
        </Section>
      )}
      {chosen && <Tasks key={chosen.id} submission={chosen} />}
    </Page>
  );
}

interface SubmissionsProps {
  all: readonly SubmissionSummary[];
  damaged: readonly DamagedSubmissionRow[];
  chosen: string | undefined;
}

function Submissions({ all, damaged, chosen }: SubmissionsProps) {
  const [, navigate] = useLocation();
  return (
    <div className={styles.wide}>
      <Table label="Submissions">
        <thead>
          <tr>
            <Head>Submission</Head>
            <Head>Cluster</Head>
            <Head>What</Head>
            <Head>States</Head>
            <Head>Submitted</Head>
          </tr>
        </thead>
        <tbody>
          {all.map(({ id, cluster, title, counts, source, createdAt }) => (
            <Row key={`${cluster} ${id}`} selected={id === chosen} onClick={() => navigate(`/clusters/${cluster}/${id}`)}>
              <Cell>
                <Link href={`/clusters/${cluster}/${id}`}>{id}</Link>
              </Cell>
              <Cell>{cluster}</Cell>
              <Cell>
                <span className={styles.name}>{title}</span>
              </Cell>
              <Cell>
                {Object.entries(counts)
                  .flatMap(([state, count]) => (count > 0 ? [`${count} ${state}`] : []))
                  .join(', ')}
                {source === null && ' (the scheduler is silent)'}
              </Cell>
              <Cell muted>{formatDate(createdAt)}</Cell>
            </Row>
          ))}
          {damaged.map(({ id, cluster, reason }) => (
            <Row key={`${cluster} ${id}`}>
              <Cell>{id}</Cell>
              <Cell>{cluster}</Cell>
              <Cell>
                <span className={styles.name} dir="auto">
                  {reason}
                </span>
              </Cell>
              <Cell>
                <Badge tone="failure">damaged</Badge>
              </Cell>
              <Cell />
            </Row>
          ))}
        </tbody>
      </Table>
    </div>
  );
}

function Tasks({ submission: { cluster, id } }: { submission: SubmissionSummary }) {
  const client = useQueryClient();
  const options = callOptions('clusters.status', { cluster, id });
  const { data, error, refetch } = useQuery({ ...options, refetchInterval: EVERY_MS, refetchOnMount: 'always' });
  const [log, setLog] = useState<{ task: string; text: string } | null>(null);
  const act = async (name: 'clusters.cancel' | 'clusters.retry', tasks: string[] | null): Promise<void> => {
    try {
      const changed = await call(name, { cluster, id, tasks });
      toast({ title: `${changed.tasks.length} tasks ${name === 'clusters.cancel' ? 'cancelled' : 'submitted again'}` });
      await client.invalidateQueries({ queryKey: options.queryKey });
    } catch (problem) {
      toastError(name === 'clusters.cancel' ? 'Could not cancel' : 'Could not retry', problem);
    }
  };
  const showLog = async (task: string): Promise<void> => {
    try {
      setLog({ task, text: (await call('clusters.log', { cluster, id, task })).log });
    } catch (problem) {
      toastError('Could not read the log', problem);
    }
  };
  if (error) return <ErrorState title="Could not read the tasks" error={error} retry={() => void refetch()} />;
  if (!data) return <Loading label="Loading tasks" rows={4} />;
  return (
    <Section title={`Tasks of ${id}`}>
      <div className={styles.actions}>
        <Button disabled={!data.tasks.some(({ state }) => OPEN.includes(state))} onClick={() => void act('clusters.cancel', null)}>
          Cancel all
        </Button>
        <Button disabled={!data.tasks.some(({ state }) => ENDED.includes(state))} onClick={() => void act('clusters.retry', null)}>
          Retry failed
        </Button>
      </div>
      {data.refused.map((reason) => (
        <p key={reason} role="alert">
          {reason}
        </p>
      ))}
      <div className={styles.wide}>
        <Table label="Tasks">
          <thead>
            <tr>
              <Head>Task</Head>
              <Head>Run</Head>
              <Head numeric>Seed</Head>
              <Head>State</Head>
              <Head>Progress</Head>
              <Head>Node</Head>
              <Head>Actions</Head>
            </tr>
          </thead>
          <tbody>
            {data.tasks.map((task) => (
              <TaskRow key={task.id} task={task} onLog={() => void showLog(task.id)} onAct={(name) => void act(name, [task.id])} />
            ))}
          </tbody>
        </Table>
      </div>
      <Dialog open={log !== null} onClose={() => setLog(null)} title={`Log of task ${log?.task ?? ''}`} width={820}>
        <pre className={styles.log} tabIndex={0} aria-label="Log">
          {log?.text || 'It has printed nothing yet.'}
        </pre>
      </Dialog>
    </Section>
  );
}

interface TaskRowProps {
  task: ClusterTask;
  onLog: () => void;
  onAct: (name: 'clusters.cancel' | 'clusters.retry') => void;
}

function TaskRow({ task, onLog, onAct }: TaskRowProps) {
  const { id, name, seed, state, reason, node, phase, done, total, run } = task;
  return (
    <Row>
      <Cell>{id}</Cell>
      <Cell>
        <span className={styles.name} dir="auto">
          {run === null ? name : <Link href={`/runs/${run}`}>{`${run}: ${name}`}</Link>}
        </span>
      </Cell>
      <Cell numeric>{seed ?? ''}</Cell>
      <Cell>
        <Badge tone={TONES[state]}>{state}</Badge> <span className={util.muted}>{reason}</span>
      </Cell>
      <Cell>{state === 'running' && phase !== '' ? `${phase}, ${Math.round(done)} of ${Math.round(total)}` : ''}</Cell>
      <Cell muted>{node}</Cell>
      <Cell>
        <Button kind="quiet" onClick={onLog}>
          Log
        </Button>
        {OPEN.includes(state) && (
          <Button kind="quiet" onClick={() => onAct('clusters.cancel')}>
            Cancel
          </Button>
        )}
        {ENDED.includes(state) && (
          <Button kind="quiet" onClick={() => onAct('clusters.retry')}>
            Retry
          </Button>
        )}
      </Cell>
    </Row>
  );
}
