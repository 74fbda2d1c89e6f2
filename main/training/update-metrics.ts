// The metrics of one update, collected from everything that happened in it. What each means is in metrics/glossary.ts.

import type { Prepared } from '../algorithm/algorithm.ts';
import { scheduled } from '../algorithm/vstar.ts';
import type { RunConfig } from '../config/config.ts';
import type { DeviceCounts } from '../engine/gpu/device-counters.ts';
import type { StepReport } from '../engine/runtime/training-step.ts';
import { rolloutMetrics } from '../metrics/recorder.ts';
import { type Trajectory, tokenCount } from '../rollout/trajectory.ts';
import { at } from '../base/indexed.ts';
import type { TrainingMemory } from './memory.ts';
import type { RunParts, UpdateTime } from './training-run.ts';
import type { VstarStage } from './vstar-stage.ts';

export interface UpdateParts {
  readonly update: number;
  readonly rates: { readonly level: number; readonly temperature: number; readonly learningRate: number };
  readonly trajectories: readonly Trajectory[];
  readonly prepared: Prepared;
  /** Undefined where the algorithm kept no episode. */
  readonly step: StepReport | undefined;
}

export function updateMetrics(
  run: RunParts,
  memory: TrainingMemory,
  { update, trajectories, prepared, step, rates }: UpdateParts,
  time: UpdateTime,
): Readonly<Record<string, number>> {
  const { config, groups, recorder, system, setup, vstar } = run;
  const tokens = tokenCount(trajectories);
  recorder.record({
    ...groups.metrics(trajectories),
    ...rolloutMetrics(trajectories),
    ...prepared.metrics,
    ...step?.metrics,
    ...(step && stepMetrics(step, config.training.clip)),
    'rollout.temperature': rates.temperature,
    'rollout.level': rates.level,
    learningRate: rates.learningRate,
    'update.episodes': prepared.keep.filter(Boolean).length,
    'update.tokens': tokenCount(trajectories.filter((_, index) => at(prepared.keep, index))),
    episodes: memory.totals.episodes + trajectories.length,
    tokens: memory.totals.tokens + tokens,
    optimizerSteps: run.state.step,
    'system/time.environment': time.environment,
    'system/time.total': time.total,
    'system/speed.episodes': trajectories.length / time.total,
    'system/speed.tokens': tokens / time.total,
    ...system.sample(),
    ...deviceMetrics(run.counters.take(), 4 * setup.layout.count),
    ...(setup.algorithm.needs.vstar && vstarMetrics(vstar, config, update)),
  });
  return recorder.take();
}

/** Nothing on the CPU, where nothing is counted. `size`: of the weights, in bytes. */
const deviceMetrics = (
  { calls, kernels, bytesUploaded, bytesDownloaded, hostWaitSeconds, tokens, sampling, learning }: DeviceCounts,
  size: number,
): Record<string, number> =>
  calls === 0
    ? {}
    : {
        'system/device.calls': calls,
        'system/device.kernels': kernels,
        'system/device.up': bytesUploaded / 1e6,
        'system/device.down': bytesDownloaded / 1e6,
        'system/device.waiting': hostWaitSeconds,
        ...(tokens > 0 && { 'system/device.perToken': sampling / tokens }),
        'system/device.learning': (100 * learning) / size,
      };

const stepMetrics = ({ loss, gradientNorm }: StepReport, clip: number): Record<string, number> => ({
  loss,
  'gradient.norm': gradientNorm,
  'gradient.clipped': gradientNorm > clip ? 1 : 0,
});

function vstarMetrics(vstar: VstarStage, config: RunConfig, update: number): Record<string, number> {
  const { values } = vstar;
  const count = Math.max(1, values.length);
  return {
    'vstar.mean': values.reduce((sum, { value }) => sum + value, 0) / count,
    'vstar.unsolved': values.filter(({ success }) => success === 0).length / count,
    'vstar.episodes': values.reduce((sum, { samples }) => sum + samples, 0),
    'system/vstar.cached': vstar.cached,
    'vstar.samples': scheduled(config.vstar.samples, update - 1, config.training.updates),
  };
}
