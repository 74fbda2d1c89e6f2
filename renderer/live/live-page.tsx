// Live: one run, as it trains or as it was. Its state and progress with pause, one update, resume and stop; the charts;
// the episodes as they happen; alerts with advice; the log; the config.

import { useMemo, useState } from 'react';
import { useParams } from 'wouter';
import { z } from 'zod';
import type { RunEvent, RunRow } from '../../main/lab/features/runs.ts';
import { useCall } from '../bridge.ts';
import { Button, LinkButton } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Page } from '../components/page.tsx';
import { EmptyState, ErrorState, Loading } from '../components/states.tsx';
import { Tabs } from '../components/tabs.tsx';
import { formatValue } from '../format.ts';
import { useActions } from '../state/actions.ts';
import { useRuns } from '../state/runs.ts';
import type { Steering } from '../state/runs.ts';
import { RunMenu } from '../runs/run-menu.tsx';
import { useView } from '../state/view.ts';
import { Alerts } from './alerts.tsx';
import { alertsOf } from './alert-states.ts';
import { ChartsTab } from './charts-tab.tsx';
import type { Point } from './charts-tab.tsx';
import { ConfigTab } from './config-tab.tsx';
import { EpisodeList } from './episode-list.tsx';
import { BranchButton, Lineage, branchUpdate } from './lineage.tsx';
import { Log } from './log.tsx';
import { Overview } from './overview.tsx';
import { useSteering } from './use-steering.ts';
import styles from './live.module.css';

const tabSchema = z.enum(['charts', 'episodes', 'log', 'config']);
const LATEST = 40;
const BEHIND = 400;
const NO_EVENTS: readonly RunEvent[] = [];
const whole = new Intl.NumberFormat('en');

export default function LivePage() {
  const { run: text } = useParams<{ run: string }>();
  const runs = useRuns();
  if (runs.isError) {
    return (
      <Page title="Run">
        <ErrorState title="Could not read the run" error={runs.error} retry={() => void runs.refetch()} />
      </Page>
    );
  }
  if (runs.isPending) {
    return (
      <Page title={`Run ${text}`}>
        <Loading label="Loading run" rows={8} />
      </Page>
    );
  }
  const run = runs.data.runs.find(({ id }) => String(id) === text);
  if (!run) {
    return (
      <Page title={`Run ${text}`}>
        <EmptyState title="Run not found" actions={<LinkButton href="/">Go to Runs</LinkButton>}>
          <p>It was deleted, or belongs to another data folder.</p>
        </EmptyState>
      </Page>
    );
  }
  return <Live key={run.id} run={run} />;
}

function Live({ run }: { run: RunRow }) {
  const [tab, setTab] = useView<z.infer<typeof tabSchema>>('live.tab', tabSchema, 'charts');
  const [point, setPoint] = useState<Point | null>(null);
  const events = useCall('runs.events', { run: run.id });
  const evaluations = useCall('runs.evaluations', { run: run.id });
  const { asked, ask } = useSteering(run);
  const steps = possible(run);
  const branch = branchUpdate(run, evaluations.data?.checkpoints);
  const log = events.data?.events ?? NO_EVENTS;
  const alerts = useMemo(() => alertsOf(log), [log]);
  useActions(
    steps.map(({ action, title, keys }) => ({
      id: `live.${action}`,
      title: `${title} (run ${run.id})`,
      group: 'Run',
      keys,
      run: () => ask(action),
    })),
  );
  return (
    <Page
      title={run.name}
      subtitle={`#${run.id} · ${run.variant} · ${run.world} · seed ${run.seed} · ${run.device}`}
      actions={
        <>
          {steps.map(({ action, title, icon, keys }) => (
            <Button key={action} icon={icon} title={`Key: ${keys}`} onClick={() => ask(action)}>
              {title}
            </Button>
          ))}
          <LinkButton href={`/new/run-${run.id}`} icon="copy">
            Duplicate
          </LinkButton>
          <BranchButton run={run.id} update={branch} />
          <RunMenu run={run} />
        </>
      }
    >
      <Lineage run={run} />
      <Overview {...{ run, asked }} />
      <Alerts alerts={alerts} action={<BranchButton run={run.id} update={branch} />} />
      <Tabs
        label="Run views"
        value={tab}
        onValue={setTab}
        tabs={[
          {
            value: 'charts',
            label: 'Charts',
            content: <ChartsTab run={run} events={log} alerts={alerts} evaluations={evaluations.data} onPoint={setPoint} />,
          },
          { value: 'episodes', label: 'Episodes', content: <LatestEpisodes run={run} /> },
          { value: 'log', label: 'Log', count: log.length, content: <Log events={log} /> },
          { value: 'config', label: 'Config', content: <ConfigTab run={run.id} /> },
        ]}
      />
      <Dialog
        open={point !== null}
        onClose={() => setPoint(null)}
        width={760}
        title={point ? `${point.purpose === 'train' ? 'Episodes' : 'Evaluation episodes'} of update ${point.update}` : ''}
      >
        {point && <Behind run={run.id} point={point} />}
      </Dialog>
    </Page>
  );
}

