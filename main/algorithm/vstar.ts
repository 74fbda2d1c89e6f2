// Stage 1 of A*PO: V*(x), the optimal soft value of a task, from the rewards of N reference samples. The smooth maximum
// β1 · ln mean exp(r/β1) is computed as a stable log-mean-exp; `max` (the failed system's) and `mean` are its limits for
// β1 → 0 and β1 → ∞. Sampling and caching live in
// training/vstar-stage.ts; this file is only the mathematics.

import { z } from 'zod';
import { between, group, knob, whole } from '../base/knob.ts';
import type { Trajectory } from '../rollout/trajectory.ts';
import { mean } from '../base/statistics.ts';

export const RewardKind = z.enum(['binary', 'shaped']);
export type RewardKind = z.infer<typeof RewardKind>;

export const VstarSettings = group(
  {
    estimator: knob(
      z.enum(['smooth-max', 'max', 'mean']),
      'smooth-max',
      'How N rewards become one value: the smooth maximum β1·ln mean exp(r/β1) of the paper, the plain maximum, or the plain mean. In a world with chance only the mean is unbiased.',
    ),
    reward: knob(
      RewardKind,
      'binary',
      'Reward that V* is estimated from: 1 for success and 0 otherwise, or the return with all its partial rewards.',
    ),
    beta1: knob(between(1e-6, 1e6), 0.5, 'Softness of the smooth maximum: near 0 it is the maximum, large it is the mean.', 'reward'),
    samples: knob(
      z.array(whole(1, 256)).min(1).max(8),
      [8],
      'Reference samples per task. Several values are an adaptive schedule: training is cut into as many equal parts, and a task met for the first time in a part gets that many samples (8, 4, 2).',
      'episodes',
    ),
    dropUnsolved: knob(z.boolean(), false, 'Leave tasks that no reference sample solved out of training (off in the original code).'),
  },
  'Stage 1: the optimal soft value V* of each training task, from samples of the reference policy.',
);
export type VstarSettings = z.infer<typeof VstarSettings>;

/** Part of a list that applies at update `update` (0-based) of `updates`: equal parts in order. */
export function scheduled(values: readonly number[], update: number, updates: number): number {
  const part = Math.min(values.length - 1, Math.floor((Math.max(0, update) / Math.max(1, updates)) * values.length));
  const value = values[part];
  if (value === undefined)
    throw new RangeError('A schedule needs at least one value; found an empty list. Give one number, for example [1].');
  return value;
}

/** max + β·ln mean exp((r − max)/β): never overflows, exact when all rewards are equal. */
export function smoothMaximum(rewards: ArrayLike<number>, beta: number): number {
  if (rewards.length === 0) throw new RangeError('V* needs at least one reward; found none. Sample the task before asking for its value.');
  let top = -Infinity;
  for (let i = 0; i < rewards.length; i++) top = Math.max(top, rewards[i]!);
  let sum = 0;
  for (let i = 0; i < rewards.length; i++) sum += Math.exp((rewards[i]! - top) / beta);
  return top + beta * Math.log(sum / rewards.length);
}

export function vstarOf(rewards: ArrayLike<number>, settings: Pick<VstarSettings, 'estimator' | 'beta1'>): number {
  if (settings.estimator === 'smooth-max') return smoothMaximum(rewards, settings.beta1);
  if (rewards.length === 0) throw new RangeError('V* needs at least one reward; found none. Sample the task before asking for its value.');
  if (settings.estimator === 'mean') return mean(rewards);
  let top = -Infinity;
  for (let i = 0; i < rewards.length; i++) top = Math.max(top, rewards[i]!);
  return top;
}

/** r(x, y) of a trajectory. */
export function rewardOf(trajectory: Pick<Trajectory, 'success' | 'return'>, kind: RewardKind): number {
  return kind === 'binary' ? (trajectory.success ? 1 : 0) : trajectory.return;
}
