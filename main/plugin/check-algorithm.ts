// Whether an algorithm of a plug-in keeps the rules that make its numbers right: gradients are those of its loss (by finite differences), micro-batches and
// padding add up exactly, and what succeeded becomes more probable. No PyTorch needed: the loss runs as a real session of the engine.

import type { Algorithm } from '../algorithm/algorithm.ts';
import { algorithmOf, type BoundAlgorithm } from '../algorithm/registry.ts';
import { attempt, type CheckResult } from './check-world.ts';
import { type Leaves, runLoss, shortEpisode, trajectory } from './loss-bench.ts';

const STEP = 1e-2;
/** Of a loss in single precision. */
const TOLERANCE = 0.03;
const WIDTH = 2;

/** Four episodes of one or two tokens on two tasks, two of them successes. */
const EPISODES = [
  { task: 'a', success: true, logProbs: [-0.5, -1.2] },
  { task: 'a', success: false, logProbs: [-0.9] },
  { task: 'b', success: true, logProbs: [-1.5] },
  { task: 'b', success: false, logProbs: [-0.3, -0.7] },
] as const;

export async function checkAlgorithm(algorithm: Algorithm): Promise<CheckResult[]> {
  const opened: { variant?: BoundAlgorithm } = {};
  const begin = await attempt(`${algorithm.id}: its settings have defaults, and it says what it needs`, () => {
    const variant = algorithmOf({ algorithms: [algorithm] }, { id: algorithm.id });
    const { group, epochs, minibatches } = variant.needs;
    if (!(group >= 1 && epochs >= 1 && minibatches >= 1)) throw new Error('needs: group, epochs and minibatches are at least 1');
    opened.variant = variant;
  });
  const { variant } = opened;
  if (!variant) return [begin];
  return [
    begin,
    await attempt(`${algorithm.id}: the gradient is that of the loss`, () => checkGradient(variant)),
    await attempt(`${algorithm.id}: micro-batches add up, padding adds nothing`, () => checkAccumulation(variant)),
    await attempt(`${algorithm.id}: what succeeded becomes more probable than what failed`, () => checkDirection(variant)),
  ];
}

function update(variant: BoundAlgorithm) {
  const trajectories = EPISODES.map(({ task, success, logProbs }) => {
    const numbers = [...logProbs];
    const steps = [
      { reward: success ? 1 : 0, logProbs: numbers, reference: numbers.map((value) => value - 0.1), values: numbers.map(() => 0.3) },
    ];
    return trajectory({ task, success, vstar: 0.5, return: success ? 1 : 0, steps });
  });
  const prepared = variant.prepare(trajectories, { update: 1, updates: 10, reward: 'binary' });
  if (prepared.keep.length !== trajectories.length) throw new Error('prepare: keep has one entry for each trajectory');
  return { trajectories, prepared };
}

/** The policy's tensors; away from the sampled log-probabilities, where ratios and clips have their corners. */
function leavesOf(shift: (place: number) => number = () => 0): Leaves {
  const logProbs = new Float32Array(EPISODES.length * WIDTH).fill(-30);
  EPISODES.forEach((episode, row) => episode.logProbs.forEach((value, column) => (logProbs[row * WIDTH + column] = value + 0.05)));
  for (let place = 0; place < logProbs.length; place++) logProbs[place] = (logProbs[place] ?? 0) + shift(place);
  const filled = (value: number): Float32Array => new Float32Array(logProbs.length).fill(value);
  return { logProbs, entropies: filled(0.6), values: filled(0.25), kl: filled(0.02) };
}

const places = EPISODES.flatMap(({ logProbs }, row) => logProbs.map((_, column) => row * WIDTH + column));

async function checkGradient(variant: BoundAlgorithm): Promise<void> {
  const { trajectories, prepared } = update(variant);
  const { gradients } = await runLoss(variant, trajectories, prepared, leavesOf());
  for (const place of places) {
    const [high, low] = [STEP, -STEP].map((step) =>
      runLoss(
        variant,
        trajectories,
        prepared,
        leavesOf((at) => (at === place ? step : 0)),
      ),
    );
    const measured = ((await high)!.loss - (await low)!.loss) / (2 * STEP);
    const computed = gradients.logProbs[place] ?? 0;
    if (!(Math.abs(measured - computed) <= TOLERANCE * Math.max(1, Math.abs(measured)))) {
      throw new Error(
        `token ${place}: finite differences give ${measured.toFixed(4)}, the graph ${computed.toFixed(4)}. stopGradient in the loss, or a corner?`,
      );
    }
  }
}

async function checkAccumulation(variant: BoundAlgorithm): Promise<void> {
  const { trajectories, prepared } = update(variant);
  const whole = await runLoss(variant, trajectories, prepared, leavesOf());
  const first = await runLoss(variant, trajectories, prepared, leavesOf(), (episode) => episode < 2);
  const second = await runLoss(variant, trajectories, prepared, leavesOf(), (episode) => episode >= 2);
  const sum = first.loss + second.loss;
  if (!(Math.abs(whole.loss - sum) <= 1e-5 * Math.max(1, Math.abs(whole.loss)))) {
    throw new Error(
      `the loss of the update is ${whole.loss}, its two micro-batches add up to ${sum}. Divide by counts of the whole update (episodeMean, tokenMean), not by those of the batch`,
    );
  }
  for (const place of places) {
    const parts = (first.gradients.logProbs[place] ?? 0) + (second.gradients.logProbs[place] ?? 0);
    if (!(Math.abs((whole.gradients.logProbs[place] ?? 0) - parts) <= 1e-5))
      throw new Error(`the gradients of the micro-batches do not add up at token ${place}`);
  }
}

/** One step down the gradient on a winner and a loser, each of one token. */
async function checkDirection(variant: BoundAlgorithm): Promise<void> {
  const start = Math.log(0.5);
  const trajectories = [true, false].map((success) => shortEpisode('task', success, 0.5, [start]));
  const prepared = variant.prepare(trajectories, { update: 1, updates: 10, reward: 'binary' });
  const leaves = {
    logProbs: Float32Array.of(start, start),
    entropies: new Float32Array(2),
    values: new Float32Array(2),
    kl: new Float32Array(2),
  };
  const { gradients } = await runLoss(variant, trajectories, prepared, leaves);
  const [win = 0, lose = 0] = gradients.logProbs;
  if (!(win < lose)) throw new Error(`the gradient of the success is ${win}, of the failure ${lose}: descent would not favour the success`);
}
