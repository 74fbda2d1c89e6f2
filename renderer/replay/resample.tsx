// "What if": the steps before this one stay as they were, then a policy of the user's choice (any run of the same world, as
// it was after any kept update) goes on. What it does is shown beside what was recorded, and how many of several goes solve
// the task; nothing is stored.

import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { Replay } from '../../preload/contract/replay.ts';
import { call, useCall } from '../bridge.ts';
import { Button, IconButton } from '../components/button.tsx';
import { Select } from '../components/field.tsx';
import { Badge } from '../components/stat.tsx';
import { ErrorState } from '../components/states.tsx';
import { formatValue } from '../format.ts';
import styles from './resample.module.css';

/** Goes at a temperature; the most probable one is always the same. */
const GOES = 20;

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
    mutationFn: (input: { step: number; run: number; update: number; attempt: number; temperature: number; goes: number }) =>
      call('episodes.resample', { ...input, episode: replay.id ?? 0 }),
  });
  const go = (): void => {
    if (!policy || update === undefined) return;
    const degrees = Number(temperature);
    sample.mutate({ step, run: policy.run, update, attempt, temperature: degrees, goes: degrees === 0 ? 1 : GOES });
    setAttempt(attempt + 1);
  };
  const from = sample.variables?.step ?? step;
  return (
    <section className={styles.resample} aria-label="What another policy would have done">
      <header className={styles.resampleHead}>
        <span>
          {step === 0 ? 'From the start, go on with' : `Keep the first ${step === 1 ? 'step' : `${step} steps`}, then go on with`}
        </span>
        <Select
          aria-label="Run whose policy goes on"
          value={String(policy?.run ?? '')}
          options={list.map(({ run, name, variant, seed }) => ({
            value: String(run),
            label: `#${run} ${name} (${variant}, seed ${seed})`,
          }))}
          onValue={(value) => setRun(Number(value))}
        />
        <Select
          aria-label="After which update"
          value={String(update ?? '')}
          options={(policy?.updates ?? []).map((one) => ({ value: String(one), label: `after update ${one}` }))}
          onValue={(value) => setUpdate(Number(value))}
        />
        <Select
          aria-label="Temperature"
          value={temperature}
          options={[
            { value: '0', label: 'most probable' },
            { value: '0.7', label: 'temperature 0.7' },
            { value: '1', label: 'temperature 1' },
          ]}
          onValue={setTemperature}
        />
        <Button kind="primary" disabled={sample.isPending || update === undefined} onClick={go}>
          {sample.isPending ? 'Playing…' : sample.data ? 'Sample again' : 'Sample'}
        </Button>
        <span className={styles.spacer} />
        <IconButton icon="cross" label="Close" onClick={onClose} />
      </header>
      {policies.isError && <ErrorState title="The policies could not be listed" error={policies.error} />}
      {policies.data && list.length === 0 && (
        <p className={styles.muted}>No run of this world has kept a checkpoint, so there is no policy to ask.</p>
      )}
      {sample.isError && <ErrorState title="The policy could not go on" error={sample.error} />}
      {sample.data && (
        <>
          <p role="status" className={styles.goes}>
            {tally(sample.data)}
          </p>
          <div className={styles.branches}>
            <Branch title="As recorded" replay={replay} from={from} />
            <Branch
              title={`#${sample.data.replay.run.id} after update ${sample.data.replay.update}`}
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

function tally({ replay, solved }: { replay: Replay; solved: { k: number; n: number; low: number; high: number } }): string {
  const who = `#${replay.run.id} after update ${replay.update}`;
  if (solved.n === 1) return `The most probable words of ${who} ${solved.k === 1 ? 'solve' : 'do not solve'} the task from here.`;
  const interval = `${formatValue(solved.low, 'share')}–${formatValue(solved.high, 'share')}`;
  return `${solved.k} of ${solved.n} goes of ${who} solve the task from here (95% interval ${interval}). The first of them is shown.`;
}

/** The steps from the branching point on. */
function Branch({ title, replay, from, onOpen }: { title: string; replay: Replay; from: number; onOpen?: () => void }) {
  return (
    <div className={styles.branch} role="group" aria-label={title}>
      <h3>
        {title}{' '}
        <Badge tone={replay.success ? 'success' : 'failure'}>{replay.success ? 'success' : (replay.diagnosis?.failure ?? 'failure')}</Badge>{' '}
        <span className={styles.muted}>return {formatValue(replay.return)}</span>
      </h3>
      <ol start={from + 1}>
        {replay.steps.slice(from).map((step, index) => (
          <li key={index}>
            <span className={styles.faint}>{from + index + 1}</span> <code>{step.action}</code>{' '}
            <span className={styles.muted}>
              {step.words.length > 0 && `p = ${formatValue(product(step.words.map(({ probability }) => probability ?? 1)), 'share')}`}
              {step.reward !== 0 && `, reward ${formatValue(step.reward)}`}
            </span>
          </li>
        ))}
      </ol>
      <p className={styles.muted}>{replay.finalObservation}</p>
      {onOpen && (
        <span className={styles.open}>
          <Button icon="replay" onClick={onOpen}>
            Step through it
          </Button>
        </span>
      )}
    </div>
  );
}

const product = (values: readonly number[]): number => values.reduce((all, value) => all * value, 1);
