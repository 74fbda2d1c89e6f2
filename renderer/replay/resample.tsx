// "What if": the steps before this one stay as they were, then a policy of the user's choice (any run of the same world, as
// it was at any stored checkpoint) continues. What it does is shown beside what was recorded, and how many of several rollouts
// solve the task; nothing is stored.

import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { Replay } from '../../main/lab/features/episodes.ts';
import { call, useCall } from '../bridge.ts';
import { Button, IconButton } from '../components/button.tsx';
import { Select } from '../components/field.tsx';
import { Badge } from '../components/stat.tsx';
import { ErrorState } from '../components/states.tsx';
import { formatValue } from '../format.ts';
import util from '../theme/utilities.module.css';
import styles from './resample.module.css';

/** Rollouts at a temperature; the greedy one is always the same. */
const ROLLOUTS = 20;

interface ResampleProps {
  replay: Replay;
  step: number;
  onClose: () => void;
  /** Shows what was sampled in the player, from the step where it branches off. */
  onOpen: (branch: Replay, step: number) => void;
}

export function Resample({ replay, step, onClose, onOpen }: ResampleProps) {
  const policies = useCall('episodes.policies', { run: replay.run.id });
  const [chosenRun, setRun] = useState(replay.run.id);
  const [chosenUpdate, setUpdate] = useState<number | null>(null);
  const [temperature, setTemperature] = useState('1');
  const [attempt, setAttempt] = useState(0);
  const list = policies.data?.policies ?? [];
  const policy = list.find(({ run }) => run === chosenRun) ?? list[0];
  const update = policy?.updates.find((one) => one === chosenUpdate) ?? policy?.updates.at(-1);
  const sample = useMutation({
    mutationFn: (input: { step: number; run: number; update: number; attempt: number; temperature: number; rollouts: number }) =>
      call('episodes.resample', { ...input, episode: replay.id ?? 0 }),
  });
  const go = (): void => {
    if (!policy || update === undefined) return;
    const degrees = Number(temperature);
    sample.mutate({ step, run: policy.run, update, attempt, temperature: degrees, rollouts: degrees === 0 ? 1 : ROLLOUTS });
    setAttempt(attempt + 1);
  };
  const from = sample.variables?.step ?? step;
  return (
    <section className={styles.resample} aria-label="What if">
      <header className={styles.resampleHead}>
        <span>
          {step === 0 ? 'From the start, continue with' : `Replay ${step === 1 ? 'step 1' : `steps 1–${step}`}, then continue with`}
        </span>
        <Select
          aria-label="Policy of run"
          value={String(policy?.run ?? '')}
          options={list.map(({ run, name, variant, seed }) => ({
            value: String(run),
            label: `#${run} ${name} (${variant}, seed ${seed})`,
          }))}
          onValue={(value) => setRun(Number(value))}
        />
        <Select
          aria-label="Checkpoint"
          value={String(update ?? '')}
          options={policy ? checkpointOptions(policy) : []}
          onValue={(value) => setUpdate(Number(value))}
        />
        <Select
          aria-label="Temperature"
          value={temperature}
          options={[
            { value: '0', label: 'greedy' },
            { value: '0.7', label: 'temperature 0.7' },
            { value: '1', label: 'temperature 1' },
          ]}
          onValue={setTemperature}
        />
        <Button kind="primary" disabled={sample.isPending || update === undefined} onClick={go}>
          {sample.isPending ? 'Sampling…' : sample.data ? 'Sample again' : 'Sample'}
        </Button>
        <span className={util.spacer} />
        <IconButton icon="cross" label="Close" onClick={onClose} />
      </header>
      {policies.isError && <ErrorState title="Could not list the policies" error={policies.error} />}
      {policies.data && list.length === 0 && <p className={util.muted}>No run of this world has stored a checkpoint.</p>}
      {sample.isError && <ErrorState title="Sampling failed" error={sample.error} />}
      {sample.data && (
        <>
          <p role="status" className={styles.tally}>
            {tally(sample.data)}
          </p>
          <div className={styles.branches}>
            <Branch title="Recorded" replay={replay} from={from} />
            <Branch
              title={`#${sample.data.replay.run.id} at update ${sample.data.replay.update}`}
              replay={sample.data.replay}
              from={from}
              onOpen={() => onOpen(sample.data.replay, from)}
            />
          </div>
        </>
      )}
    </section>
  );
}

const checkpointOptions = ({ updates, best }: { updates: readonly number[]; best: number | null }) =>
  updates.map((one) => ({ value: String(one), label: one === best ? `update ${one} (best validation)` : `update ${one}` }));

function tally({ replay, solved }: { replay: Replay; solved: { k: number; n: number; low: number; high: number } }): string {
  const who = `#${replay.run.id} at update ${replay.update}`;
  if (solved.n === 1) return `The greedy rollout of ${who} ${solved.k === 1 ? 'solves' : 'does not solve'} the task from here.`;
  const interval = `${formatValue(solved.low, 'share')}–${formatValue(solved.high, 'share')}`;
  return `${solved.k} of ${solved.n} rollouts of ${who} solve the task from here (95% interval ${interval}). The first is shown.`;
}

/** The steps from the branching point on. */
function Branch({ title, replay, from, onOpen }: { title: string; replay: Replay; from: number; onOpen?: () => void }) {
  return (
    <div className={styles.branch} role="group" aria-label={title}>
      <h3>
        {title}{' '}
        <Badge tone={replay.success ? 'success' : 'failure'}>{replay.success ? 'success' : (replay.diagnosis?.failure ?? 'failure')}</Badge>{' '}
        <span className={util.muted}>return {formatValue(replay.return)}</span>
      </h3>
      <ol start={from + 1}>
        {replay.steps.slice(from).map((step, index) => (
          <li key={index}>
            <span className={util.faint}>{from + index + 1}</span> <code>{step.action}</code>{' '}
            <span className={util.muted}>
              {step.words.length > 0 && `p = ${formatValue(product(step.words.map(({ probability }) => probability ?? 1)), 'share')}`}
              {step.reward !== 0 && `, reward ${formatValue(step.reward)}`}
            </span>
          </li>
        ))}
      </ol>
      <p className={util.muted}>{replay.finalObservation}</p>
      {onOpen && (
        <span className={styles.open}>
          <Button icon="replay" onClick={onOpen}>
            Step through
          </Button>
        </span>
      )}
    </div>
  );
}

const product = (values: readonly number[]): number => values.reduce((all, value) => all * value, 1);
