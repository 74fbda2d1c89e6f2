// Weighted supervised fine-tuning (TinyZero, webshop_apo): the sampled trajectory is imitated with a weight that grows with its
// advantage,  mean(w · cross-entropy) + λ · KL(π‖π_ref),  a = r − V* normalised over the batch and clamped,
// w = clamp(a + 1, 0.1, 5). The weight is always positive: a bad trajectory is imitated less, never pushed down.

import { z } from 'zod';
import { between, knob } from '../base/knob.ts';
import { clamp, normalise } from './advantage.ts';
import { mean } from '../base/statistics.ts';
import type { Trajectory } from '../rollout/trajectory.ts';
import { advantageMetrics, optimalAdvantages, type Algorithm, type Prepared } from './algorithm.ts';
import { type EpisodeInputs, entropySetting, episodeInputs, klNeeds, klSettings, regularised, weightedCrossEntropy } from './terms.ts';
import { rewardOf } from './vstar.ts';

export const weightSettings = {
  clampAdvantage: knob(between(0, 1000), 3, 'Normalised advantages are clamped to ± this.'),
  weightLow: knob(between(1e-6, 1), 0.1, 'Smallest weight of a trajectory; positive, so nothing is pushed down.'),
  weightHigh: knob(between(1, 1000), 5, 'Largest weight of a trajectory.'),
  lengthNormalise: knob(z.boolean(), true, 'Divide the cross-entropy of a trajectory by its number of agent tokens.'),
  ...entropySetting(0),
  ...klSettings(0.02),
};
const schema = z.strictObject(weightSettings);

/** w = clamp(clamp(normalised a, ±limit) + 1, low, high): positive whatever the advantages. */
export function imitationWeights(advantages: Float32Array, limit: number, low: number, high: number): Float32Array {
  return normalise(advantages).map((a) => clamp(clamp(a, -limit, limit) + 1, low, high));
}

/** The update of weighted SFT from whatever advantages an algorithm has. */
export function imitation(
  trajectories: readonly Trajectory[],
  advantage: Float32Array,
  settings: z.infer<typeof schema>,
): Prepared<EpisodeInputs<'weight'>> {
  const weight = imitationWeights(advantage, settings.clampAdvantage, settings.weightLow, settings.weightHigh);
  return {
    ...episodeInputs(trajectories, { weight }, settings),
    metrics: {
      ...advantageMetrics(advantage),
      'weight.mean': mean(weight),
      'weight.min': weight.length === 0 ? 0 : Math.min(...weight),
      'weight.max': weight.length === 0 ? 0 : Math.max(...weight),
    },
    distributions: { advantage, weight },
  };
}

export const weightedSft: Algorithm<typeof schema, EpisodeInputs<'weight'>> = {
  id: 'weighted-sft',
  title: 'Weighted SFT',
  source: 'TinyZero and webshop_apo: imitation weighted by the advantage over V*',
  settings: schema,

  needs: (settings) => ({ vstar: true, reference: klNeeds(settings), critic: false, group: 1, epochs: 1, minibatches: 1 }),

  prepare(trajectories, settings, progress) {
    const advantage = optimalAdvantages(trajectories, (trajectory) => rewardOf(trajectory, progress.reward));
    return imitation(trajectories, advantage, settings);
  },

  loss(_graph, policy, input, settings) {
    return regularised(policy, input, weightedCrossEntropy(policy, input, 'weight', settings.lengthNormalise), settings);
  },
};
