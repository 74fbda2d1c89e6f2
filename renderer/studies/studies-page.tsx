// Studies that can be run: the definitions with what they ask, here or on a cluster, and what a running one says. Its runs and verdicts are
// on Compare.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import type { StudyDefinitionRow, StudyJob, WantedStudy } from '../../main/lab/features/study-runs.ts';
import { call, callOptions } from '../bridge.ts';
import { Button, LinkButton } from '../components/button.tsx';
import { Field, Select, TextInput } from '../components/field.tsx';
import { Card, Page, Section } from '../components/page.tsx';
import { SavedStudies } from './saved-studies.tsx';
import { Sources } from './sources.tsx';
import { Badge } from '../components/stat.tsx';
import { ErrorState, Loading } from '../components/states.tsx';
import { formatDate } from '../format.ts';
import { OnField } from '../new-run/on-field.tsx';
import { toastError } from '../state/toasts.ts';
import util from '../theme/utilities.module.css';
import styles from './studies.module.css';

const EVERY_MS = 2000;
const TONES = { running: 'accent', stopping: 'warning', done: 'success', failed: 'failure', stopped: 'neutral' } as const;
const jobOptions = callOptions('studyRuns.jobs', {});

export default function StudiesPage() {
  const { data, error, refetch } = useQuery({ ...callOptions('studyRuns.definitions', {}), refetchOnMount: 'always' });
  const jobs = useQuery({ ...jobOptions, refetchInterval: EVERY_MS, refetchOnMount: 'always' });
  return (
    <Page title="Studies" subtitle="Arms × seeds from a definition, with claims that are decided from the results">
      {error && <ErrorState title="Could not read the definitions" error={error} retry={() => void refetch()} />}
      {!data && !error && <Loading label="Loading definitions" rows={4} />}
      {data && (
        <Section
          title="Run a study"
          hint={
            <>
              Put your definitions (docs/TUNING.md) into <code>{data.folder}</code>.
            </>
          }
        >
          <Start definitions={data.definitions} jobs={jobs.data?.jobs ?? []} />
        </Section>
      )}
      {jobs.data?.jobs.map((job) => (
        <Job key={job.study} job={job} />
      ))}
      <SavedStudies />
      <Sources />
    </Page>
  );
}

const whole = (text: string): number | null => (/^[1-9]\d{0,5}$/.test(text) ? Number(text) : null);

function Start({ definitions, jobs }: { definitions: readonly StudyDefinitionRow[]; jobs: readonly StudyJob[] }) {
  const client = useQueryClient();
  const [study, setStudy] = useState(definitions[0]?.study ?? '');
  const [on, setOn] = useState('');
  const [seeds, setSeeds] = useState('');
  const [updates, setUpdates] = useState('');
  const chosen = definitions.find((one) => one.study === study);
  const active = jobs.some((job) => job.study === study && (job.state === 'running' || job.state === 'stopping'));
  const wanted: WantedStudy = { study, on, seeds: whole(seeds), updates: whole(updates) };
  const start = useMutation({
    mutationFn: () => call('studyRuns.start', wanted),
    onSuccess: () => client.invalidateQueries({ queryKey: jobOptions.queryKey }),
    onError: (problem) => toastError('The study was not started', problem),
  });
  if (!chosen) return null;
  const dryRun = chosen.problem === null ? async () => (await call('studyRuns.dryRun', wanted)).scripts : undefined;
  return (
    <Card>
      <div className={styles.fields}>
        <Field label="Study">
          {(ids) => (
            <Select
              {...ids}
              value={study}
              options={definitions.map((one) => ({ value: one.study, label: `${one.study}: ${one.title}` }))}
              onValue={setStudy}
            />
          )}
        </Field>
        <Field label="Seeds" hint={`The first so many of ${chosen.seeds}; empty for all`}>
          {(ids) => <TextInput {...ids} inputMode="numeric" value={seeds} onChange={(event) => setSeeds(event.target.value)} />}
        </Field>
        <Field label="Updates" hint={`Empty for ${chosen.updates}, the definition’s budget`}>
          {(ids) => <TextInput {...ids} inputMode="numeric" value={updates} onChange={(event) => setUpdates(event.target.value)} />}
        </Field>
        <OnField value={on} onValue={setOn} hint="Beside the queue, in a separate process" dryRun={dryRun} />
      </div>
      {chosen.problem === null ? (
        <p className={styles.question}>
          {chosen.question}{' '}
          <span className={util.muted}>
            {chosen.arms} arms × {chosen.seeds} seeds: {chosen.runs} runs
            {chosen.trials > 0 && `, after ${chosen.trials} tuning trials`}.
          </span>
        </p>
      ) : (
        <p role="alert">{chosen.problem}</p>
      )}
      <Button kind="primary" icon="start" disabled={active || chosen.problem !== null || start.isPending} onClick={() => start.mutate()}>
        {on === '' ? 'Run on this machine' : `Run on ${on}`}
      </Button>
    </Card>
  );
}

function Job({ job: { study, on, state, startedAt, lines, claims, saved } }: { job: StudyJob }) {
  const client = useQueryClient();
  const stop = useMutation({
    mutationFn: () => call('studyRuns.stop', { study }),
    onSuccess: () => client.invalidateQueries({ queryKey: jobOptions.queryKey }),
  });
  return (
    <Section
      title={`Study ${study}`}
      actions={
        <>
          {on !== '' && <LinkButton href="/clusters">Tasks on {on}</LinkButton>}
          {saved !== null && <LinkButton href={`/compare/study-${saved}`}>Compare</LinkButton>}
          {state === 'running' && (
            <Button icon="stop" disabled={stop.isPending} onClick={() => stop.mutate()}>
              Stop
            </Button>
          )}
        </>
      }
    >
      <p>
        <Badge tone={TONES[state]}>{state}</Badge>{' '}
        <span className={util.muted}>
          {on === '' ? 'on this machine' : `on ${on}`}, started {formatDate(startedAt)}
          {state === 'stopped' && '. Starting it again resumes'}
        </span>
      </p>
      {claims.length > 0 && (
        <ul className={styles.claims}>
          {claims.map(({ claim, verdict }) => (
            <li key={claim}>
              <strong>{verdict}</strong>: {claim}
            </li>
          ))}
        </ul>
      )}
      <pre className={styles.lines} tabIndex={0} aria-label={`What study ${study} says`}>
        {lines.slice(-12).join('\n') || 'Starting…'}
      </pre>
      {on !== '' && state === 'running' && (
        <p className={util.muted}>
          Closing the window stops only the watching: the tasks continue, and running the study again collects them.{' '}
          <Link href="/clusters">Clusters</Link> shows them.
        </p>
      )}
    </Section>
  );
}
