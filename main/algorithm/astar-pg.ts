// A*PO as a policy gradient, as the week-07 system (RAGEN + A*PO) had it: the advantage
//   A = r + β · log(π_ref/π) − V*
// is held constant and weighs the log-probability, mean of −log π · A + λ · KL(π‖π_ref). Log-probabilities are divided by the
// trajectory's length, A is clamped, and its authors clip the gradient at 0.5 (training.clip).

import { z } from 'zod';
import { between, knob } from '../base/knob.ts';
import { logProbability } from '../rollout/trajectory.ts';
import { clamp } from './advantage.ts';
import { advantageMetrics, inverseLengths, optimalAdvantages, referenceSums, type Algorithm } from './algorithm.ts';
import { type EpisodeInputs, entropySetting, episodeInputs, klSettings, regularised, weightedCrossEntropy } from './terms.ts';
import { rewardOf } from './vstar.ts';

const schema = z.strictObject({
  beta: knob(between(0, 100), 0.5, 'Weight of log(π_ref/π) inside the advantage: the soft part of the reward.', 'reward per nat'),
  clampAdvantage: knob(between(0, 1000), 3, 'Advantages are clamped to ± this.', 'reward'),
  lengthNormalise: knob(z.boolean(), true, 'Divide log-probabilities, also those inside the advantage, by the number of agent tokens.'),
  ...entropySetting(0),
  ...klSettings(0.02),
});

export const astarPg: Algorithm<typeof schema, EpisodeInputs<'advantage'>> = {
  id: 'astar-pg',
  title: 'A*PO as policy gradient',
  source: 'The week-07 system: RAGEN + A*PO',
  settings: schema,

  needs: (settings) => ({
    vstar: true,
    reference: settings.klCoefficient > 0 && settings.klEstimator === 'full' ? 'full' : 'tokens',
    critic: false,
    group: 1,
    epochs: 1,
    minibatches: 1,
  }),

  prepare(trajectories, settings, progress) {
    const reference = referenceSums(trajectories);
    const inverseLength = inverseLengths(trajectories);
    const hard = optimalAdvantages(trajectories, (trajectory) => rewardOf(trajectory, progress.reward));
    const advantage = Float32Array.from(trajectories, (trajectory, i) => {
      const logRatio = (reference[i]! - logProbability(trajectory)) * (settings.lengthNormalise ? inverseLength[i]! : 1);
      return clamp(hard[i]! + settings.beta * logRatio, -settings.clampAdvantage, settings.clampAdvantage);
    });
    return {
      ...episodeInputs(trajectories, { advantage }, settings),
      metrics: advantageMetrics(advantage),
      distributions: { advantage },
    };
  },

  loss(_graph, policy, input, settings) {
    return regularised(policy, input, weightedCrossEntropy(policy, input, 'advantage', settings.lengthNormalise), settings);
  },
};
