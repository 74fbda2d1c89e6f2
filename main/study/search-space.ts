// What `lab tune` may change: the learning rate for every algorithm and at most two of its settings. The ranges lie inside
// those of the knobs' schemas (a test checks it) and around the algorithm's default. Trial 0 is the default itself; the
// others follow a low-discrepancy sequence with a seeded start, which spreads a few trials better than independent draws
// and continues where it was when more trials are asked for. A knob that all algorithms share gets the same values in all.

import type { Catalog, SearchKnob } from '../config/catalog.ts';
import { Random } from '../base/random.ts';
import type { Settings } from './definition.ts';

const log = (key: string, low: number, high: number): SearchKnob => ({ key, low, high, scale: 'log' });
const linear = (key: string, low: number, high: number): SearchKnob => ({ key, low, high, scale: 'linear' });

const LEARNING_RATE = log('training.learningRate', 2e-4, 3e-3);

export const SEARCH_SPACES: Readonly<Record<string, readonly SearchKnob[]>> = {
  'astar-po': [LEARNING_RATE, log('algorithm.beta2', 0.01, 0.1), log('algorithm.entropyBonus', 1e-4, 1e-2)],
  'astar-pg': [LEARNING_RATE, log('algorithm.beta', 0.02, 1), log('algorithm.klCoefficient', 2e-3, 0.1)],
  'weighted-sft': [LEARNING_RATE, log('algorithm.klCoefficient', 2e-3, 0.1), log('algorithm.weightLow', 0.01, 0.5)],
  reinforce: [LEARNING_RATE, log('algorithm.entropyBonus', 1e-4, 3e-2)],
  'reinforce-fixed': [LEARNING_RATE, log('algorithm.klCoefficient', 2e-3, 0.1), log('algorithm.entropyBonus', 1e-4, 3e-2)],
  hybrid: [LEARNING_RATE, log('algorithm.klCoefficient', 2e-3, 0.1), linear('algorithm.partialCredit', 0.1, 0.9)],
  ppo: [LEARNING_RATE, log('algorithm.entropyBonus', 1e-4, 3e-2), linear('algorithm.clipHigh', 0.1, 0.4)],
  grpo: [LEARNING_RATE, log('algorithm.klCoefficient', 1e-4, 3e-2), linear('algorithm.clipHigh', 0.1, 0.4)],
  'expert-iteration': [LEARNING_RATE],
  oapl: [LEARNING_RATE, log('algorithm.beta', 0.02, 0.5)],
};

/** Steps of the sequence in each dimension: powers of 1/g with g⁴ = g + 1, the generalised golden ratio of three. */
const STEPS = [0.8191725133961645, 0.6710436067037893, 0.5497004779019703];

/** The settings of a trial; none for trial 0. */
export function trialSettings({ searchSpaces }: Catalog, variant: string, trial: number, seed: number): Settings {
  // An algorithm of a plug-in that names no knobs is tuned by its learning rate.
  const space = SEARCH_SPACES[variant] ?? searchSpaces[variant] ?? [LEARNING_RATE];
  if (trial === 0) return {};
  return Object.fromEntries(
    space.map(({ key, low, high, scale }, dimension) => {
      const quantile = (Random.from('tune', seed, key).next() + trial * (STEPS[dimension] ?? STEPS[0]!)) % 1;
      const value = scale === 'log' ? low * (high / low) ** quantile : low + quantile * (high - low);
      return [key, Number(value.toPrecision(3))];
    }),
  );
}
