// The head of a run: its state, its progress through its stages with an estimate, and the numbers that sum it up.

import type { Proportion } from '../../main/base/shapes.ts';
import type { RunRow, Stage } from '../../main/lab/features/runs.ts';
import { percent, points } from '../../main/base/format.ts';
import { stages as allStages } from '../../main/base/vocabulary.ts';
import { useCall } from '../bridge.ts';
import { RunStateBadge } from '../components/run-state.tsx';
import { Progress, Stat, Stats } from '../components/stat.tsx';
import { formatDuration, formatValue } from '../format.ts';
import { doingWords, shareDone } from '../state/progress.ts';
import { stageProgress } from './stages.ts';
import styles from './live.module.css';

const whole = new Intl.NumberFormat('en');
const ENDED: readonly RunRow['state'][] = ['done', 'failed', 'stopped'];

/** A reason of more characters gets a line of its own. */
const LONG = 100;

interface OverviewProps {
  run: RunRow;
  /** What was asked of it and has not happened yet. */
  asked: string | null;
}

export function Overview({ run, asked }: OverviewProps) {
  const live = run.state === 'running' || run.state === 'stopping';
  const { stages = allStages, advice = [], device = null, validationTemperature = 0 } = useCall('runs.get', { run: run.id }).data ?? {};
  // A run that was paused before its first update says how far its stage was.
  const stage = live || (run.state === 'paused' && run.updates === 0 && run.progress) ? doingWords(run) : '';
  const words = [live ? '' : run.reason, stage, asked].filter(Boolean).join(' · ');
  const long = words.length > LONG;
  return (
    <section className={styles.overview} aria-label="Run status">
      <div className={styles.progress}>
        <div className={styles.progressLine}>
          <RunStateBadge state={run.state} />
          <span>
            Update <strong data-testid="updates">{whole.format(run.updates)}</strong> of {whole.format(run.planned)}
          </span>
          {!long && <span className={styles.remark}>{words}</span>}
        </div>
        {ENDED.includes(run.state) ? <Progress label="Run progress" value={shareDone(run)} /> : <Stages {...{ run, stages }} />}
      </div>
      <Numbers {...{ run, validationTemperature }} />
      {long && <p className={styles.across}>{words}</p>}
      {device !== null && (
        <p className={`${styles.remark} ${styles.across}`} data-testid="device">
          {device}
        </p>
      )}
      {advice.length > 0 && (
        <ul className={`${styles.remark} ${styles.across}`} aria-label="Time and memory">
          {advice.map((text) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Stages({ run, stages }: { run: RunRow; stages: readonly Stage[] }) {
  return (
    <ol className={styles.stages} aria-label="Stages">
      {stageProgress(run, stages).map(({ stage, name, share, current }) => (
        <li key={stage} data-stage={stage} aria-current={current ? 'step' : undefined}>
          <Progress label={name} value={share} />
          <span>{name}</span>
        </li>
      ))}
    </ol>
  );
}

function Numbers({ run, validationTemperature }: { run: RunRow; validationTemperature: number }) {
  const { test, validation, best } = run;
  return (
    <Stats>
      <Stat
        label="Test success"
        value={test ? formatValue(test.rate, 'share') : '–'}
        note={test ? `${counted(test)}${drawn(test.temperature)}` : 'after training'}
      />
      <Stat
        label="Validation success"
        value={validation ? formatValue(validation.rate, 'share') : '–'}
        note={
          validation
            ? `${counted(validation)}${drawn(validationTemperature)}, update ${validation.update}`
            : run.state === 'done'
              ? 'none was made'
              : 'not evaluated yet'
        }
      />
      <Stat
        label="Best validation"
        value={best ? formatValue(best.rate, 'share') : '–'}
        note={best ? `${best.k} of ${best.n}${drawn(validationTemperature)}, update ${best.update}` : ''}
      />
      <Stat label="Episodes" value={whole.format(run.episodes)} note={`${whole.format(run.tokens)} tokens`} />
      <Stat
        label="Time"
        value={formatDuration(run.seconds)}
        note={run.seconds > 0 ? `${formatValue(run.updates / run.seconds)} updates/s` : ''}
      />
    </Stats>
  );
}

const counted = ({ low, high, k, n }: Proportion): string => `${points(low)}–${percent(high)}, ${k} of ${n}`;
/** How actions were chosen, where they were not the likeliest ones. */
const drawn = (temperature: number): string => (temperature > 0 ? `, temperature ${temperature}` : '');
