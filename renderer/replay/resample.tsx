// "What if": the steps before this one stay as they were, then a policy of the user's choice (any run of the same world, as
// it was after any kept update) goes on. What it does is shown beside what was recorded; nothing is stored.

import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { Replay } from '../../preload/contract/replay.ts';
import { call, useCall } from '../bridge.ts';
import { Button, IconButton } from '../components/button.tsx';
import { Select } from '../components/field.tsx';
import { Badge } from '../components/stat.tsx';
import { ErrorState } from '../components/states.tsx';
import { formatValue } from '../format.ts';
import styles from './replay.module.css';

interface ResampleProps {
  replay: Replay;
  step: number;
  onClose: () => void;
}

export function Resample({ replay, step, onClose }: ResampleProps) {
  const policies = useCall('episodes.policies', { run: replay.run.id });
  const [chosenRun, setRun] = useState(replay.run.id);
  const [chosenUpdate, setUpdate] = useState<number | null>(null);
  const [temperature, setTemperature] = useState('1');
  const [attempt, setAttempt] = useState(0);
  const list = policies.data?.policies ?? [];
  const policy = list.find(({ run }) => run === chosenRun) ?? list[0];
  const update = policy?.updates.find((one) => one === chosenUpdate) ?? policy?.updates.at(-1);
  const sample = useMutation({
    mutationFn: (input: { step: number; run: number; update: number; attempt: number }) =>
      call('episodes.resample', { ...input, episode: replay.id ?? 0, temperature: Number(temperature) }),
  });
  const go = (): void => {
    if (!policy || update === undefined) return;
    sample.mutate({ step, run: policy.run, update, attempt });
    setAttempt(attempt + 1);
  };
  return (
    <section className={styles.resample} aria-label="What another policy would have done">
      <header className={styles.resampleHead}>
        <span>Keep the first {step} steps, then go on with</span>
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
      {policies.data && list.length === 0 && (
        <p className={styles.muted}>No run of this world has kept a checkpoint, so there is no policy to ask.</p>
      )}
      {sample.isError && <ErrorState title="The policy could not go on" error={sample.error} />}
      {sample.data && (
        <div className={styles.branches}>
          <Branch title="As recorded" replay={replay} from={step} />
          <Branch
            title={`#${sample.data.replay.run.id} after update ${sample.data.replay.update}`}
            replay={sample.data.replay}
            from={step}
          />
        </div>
      )}
    </section>
  );
}

/** The steps from the branching point on. */
function Branch({ title, replay, from }: { title: string; replay: Replay; from: number }) {
  return (
    <div className={styles.branch}>
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
    </div>
  );
}

const product = (values: readonly number[]): number => values.reduce((all, value) => all * value, 1);
