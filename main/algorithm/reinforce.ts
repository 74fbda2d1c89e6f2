// REINFORCE with V* as its baseline, as new_ragen had it, the system that failed:  mean of −log π(y|x) · (r − V*).
// Advantages are raw and signed, r carries a penalty for every step, and there is no KL and no curriculum. Its V* is the
// plain maximum and its reward the shaped return; both are settings of the run (vstar.estimator, training.reward).

import { z } from 'zod';
import { between, knob } from '../base/knob.ts';
import { clamp } from './advantage.ts';
import { advantageMetrics, lengthInputs, optimalAdvantages, type Algorithm, type Inputs } from './algorithm.ts';
import { entropySetting, lengthSetting, penaltySetting, weightedCrossEntropy, withTerm } from './terms.ts';
import { rewardOf } from './vstar.ts';

const schema = z.strictObject({
  ...penaltySetting(0.1),
  clampAdvantage: knob(between(0, 1000), 10, 'Advantages are clamped to ± this: far out, as a guard only.', 'reward'),
  ...lengthSetting(false),
  ...entropySetting(0),
});

/** Per episode: r − V*, and 1 / length where it is divided by. */
interface ReinforceInputs extends Inputs {
  readonly episode: { advantage: Float32Array; inverseLength?: Float32Array };
  readonly token: Record<never, Float32Array[]>;
}

export const reinforce: Algorithm<typeof schema, ReinforceInputs> = {
  id: 'reinforce',
  title: 'REINFORCE with V*',
  source: 'new_ragen: policy gradient with V* as the baseline',
  settings: schema,

  needs: () => ({ vstar: true, reference: 'none', critic: false, group: 1, epochs: 1, minibatches: 1 }),

  prepare(trajectories, settings, progress) {
    const raw = optimalAdvantages(
      trajectories,
      (trajectory) => rewardOf(trajectory, progress.reward) - settings.stepPenalty * trajectory.steps.length,
    );
    const advantage = raw.map((a) => clamp(a, -settings.clampAdvantage, settings.clampAdvantage));
    return {
      episode: { advantage, ...lengthInputs(trajectories, settings.lengthNormalise) },
      token: {},
      keep: trajectories.map(() => true),
      metrics: advantageMetrics(advantage),
      distributions: { advantage },
    };
  },

  loss(_graph, policy, input, settings) {
    const gradient = weightedCrossEntropy(policy, input, 'advantage', settings.lengthNormalise);
    const entropy = policy.tokenMean(policy.entropies);
    const loss = withTerm(gradient, -settings.entropyBonus, entropy);
    return { loss, metrics: { loss, 'loss.policy': gradient, entropy } };
  },
};
