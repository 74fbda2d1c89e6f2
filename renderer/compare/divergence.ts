// Two episodes on the same task, step by step: until where they said the same, and where they part. No React in here.

import type { Replay, ReplayStep } from '../../main/lab/features/episodes.ts';

export interface AlignedStep {
  readonly a: ReplayStep | undefined;
  readonly b: ReplayStep | undefined;
  readonly same: boolean;
}

export interface Alignment {
  readonly steps: readonly AlignedStep[];
  /** Index of the first step where they did something else; null when they did the same throughout. */
  readonly divergence: number | null;
}

/** Worlds are deterministic: as long as the actions are the same, so is everything else. */
export function align(a: Replay, b: Replay): Alignment {
  const length = Math.max(a.steps.length, b.steps.length);
  const steps = Array.from({ length }, (_, index): AlignedStep => {
    const [left, right] = [a.steps[index], b.steps[index]];
    return { a: left, b: right, same: left !== undefined && left.action === right?.action };
  });
  const divergence = steps.findIndex(({ same }) => !same);
  return { steps, divergence: divergence < 0 ? null : divergence };
}
