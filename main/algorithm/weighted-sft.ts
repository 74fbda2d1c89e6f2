// Weighted supervised fine-tuning (TinyZero, webshop_apo): the sampled trajectory is imitated with a weight that grows with its
// advantage,  mean(w · cross-entropy) + λ · KL(π‖π_ref),  a = r − V* normalised over the batch and clamped,
// w = clamp(a + 1, 0.1, 5). The weight is always positive: a bad trajectory is imitated less, never pushed down.

import { z } from 'zod';
import { between, knob } from '../base/knob.ts';
import { clamp, normalise } from './advantage.ts';
import { mean } from '../base/statistics.ts';
import type { Trajectory } from '../rollout/trajectory.ts';
import { advantageMetrics, optimalAdvantages, type Algorithm, type Prepared } from './algorithm.ts';
import { episodeInputs, klKnobs, klNeeds, regularised, weightedCrossEntropy } from './terms.ts';
import { rewardOf } from './vstar.ts';

export const weightKnobs = {
  clampAdvantage: knob(between(0, 1000), 3, 'Normalised advantages are clamped to ± this.'),
  weightLow: knob(between(1e-6, 1), 0.1, 'Smallest weight of a trajectory; positive, so nothing is pushed down.'),
  weightHigh: knob(between(1, 1000), 5, 'Largest weight of a trajectory.'),
  lengthNormalise: knob(z.boolean(), true, 'Divide the cross-entropy of a trajectory by its number of agent tokens.'),
  entropyBonus: knob(between(0, 1), 0, 'Weight of the mean token entropy, which is rewarded.'),
  ...klKnobs(0.02),
};
const settings = z.strictObject(weightKnobs);

/** w = clamp(clamp(normalised a, ±limit) + 1, low, high): positive whatever the advantages. */
export function imitationWeights(advantages: Float32Array, limit: number, low: number, high: number): Float32Array {
  return normalise(advantages).map((a) => clamp(clamp(a, -limit, limit) + 1, low, high));
}

/** The update of weighted SFT from whatever advantages an algorithm has. */
export function imitation(trajectories: readonly Trajectory[], advantage: Float32Array, chosen: z.infer<typeof settings>): Prepared {
  const weight = imitationWeights(advantage, chosen.clampAdvantage, chosen.weightLow, chosen.weightHigh);
  return {
    ...episodeInputs(trajectories, { weight }, chosen),
    metrics: {
      ...advantageMetrics(advantage),
      'weight.mean': mean(weight),
      'weight.min': weight.length === 0 ? 0 : Math.min(...weight),
      'weight.max': weight.length === 0 ? 0 : Math.max(...weight),
    },
    distributions: { advantage, weight },
  };
}

export const weightedSft: Algorithm<typeof settings> = {
  id: 'weighted-sft',
  title: 'Weighted SFT',
  source: 'TinyZero and webshop_apo: imitation weighted by the advantage over V*',
  settings,

  needs: (chosen) => ({ vstar: true, reference: klNeeds(chosen), critic: false, group: 1, epochs: 1, minibatches: 1 }),

  prepare(trajectories, chosen, progress) {
    const advantage = optimalAdvantages(trajectories, (trajectory) => rewardOf(trajectory, progress.reward));
    return imitation(trajectories, advantage, chosen);
  },

  loss(_graph, policy, input, chosen) {
    return regularised(policy, input, weightedCrossEntropy(policy, input, 'weight', chosen.lengthNormalise), chosen);
  },
};
