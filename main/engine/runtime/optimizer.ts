// AdamW with decoupled weight decay (Loshchilov & Hutter) and clipping by the global norm, over the flat vectors: once as a loop for
// state in plain memory, once as graph nodes for state on a device. There, what changes with the step (learning rate, bias
// corrections) comes in as three scalars, and when loss or norm is not finite the coefficients become "keep everything".

import type { Graph, Tensor } from '../graph/graph.ts';
import { laneNumber } from './lanes.ts';
import * as op from '../graph/operators.ts';
import type { Group } from '../graph/parameters.ts';
import { isShared } from './shared-memory.ts';
import { type AdamWFactors, type AdamWVectors, adamWLoop } from '../kernels/vectors.ts';

export interface AdamWSettings {
  readonly beta1: number;
  readonly beta2: number;
  readonly epsilon: number;
  readonly weightDecay: number;
  /** Gradients are scaled down to this global norm; Infinity leaves them. */
  readonly clip: number;
}

export const ADAMW: AdamWSettings = { beta1: 0.9, beta2: 0.98, epsilon: 1e-8, weightDecay: 0.01, clip: 1 };

/** The scalars of one step, by the name of their graph input. */
export const SCALARS = ['stepSize', 'epsilon', 'keep'] as const;

/** `step` counts from 1. PyTorch's formulas, with the bias corrections moved into step size and ε. */
export function stepScalars(
  settings: AdamWSettings,
  learningRate: number,
  step: number,
): Readonly<Record<(typeof SCALARS)[number], number>> {
  const first = 1 - settings.beta1 ** step;
  const second = Math.sqrt(1 - settings.beta2 ** step);
  return { stepSize: (learningRate * second) / first, epsilon: settings.epsilon * second, keep: 1 - learningRate * settings.weightDecay };
}

/** What one step multiplies with; the caller has seen to it that the norm is finite. */
export function adamWFactors(
  settings: AdamWSettings,
  { learningRate, step, norm, decay }: { learningRate: number; step: number; norm: number; decay: boolean },
): AdamWFactors {
  const { stepSize, epsilon, keep } = stepScalars(settings, learningRate, step);
  const { beta1, beta2, clip } = settings;
  const factor = Math.min(1, clip / (norm + 1e-6));
  return {
    beta1,
    share1: (1 - beta1) * factor,
    beta2,
    share2: (1 - beta2) * factor * factor,
    kept: decay ? keep : 1,
    stepSize,
    epsilon,
  };
}

/** Numbers from which on a lane that helps saves more time than asking it takes. */
const WORTH_SHARING = 2 ** 18;

/** One step on one vector, shared out among this thread and lanes beside it where all of it lies in shared memory. Every number is changed for itself, so who does it makes no difference. */
export async function adamWInPlace(vectors: AdamWVectors, factors: AdamWFactors, threads = 1): Promise<void> {
  const { length } = vectors.values;
  const sharers = length >= WORTH_SHARING && Object.values(vectors).every(isShared) ? threads : 1;
  const part = (index: number): AdamWVectors => {
    const [begin, end] = [index, index + 1].map((i) => (i === sharers ? length : 4 * Math.floor((i * length) / sharers / 4)));
    const cut = (vector: Float32Array): Float32Array => vector.subarray(begin, end);
    return { values: cut(vectors.values), first: cut(vectors.first), second: cut(vectors.second), gradient: cut(vectors.gradient) };
  };
  const others = Array.from({ length: sharers - 1 }, (_, i) => laneNumber(i).ask({ kind: 'adamW', vectors: part(i + 1), factors }));
  adamWLoop(part(0), factors);
  await Promise.all(others);
}

export type Vectors = ReadonlyMap<Group, Tensor>;

/** √ of the sum of squares over all groups. */
export function globalNorm(gradients: Vectors): Tensor {
  const sums = [...gradients.values()].map((gradient) => op.reduceSum(op.square(gradient)));
  return op.sqrt(sums.reduce((a, b) => op.add(a, b)));
}

interface State {
  readonly values: Vectors;
  readonly first: Vectors;
  readonly second: Vectors;
}

/** The next state. `healthy` (a bool scalar) says whether the gradients may be used. */
export function adamW(graph: Graph, state: State, gradients: Vectors, norm: Tensor, healthy: Tensor, settings: AdamWSettings): State {
  return graph.scope('adamw', () => {
    const [stepSize, epsilon, keep] = SCALARS.map((name) => graph.input(name, 'float32', []));
    if (!stepSize || !epsilon || !keep) throw new Error('The three scalars of the step are declared together');
    const guarded = (used: Tensor | number, idle: number): Tensor =>
      op.where(healthy, typeof used === 'number' ? graph.scalar(used) : used, idle);
    const factor = Number.isFinite(settings.clip) ? op.minimum(op.div(settings.clip, op.add(norm, 1e-6)), 1) : graph.scalar(1);
    const beta1 = guarded(settings.beta1, 1);
    const beta2 = guarded(settings.beta2, 1);
    const share1 = guarded(op.mul(factor, 1 - settings.beta1), 0);
    const share2 = guarded(op.mul(op.square(factor), 1 - settings.beta2), 0);
    const size = guarded(stepSize, 0);
    const kept = guarded(keep, 1);

    const next = { values: new Map<Group, Tensor>(), first: new Map<Group, Tensor>(), second: new Map<Group, Tensor>() };
    for (const [group, raw] of gradients) {
      const [value, first, second] = [state.values.get(group), state.first.get(group), state.second.get(group)];
      if (!value || !first || !second) throw new Error(`The optimizer has gradients for "${group}" but no state`);
      const gradient = op.where(healthy, raw, 0);
      const m = op.add(op.mul(first, beta1), op.mul(gradient, share1));
      const v = op.add(op.mul(second, beta2), op.mul(op.square(gradient), share2));
      const change = op.mul(op.div(m, op.add(op.sqrt(v), epsilon)), size);
      next.values.set(group, op.sub(group === 'decay' ? op.mul(value, kept) : value, change));
      next.first.set(group, m);
      next.second.set(group, v);
    }
    return next;
  });
}

export interface Schedule {
  readonly learningRate: number;
  /** Steps from 0 up to the full rate. */
  readonly warmup: number;
  /** Share of the steps after the warm-up that stay at the full rate. */
  readonly flat: number;
  readonly decay: 'none' | 'linear' | 'cosine';
  /** The last step's rate as a share of the full one. */
  readonly final: number;
}

/** The learning rate of a step (counted from 0) out of `total`. */
export function learningRateAt(schedule: Schedule, step: number, total: number): number {
  const { learningRate, warmup, flat, decay, final } = schedule;
  if (step < warmup) return (learningRate * (step + 1)) / warmup;
  const start = warmup + flat * Math.max(0, total - warmup);
  if (decay === 'none' || step <= start) return learningRate;
  const progress = Math.min(1, (step - start) / Math.max(1, total - 1 - start));
  const left = decay === 'linear' ? 1 - progress : (1 + Math.cos(Math.PI * progress)) / 2;
  return learningRate * (final + (1 - final) * left);
}