interface Step {
  readonly action: Steering;
  readonly title: string;
  readonly icon: 'pause' | 'step' | 'start' | 'stop';
  readonly keys: string;
}

const STEPS: Readonly<Record<'pause' | 'resume' | 'resumeOnCpu' | 'step' | 'stop', Step>> = {
  pause: { action: 'pause', title: 'Pause', icon: 'pause', keys: 'Shift+P' },
  resume: { action: 'resume', title: 'Resume', icon: 'start', keys: 'Shift+P' },
  resumeOnCpu: { action: 'resumeOnCpu', title: 'Resume on CPU', icon: 'start', keys: 'Shift+C' },
  step: { action: 'step', title: 'Step one update', icon: 'step', keys: 'Shift+U' },
  stop: { action: 'stop', title: 'Stop', icon: 'stop', keys: 'Shift+S' },
};

/** What can be asked of a run in this state, the most likely first. */
function possible({ state, device, reason }: RunRow): readonly Step[] {
  const { pause, resume, resumeOnCpu, step, stop } = STEPS;
  // A run that was paused by hand continues where it was; one that lost its device may continue without it.
  const lost = device !== 'cpu' && (state !== 'paused' || (reason ?? '').includes('Resume on CPU'));
  const without = lost ? [resumeOnCpu] : [];
  switch (state) {
    case 'running':
      return [pause, stop];
    case 'queued':
      return [pause, step, stop];
    case 'paused':
      return [resume, ...without, step, stop];
    case 'stopped':
    case 'failed':
    case 'interrupted':
      return [resume, ...without, step];
    default:
      return [];
  }
}

function LatestEpisodes({ run }: { run: RunRow }) {
  const query = useCall('runs.episodes', { run: run.id, purpose: 'train', limit: LATEST });
  if (query.isError) return <ErrorState title="Could not read the episodes" error={query.error} />;
  if (!query.data) return <Loading label="Loading episodes" />;
  if (query.data.total === 0) return <p className={styles.remark}>No training episodes stored yet.</p>;
  return (
    <>
      <p className={styles.caption}>
        The latest {query.data.episodes.length} of {whole.format(query.data.total)} training episodes, newest first
      </p>
      <EpisodeList run={run.id} episodes={query.data.episodes} label="Latest episodes" />
    </>
  );
}

function Behind({ run, point }: { run: number; point: Point }) {
  const query = useCall('runs.episodes', { run, purpose: point.purpose, fromUpdate: point.update, toUpdate: point.update, limit: BEHIND });
  if (query.isError) return <ErrorState title="Could not read the episodes" error={query.error} />;
  if (!query.data) return <Loading label="Loading episodes" />;
  const { episodes, total } = query.data;
  if (total === 0) return <p>No episodes of this update are stored: the run’s retention setting dropped them.</p>;
  const successes = episodes.filter(({ success }) => success).length;
  return (
    <>
      <p className={styles.caption}>
        {successes} of {episodes.length} succeeded ({formatValue(successes / episodes.length, 'share')})
      </p>
      <EpisodeList run={run} episodes={episodes} label="Episodes behind the point" />
    </>
  );
}
