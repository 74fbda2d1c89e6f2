// REINFORCE with V* as its baseline, as new_ragen had it, the system that failed:  mean of −log π(y|x) · (r − V*).
// Advantages are raw and signed, r carries a penalty for every step, and there is no KL and no curriculum. Its V* is the
// plain maximum and its reward the shaped return; both are settings of the run (vstar.estimator, training.reward).

import { z } from 'zod';
import { between, knob } from '../base/knob.ts';
import { clamp } from './advantage.ts';
import { advantageMetrics, lengthInputs, optimalAdvantages, type Algorithm } from './algorithm.ts';
import { weightedCrossEntropy, withTerm } from './terms.ts';
import { rewardOf } from './vstar.ts';

const settings = z.strictObject({
  stepPenalty: knob(between(0, 10), 0.1, 'Taken off the reward for every step of the episode.', 'reward per step'),
  clampAdvantage: knob(between(0, 1000), 10, 'Advantages are clamped to ± this: far out, as a guard only.', 'reward'),
  lengthNormalise: knob(z.boolean(), false, 'Divide the log-probability of a trajectory by its number of agent tokens.'),
  entropyBonus: knob(between(0, 1), 0, 'Weight of the mean token entropy, which is rewarded.'),
});

export const reinforce: Algorithm<typeof settings> = {
  id: 'reinforce',
  title: 'REINFORCE with V*',
  source: 'new_ragen: policy gradient with V* as the baseline',
  settings,

  needs: () => ({ vstar: true, reference: 'none', critic: false, group: 1, epochs: 1, minibatches: 1 }),

  prepare(trajectories, chosen, progress) {
    const raw = optimalAdvantages(
      trajectories,
      (trajectory) => rewardOf(trajectory, progress.reward) - chosen.stepPenalty * trajectory.steps.length,
    );
    const advantage = raw.map((a) => clamp(a, -chosen.clampAdvantage, chosen.clampAdvantage));
    return {
      episode: { advantage, ...lengthInputs(trajectories, chosen.lengthNormalise) },
      token: {},
      keep: trajectories.map(() => true),
      metrics: advantageMetrics(advantage),
      distributions: { advantage },
    };
  },

  loss(_graph, policy, input, chosen) {
    const gradient = weightedCrossEntropy(policy, input, 'advantage', chosen.lengthNormalise);
    const entropy = policy.tokenMean(policy.entropies);
    const loss = withTerm(gradient, -chosen.entropyBonus, entropy);
    return { loss, metrics: { loss, 'loss.policy': gradient, entropy } };
  },
};
