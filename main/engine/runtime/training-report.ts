// The types that all parts of a training step share: what goes in, what is changed, what is reported.

import { at } from '../../base/indexed.ts';
import type { DeviceParameters } from '../gpu/device-parameters.ts';
import type { Flat } from '../graph/parameters.ts';
import type { Feeds } from './session.ts';
import type { Build } from '../graph/training-graphs.ts';

export interface MicroBatch {
  /** Names the graph: micro-batches with the same key share one session. Shapes and loss must be the same. */
  readonly key: string;
  readonly build: Build;
  readonly feeds: Feeds;
}

export interface StepReport {
  readonly loss: number;
  /** Before clipping. */
  readonly gradientNorm: number;
  readonly metrics: Readonly<Record<string, number>>;
}

/** Everything that a step changes. The arrays are the live ones where the state is in plain memory. */
export interface TrainingState {
  readonly values: Flat;
  readonly first: Flat;
  readonly second: Flat;
  /** Optimizer steps done. */
  step: number;
}

/** Where weights and optimizer state live, and who changes them. */
export interface StateKeeper {
  /**
   * Leaves everything as it is when loss or norm is not finite (the caller looks at the report), and when the signal is aborted, which is looked
   * at before every micro-batch while the state is still that of before the step.
   */
  step(batches: readonly MicroBatch[], learningRate: number, signal?: AbortSignal): Promise<StepReport>;
  gradients(batches: readonly MicroBatch[]): Promise<{ report: StepReport; gradients: Flat }>;
  /** Brings the training state's arrays up to date. */
  download(): Promise<void>;
  dispose(): Promise<void>;
  /** The parameters on the device, for sampling and scoring there; undefined where the state is in plain memory. */
  readonly parameters?: DeviceParameters;
}

/** Loss, norm and metrics lie in one vector. */
export function readReport(numbers: Float32Array, metrics: readonly string[]): StepReport {
  return {
    loss: at(numbers, 0),
    gradientNorm: at(numbers, 1),
    metrics: Object.fromEntries(metrics.map((name, i) => [name, at(numbers, i + 2)])),
  };
}
