// How far a run is and how long it still takes, in the same numbers and words wherever that stands. No React in here.

import type { RunRow, Stage } from '../../main/lab/features/runs.ts';
import { formatDuration } from '../format.ts';

export type Progressed = Pick<RunRow, 'state' | 'updates' | 'planned' | 'seconds' | 'pace' | 'progress'>;

/** Of training, from its speed lately, else from that of all its updates; null before the first. */
export function secondsLeft({ updates, planned, seconds, pace }: Pick<RunRow, 'updates' | 'planned' | 'seconds' | 'pace'>): number | null {
  const perUpdate = pace ?? (updates > 0 && seconds > 0 ? seconds / updates : null);
  return perUpdate === null ? null : (planned - updates) * perUpdate;
}

/** Updates done of those planned, 0 … 1. */
export const shareDone = ({ updates, planned }: Pick<RunRow, 'updates' | 'planned'>): number | null =>
  planned > 0 ? Math.min(1, updates / planned) : null;

const SHORT: Readonly<Record<Stage, string>> = { reference: 'cloning', vstar: 'valuing tasks (V*)', training: 'training', test: 'testing' };

interface StageNow {
  /** Of the stage, 0 … 1; null while it cannot be counted. */
  readonly share: number | null;
  /** "cloning 61%, 12 s left"; in training only how long that still takes. */
  readonly words: string;
}

/** The stage that a run is in, in few words. */
export function stageNow(run: Progressed): StageNow {
  const { progress } = run;
  if (!progress || progress.stage === 'training') {
    const left = secondsLeft(run);
    return { share: shareDone(run), words: left === null ? 'starting' : `${formatDuration(left)} left` };
  }
  const { stage, phase, done, total, secondsLeft: left } = progress;
  const share = total > 0 ? Math.min(1, done / total) : null;
  const name = stage === null ? phase : SHORT[stage];
  const counted = share === null ? name : `${name} ${Math.floor(100 * share)}%`;
  // Cloning ends earlier when the reference is good enough.
  const most = stage === 'reference' ? '≤ ' : '';
  return { share, words: left === null ? counted : `${counted}, ${most}${formatDuration(left)} left` };
}

/** What it does in full, and how long its stage still takes: "valuing tasks (V*), 128 of 512 · about 20 s left". */
export function doingWords(run: Progressed): string {
  const { progress } = run;
  if (!progress) return run.updates > 0 ? leftWords(secondsLeft(run), 'training') : 'before the first update';
  const { stage, phase, done, total } = progress;
  const training = stage === 'training';
  const count = training || total <= 1 ? '' : `, ${Math.round(done)} of ${Math.round(total)}`;
  return leftWords(training ? secondsLeft(run) : progress.secondsLeft, `${phase}${count}`, stage === 'reference' ? 'at most' : 'about');
}

const leftWords = (seconds: number | null, words: string, about = 'about'): string =>
  seconds === null ? words : `${words} · ${about} ${formatDuration(seconds)} left`;
