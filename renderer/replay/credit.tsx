// Credit: which step earned or lost the reward of this episode. Under every step the advantage that each method gives, beside how many of K
// continuations from there succeed; the step where the chance to succeed fell most is marked. Worked out on demand and kept while the window is open.

import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { z } from 'zod';
import type { EpisodeCredit } from '../../main/lab/features/credit.ts';
import type { Replay } from '../../main/lab/features/episodes.ts';
import { call, CallError, useEvent } from '../bridge.ts';
import { Button } from '../components/button.tsx';
import { Select } from '../components/field.tsx';
import { Progress } from '../components/stat.tsx';
import { ErrorState } from '../components/states.tsx';
import { Cell, Head, Row, Table } from '../components/table.tsx';
import { formatDuration, formatValue } from '../format.ts';
import { useView } from '../state/view.ts';
import util from '../theme/utilities.module.css';
import styles from './credit.module.css';

const BRANCHES = ['4', '8', '16', '32'] as const;
const GROUP = 8;

/** What each method is, for the heads of the columns. */
const METHODS = [
  ['episode', 'GRPO', 'the same for every step: reward less the mean of the group'],
  ['anchor', 'GiGPO', 'the episode’s, plus the discounted return from here against steps that begin in the same state'],
  ['history', 'HGPO', 'the same for equal last states, longer agreement weighing more'],
  ['graph', 'GraphGPO', 'the episode’s, plus how near to success the step leads in the graph of all episodes'],
  ['branch', 'VinePPO', 'what the step changed in the exact value'],
] as const;

interface CreditProps {
  replay: Replay;
  position: number;
  onStep: (position: number) => void;
}

export function CreditPanel({ replay, position, onStep }: CreditProps) {
  const episode = replay.id ?? 0;
  const [branches, setBranches] = useView('replay.branches', z.enum(BRANCHES), '16');
  const [progress, setProgress] = useState<{ done: number; total: number; secondsLeft: number } | null>(null);
  useEvent('credit.progress', (now) => now.episode === episode && setProgress(now));
  const credit = useQuery({
    queryKey: ['credit.episode', episode, branches],
    queryFn: () => call('credit.episode', { episode, group: GROUP, branches: Number(branches) }),
    enabled: false,
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: Number.POSITIVE_INFINITY,
  });
  const start = (): void => {
    setProgress(null);
    void credit.refetch();
  };
  const cancelled = credit.error instanceof CallError && credit.error.code === 'cancelled';
  return (
    <section className={styles.credit} aria-label="Credit">
      <header className={styles.head}>
        <span>Play on from the state before every step,</span>
        <Select
          aria-label="Continuations"
          value={branches}
          options={BRANCHES.map((value) => ({ value, label: `${value} times` }))}
          onValue={(value) => setBranches(z.enum(BRANCHES).parse(value))}
        />
        {credit.isFetching ? (
          <span className={styles.busy} role="status">
            <Progress label="Credit" value={progress && progress.done / progress.total} />
            <span className={util.muted}>
              {progress ? `${progress.done} of ${progress.total} episodes, ${formatDuration(progress.secondsLeft)} left` : 'starting'}
            </span>
            <Button onClick={() => void call('credit.cancel', {})}>Cancel</Button>
          </span>
        ) : (
          <Button kind="primary" onClick={start}>
            {credit.data ? 'Again' : 'Show credit'}
          </Button>
        )}
      </header>
      {credit.isError && !cancelled && !credit.isFetching && <ErrorState title="Could not work out the credit" error={credit.error} />}
      {credit.data && <Found credit={credit.data} position={position} onStep={onStep} />}
    </section>
  );
}

function Found({ credit, position, onStep }: { credit: EpisodeCredit; position: number; onStep: (position: number) => void }) {
  const { steps, lostAt, update, cost } = credit;
  const trained = steps.some((step) => step.trained !== null);
  const largest = Math.max(1e-9, ...steps.flatMap((step) => METHODS.map(([method]) => Math.abs(step.advantages[method]))));
  return (
    <>
      <p role="status" className={styles.verdict}>
        {lostAt === null
          ? credit.success
            ? 'The episode succeeded.'
            : 'The chance to succeed fell nowhere: it was nothing from the start.'
          : `Lost at step ${lostAt}: there the chance to succeed fell most.`}
      </p>
      <div className={styles.scroll}>
        <Table label="Credit of each step">
          <thead>
            <tr>
              <Head>Step</Head>
              <Head>Action</Head>
              <Head>Succeed from here</Head>
              {METHODS.map(([method, name, meaning]) => (
                <Head key={method} numeric>
                  <span title={meaning}>{name}</span>
                </Head>
              ))}
              {trained && <Head numeric>Trained</Head>}
            </tr>
          </thead>
          <tbody>
            {steps.map(({ step, action, advantages, exact, trained: given }) => (
              <Row key={step} selected={step === position + 1} onClick={() => onStep(step - 1)}>
                <Cell>
                  <button type="button" className={styles.step} onClick={() => onStep(step - 1)}>
                    {step}
                  </button>
                  {step === lostAt && <strong className={styles.lost}> lost here</strong>}
                </Cell>
                <Cell>
                  <code className={styles.action}>{action}</code>
                </Cell>
                <Cell>
                  <span
                    className={styles.chance}
                    title={`95% interval ${formatValue(exact.low, 'share')}–${formatValue(exact.high, 'share')}`}
                  >
                    <span className={styles.bar}>
                      <span
                        className={styles.interval}
                        style={{ left: `${100 * exact.low}%`, width: `${100 * (exact.high - exact.low)}%` }}
                      />
                      <span className={styles.value} style={{ left: `${100 * exact.value}%` }} />
                    </span>
                    {exact.k} of {exact.n}
                  </span>
                </Cell>
                {METHODS.map(([method]) => (
                  <Advantage key={method} value={advantages[method]} largest={largest} />
                ))}
                {trained && <Cell numeric>{given === null ? '' : formatValue(given)}</Cell>}
              </Row>
            ))}
          </tbody>
        </Table>
      </div>
      <p className={util.muted}>
        Advantages in reward, of this episode in a group of {credit.group}. Played with the checkpoint of update {update} at temperature 1:{' '}
        {cost.episodes} episodes, {cost.steps} steps.
      </p>
    </>
  );
}

/** Two digits after the point, so that columns line up. */
const signed = (value: number): string => (Math.abs(value) < 0.005 ? '0' : `${value > 0 ? '+' : '−'}${Math.abs(value).toFixed(2)}`);

function Advantage({ value, largest }: { value: number; largest: number }) {
  const tone = Math.abs(value) < 1e-6 ? undefined : value > 0 ? 'up' : 'down';
  const colour = tone === 'up' ? 'var(--success)' : 'var(--failure)';
  const background = tone && `color-mix(in srgb, ${colour} ${Math.round((30 * Math.abs(value)) / largest)}%, transparent)`;
  return (
    <td className={styles.advantage} style={{ background }}>
      {signed(value)}
    </td>
  );
}
