// How noisy a run's gradient is at a checkpoint: several batches of fresh episodes are played with the same weights, and the gradients of
// the algorithm's loss are compared. Nothing is learned and nothing is stored. With K batches of gradients g: signal² is an unbiased
// estimate of |E g|², noise is the trace of their covariance; noise ÷ signal² is how many such batches one step would need for a
// signal as large as its noise.

import { type RunConfig, temperatureAt } from '../config/config.ts';
import { Random } from '../base/random.ts';
import { groupNames } from './group-names.ts';
import { drawAt, rollout } from '../rollout/rollout.ts';
import type { TrainingHost } from './host.ts';
import { beginRun, drawableTasks, valueTasks } from './stage-one.ts';
import { type TrainingRun, openTraining } from './training-run.ts';

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
  const run = await openTraining(config, host);
  try {
    await beginRun(run);
    const played: { gradient: Float64Array; success: number }[] = [];
    for (let batch = 0; batch < batches; batch++) played.push(await oneBatch(run, batch));
    return summary(run, played);
  } finally {
    await run.dispose();
  }
}

async function oneBatch(run: TrainingRun, batch: number): Promise<{ gradient: Float64Array; success: number }> {
  const { config, policy, learner, vstar, tasks } = run;
  const { training, seed } = config;
  const { needs } = run.setup.algorithm;
  const { level } = run.memory.curriculum;
  const update = Math.max(1, run.memory.update);
  const drawable = await drawableTasks(run, level, update, []);
  const drawn = tasks.draw(drawable, Math.ceil(training.batch / needs.group), Random.from('gradient-tasks', seed, batch));
  await valueTasks(run, drawn, level, update, []);
  const requests = drawn.flatMap((task, index) => {
    const relabel = groupNames(config, needs.group, 'gradient', seed, batch, index);
    return Array.from({ length: needs.group }, (_, copy) => {
      const episodeSeed = Random.from('gradient-episode', seed, batch, index, copy).integer();
      return { task, seed: episodeSeed, purpose: 'train' as const, update, relabel, level };
    });
  });
  const episodes = await rollout(policy, requests, drawAt(temperatureAt(training, update - 1), training.minP));
  if (needs.vstar) for (const { trajectory } of episodes) trajectory.vstar = vstar.of(trajectory.task, level).value;
  await learner.score(episodes);
  const prepared = learner.prepare(episodes, { update, updates: training.updates, reward: training.reward });
  const gradient = (await learner.gradient(episodes, prepared)) ?? run.setup.layout.zeros();
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
    update: run.memory.update,
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
