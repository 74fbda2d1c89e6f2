// How far a run is in each of its stages, and how long the current one still takes. No React in here.

import type { LiveProgress, RunRow, Stage } from '../../main/lab/features/runs.ts';
import { formatDuration } from '../format.ts';
import { secondsLeft } from '../state/seconds-left.ts';

export interface StageProgress {
  readonly stage: Stage;
  readonly name: string;
  /** 0 … 1; null while it is under way and cannot be counted yet. */
  readonly share: number | null;
  readonly current: boolean;
}

const NAMES: Readonly<Record<Stage, string>> = { reference: 'Reference', vstar: 'V*', training: 'Training', test: 'Test' };

type Progressed = Pick<RunRow, 'state' | 'updates' | 'planned' | 'seconds' | 'pace'>;

/** Which stage it is in; what it reported last counts, else what its record says. Null before the first. */
function currentStage({ updates }: Progressed, progress: LiveProgress | null): Stage | null {
  return progress?.stage ?? (updates > 0 ? 'training' : null);
}

export function stageProgress(run: Progressed, stages: readonly Stage[], progress: LiveProgress | null): StageProgress[] {
  const now = currentStage(run, progress);
  const at = now === null ? -1 : stages.indexOf(now);
  const done = run.state === 'done';
  return stages.map((stage, index) => {
    const current = index === at && !done;
    const counted = stage === 'training' ? run.updates / Math.max(1, run.planned) : progress && progress.done / Math.max(1, progress.total);
    return { stage, name: NAMES[stage], share: done || index < at ? 1 : current ? counted : 0, current };
  });
}

/** What a run does and how long its current stage still takes, in words: "V*, 128 of 512 tasks · about 20 s left". */
export function doingWords(run: Progressed, progress: LiveProgress | null): string {
  if (!progress) return run.updates > 0 ? leftWords(secondsLeft(run), 'training') : 'before the first update';
  const { stage, phase, done, total } = progress;
  const training = stage === 'training';
  const count = training || total <= 1 ? '' : `, ${Math.round(done)} of ${Math.round(total)}`;
  return leftWords(training ? secondsLeft(run) : progress.secondsLeft, `${phase}${count}`);
}

const leftWords = (seconds: number | null, words: string): string =>
  seconds === null ? words : `${words} · about ${formatDuration(seconds)} left`;
