// Two policies on the same task, aligned step by step, with the first divergence marked.

import { useQueries } from '@tanstack/react-query';
import type { ComparedRun, Matrix } from '../../main/lab/features/compare.ts';
import type { Replay, ReplayStep } from '../../main/lab/features/episodes.ts';
import { callOptions } from '../bridge.ts';
import { Select } from '../components/field.tsx';
import { Icon } from '../components/icons.tsx';
import { Section } from '../components/page.tsx';
import { Badge } from '../components/stat.tsx';
import { ErrorState, Loading } from '../components/states.tsx';
import { formatValue } from '../format.ts';
import { WorldPage } from '../components/world-page.tsx';
import type { Pairing } from './compare-page.tsx';
import { align } from './divergence.ts';
import util from '../theme/utilities.module.css';
import styles from './compare.module.css';

interface SideBySideProps {
  runs: readonly ComparedRun[];
  matrix: Matrix;
  task: string;
  pair: Pairing;
  onPair: (pair: Pairing) => void;
}

export function SideBySide({ runs, matrix, task, pair, onPair }: SideBySideProps) {
  const { tasks, columns } = matrix;
  const row = tasks.findIndex((one) => one.task === task);
  const playable = columns.filter(({ episode }) => (episode[row] ?? 0) > 0);
  // At first one that solved it beside one that did not.
  const solver = playable.find(({ outcome }) => outcome[row] === 1) ?? playable[0];
  const other =
    playable.find((column) => column !== solver && column.outcome[row] !== solver?.outcome[row]) ??
    playable.find((column) => column !== solver);
  const a = playable.find(({ run }) => run === pair.left) ?? solver;
  const b = playable.find(({ run }) => run === pair.right) ?? other;
  const replays = useQueries({
    queries: [a, b].flatMap((column) => (column ? [callOptions('episodes.read', { episode: column.episode[row] ?? 0 })] : [])),
  });
  const [first, second] = replays;
  const option = (run: number) => {
    const one = runs.find((candidate) => candidate.run === run);
    return { value: String(run), label: `#${run} ${one?.name ?? ''} (${one?.variant ?? ''}, seed ${one?.seed ?? ''})` };
  };
  const failed = replays.find(({ isError }) => isError);
  return (
    <Section title="Side by side" tourId="side-by-side" hint="Two policies on the same task. The first action that differs is marked.">
      <div className={styles.pickers}>
        <Select
          aria-label="Task"
          value={task}
          options={tasks.map((one) => ({ value: one.task, label: one.task }))}
          onValue={(next) => onPair({ task: next, left: a?.run ?? 0, right: b?.run ?? 0 })}
        />
        <Select
          aria-label="Left run"
          value={String(a?.run ?? '')}
          options={playable.map(({ run }) => option(run))}
          onValue={(value) => onPair({ task, left: Number(value), right: b?.run ?? 0 })}
        />
        <Select
          aria-label="Right run"
          value={String(b?.run ?? '')}
          options={playable.map(({ run }) => option(run))}
          onValue={(value) => onPair({ task, left: a?.run ?? 0, right: Number(value) })}
        />
      </div>
      {(!a || !b) && <p className={util.muted}>Fewer than two of these runs stored an episode of this task.</p>}
      {failed && <ErrorState title="Could not read the episodes" error={failed.error} />}
      {first?.data && second?.data ? (
        <Aligned a={first.data.replay} b={second.data.replay} />
      ) : (
        a && b && !failed && <Loading label="Loading episodes" />
      )}
    </Section>
  );
}

function Aligned({ a, b }: { a: Replay; b: Replay }) {
  const { steps, divergence } = align(a, b);
  return (
    <div className={styles.aligned}>
      <p className={styles.taskText}>{a.instruction}</p>
      <p role="status" className={styles.parting}>
        {divergence === null
          ? `Identical in all ${steps.length} steps.`
          : divergence === 0
            ? 'They diverge at step 1.'
            : `Identical for ${divergence} ${divergence === 1 ? 'step' : 'steps'}; they diverge at step ${divergence + 1}.`}
      </p>
      <div className={styles.pairRow}>
        <EpisodeTitle replay={a} />
        <EpisodeTitle replay={b} />
      </div>
      {steps.map(({ a: left, b: right, same }, index) => (
        <div key={index} className={styles.alignedStep} data-divergence={index === divergence || undefined} data-same={same || undefined}>
          {index === divergence && (
            <p className={styles.divergence}>
              <Icon name="compare" size={14} /> First divergence, step {index + 1}
            </p>
          )}
          <div className={styles.pairRow}>
            <Side step={left} number={index + 1} open={index === divergence} />
            <Side step={right} number={index + 1} open={index === divergence} />
          </div>
        </div>
      ))}
      <div className={styles.pairRow}>
        <p className={util.muted}>End: {a.finalObservation}</p>
        <p className={util.muted}>End: {b.finalObservation}</p>
      </div>
    </div>
  );
}

function EpisodeTitle({ replay }: { replay: Replay }) {
  return (
    <p className={styles.episodeTitle}>
      <a href={`#/replay/${replay.run.id}/${replay.id}`}>
        #{replay.run.id} {replay.run.name}
      </a>
      <Badge tone={replay.success ? 'success' : 'failure'}>{replay.success ? 'success' : (replay.diagnosis?.failure ?? 'failure')}</Badge>
      <span className={util.muted}>
        return {formatValue(replay.return)}, {replay.steps.length} steps
      </span>
    </p>
  );
}

function Side({ step, number, open }: { step: ReplayStep | undefined; number: number; open: boolean }) {
  if (!step) return <p className={util.muted}>ended</p>;
  const probability = step.words.reduce((all, word) => all * (word.probability ?? 1), 1);
  return (
    <div className={styles.sideStep}>
      {open && (
        <div className={styles.sidePage}>
          <WorldPage page={step.page} action={step.action} />
        </div>
      )}
      <p>
        <span className={styles.stepNumber}>{number}</span> <code className={styles.action}>{step.action}</code>{' '}
        <span className={util.muted}>
          {step.words.length > 0 && `p = ${formatValue(probability, 'share')}`}
          {step.reward !== 0 && `, reward ${formatValue(step.reward)}`}
        </span>
      </p>
      {step.thought && <p className={util.muted}>“{step.thought}”</p>}
    </div>
  );
}
