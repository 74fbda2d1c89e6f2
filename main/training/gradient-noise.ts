// How noisy a run's gradient is at a checkpoint: several batches of fresh episodes are played with the same weights, and the gradients of
// the algorithm's loss are compared. Nothing is learned and nothing is stored. With K batches of gradients g: signal² is an unbiased
// estimate of |E g|², noise is the trace of their covariance; noise ÷ signal² is how many such batches one step would need for a
// signal as large as its noise.

import type { RunConfig } from '../config/config.ts';
import { neverAborted } from './abort.ts';
import type { TrainingHost } from './host.ts';
import { collect } from './train.ts';
import { type TrainingRun, openTraining } from './training-run.ts';
import { stageOne } from './vstar-stage.ts';

export interface GradientNoise {
  readonly update: number;
  readonly batches: number;
  /** Batches in which the algorithm kept no episode or the gradient was 0. */
  readonly silent: number;
  readonly episodes: number;
  readonly success: number;
  /** Norm of the mean gradient, and the mean norm. */
  readonly meanNorm: number;
  readonly norm: number;
  readonly signal: number;
  readonly noise: number;
  /** noise ÷ signal²; null where no signal was found. */
  readonly ratio: number | null;
  /** Mean cosine between two batches' gradients; null where fewer than two have one. */
  readonly cosine: number | null;
}

/** Gradients at a run's checkpoint (`host.resumeFrom`). */
export async function measureGradients(config: RunConfig, host: TrainingHost, batches: number): Promise<GradientNoise> {
  if (host.resumeFrom === undefined) throw new Error('Gradients are measured at a checkpoint; found none');
  const run = await openTraining(config, host, neverAborted());
  try {
    await stageOne(run);
    const played: { gradient: Float64Array; success: number }[] = [];
    for (let batch = 0; batch < batches; batch++) played.push(await oneBatch(run, batch));
    return summary(run, played);
  } finally {
    await run.dispose();
  }
}

async function oneBatch(run: TrainingRun, batch: number): Promise<{ gradient: Float64Array; success: number }> {
  const { seed } = run.config;
  const { episodes, prepared } = await collect(run, Math.max(1, run.record.memory.update), {
    tasks: ['gradient-tasks', seed, batch],
    names: ['gradient', seed, batch],
    episodes: ['gradient-episode', seed, batch],
  });
  const gradient = (await run.learner.gradient(episodes, prepared)) ?? run.setup.layout.zeros();
  const success = episodes.filter(({ trajectory }) => trajectory.success).length / episodes.length;
  return { gradient: Float64Array.from(Object.values(gradient).flatMap((group) => [...group])), success };
}

const dot = (a: Float64Array, b: Float64Array): number => a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0);
const average = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);

function summary(run: TrainingRun, played: readonly { gradient: Float64Array; success: number }[]): GradientNoise {
  const count = played.length;
  const gradients = played.map(({ gradient }) => gradient);
  const squares = gradients.map((gradient) => dot(gradient, gradient));
  const mean = new Float64Array(gradients[0]?.length ?? 0);
  for (const gradient of gradients) gradient.forEach((value, index) => (mean[index] = (mean[index] ?? 0) + value / count));
  const meanSquare = dot(mean, mean);
  const noise = count > 1 ? ((average(squares) - meanSquare) * count) / (count - 1) : 0;
  const signal = meanSquare - noise / Math.max(1, count);
  const loud = gradients.filter((_, index) => (squares[index] ?? 0) > 0);
  const cosines = loud.flatMap((a, i) => loud.slice(i + 1).map((b) => dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b))));
  return {
    update: run.record.memory.update,
    batches: count,
    silent: count - loud.length,
    episodes: run.config.training.batch,
    success: average(played.map(({ success }) => success)),
    meanNorm: Math.sqrt(meanSquare),
    norm: average(squares.map(Math.sqrt)),
    signal,
    noise,
    ratio: signal > 0 ? noise / signal : null,
    cosine: cosines.length > 0 ? average(cosines) : null,
  };
}
