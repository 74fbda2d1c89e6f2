// The empty state of the whole lab: what it does, in three steps, and three ways to begin.

import { useState } from 'react';
import { useLocation } from 'wouter';
import { call, useCall } from '../bridge.ts';
import { Button, LinkButton } from '../components/button.tsx';
import { EmptyState } from '../components/states.tsx';
import { toastError } from '../state/toasts.ts';
import { importRuns } from '../state/transfer.ts';
import { SampleButton } from '../tour/sample-button.tsx';
import styles from './first-run.module.css';

/** Trains in about a minute. */
const DEMO = 'shop-minute';
const STEPS = [
  ['Set up', 'Choose a world, an algorithm and a seed. Presets give a good start, and every setting explains itself.'],
  ['Watch', 'Success, loss and KL live, with the episodes behind every point. Pause, step, resume.'],
  ['Understand', 'Replay any episode token by token, and compare algorithms on the same tasks with paired statistics.'],
] as const;

export function FirstRun({ dataFolder }: { dataFolder: string }) {
  return (
    <EmptyState
      title="Train your first agent"
      art={<Astrolabe />}
      actions={<Choices />}
      footnote={
        <>
          Everything runs on this machine; nothing is sent anywhere.
          {dataFolder && (
            <>
              {' '}
              Runs are stored in <code>{dataFolder}</code>.
            </>
          )}
        </>
      }
    >
      <p>
        A small language agent learns a multi-step task from text alone: it reads, chooses, acts and is rewarded. Watch how and why it
        improves.
      </p>
      <ol className={styles.steps}>
        {STEPS.map(([name, words], index) => (
          <li key={name}>
            <span className={styles.number}>{index + 1}</span>
            <strong>{name}</strong>
            <p>{words}</p>
          </li>
        ))}
      </ol>
    </EmptyState>
  );
}

/** Three ways to begin, one click each. */
function Choices() {
  const [, navigate] = useLocation();
  const presets = useCall('setup.presets', {});
  const [busy, setBusy] = useState(false);
  const demo = presets.data?.presets.find(({ id }) => id === DEMO);
  const train = async (): Promise<void> => {
    if (!demo) return;
    setBusy(true);
    try {
      const order = { config: demo.config, seeds: '1', sweep: [] };
      const { runs } = await call('queue.add', { order, preset: DEMO, tags: [] });
      navigate(`/runs/${runs[0] ?? ''}`);
    } catch (error) {
      toastError('The demo was not started', error);
      setBusy(false);
    }
  };
  return (
    <>
      <Button kind="primary" icon="start" disabled={!demo || busy} onClick={() => void train()}>
        Train the demo now
      </Button>
      <SampleButton />
      <Button icon="upload" onClick={() => void importRuns(null, navigate)}>
        Import runs…
      </Button>
      <LinkButton href="/new">Set up a run</LinkButton>
    </>
  );
}

const TICKS = Array.from({ length: 72 }, (_, index) => index * 5);

/** The instrument the lab is named after, with a learning curve engraved where the star map would be. */
function Astrolabe() {
  return (
    <svg className={styles.art} width="132" height="140" viewBox="0 0 132 140" fill="none" aria-hidden="true">
      <g className={styles.engraving}>
        <circle cx="66" cy="12" r="6" />
        <path d="M66 18v6" />
        <circle cx="66" cy="78" r="54" />
        <circle cx="66" cy="78" r="46" />
        {TICKS.map((angle) => (
          <line key={angle} x1="66" y1={angle % 30 === 0 ? 32 : 28} x2="66" y2="25" transform={`rotate(${angle} 66 78)`} />
        ))}
        <circle cx="70" cy="84" r="28" className={styles.faint} />
        <circle cx="66" cy="78" r="38" className={styles.faint} />
        <path d="M20 78h92M66 32v92" className={styles.faint} />
      </g>
      <path className={styles.curve} d="M30 104c10-1 13-4 19-12 6-9 9-20 18-25 9-6 19-6 33-8" />
      <g className={styles.pointer}>
        <path d="M33 111 99 45" />
        <circle cx="66" cy="78" r="3.4" />
      </g>
      <path className={styles.star} d="m102 50 2.3 6.7 6.7 2.3-6.7 2.3-2.3 6.7-2.3-6.7-6.7-2.3 6.7-2.3z" />
    </svg>
  );
}
