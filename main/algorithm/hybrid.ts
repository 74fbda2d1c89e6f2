// Option C of the analysis: weighted SFT with partial credit, run with a curriculum (10 → 100 → 1000 products) and adaptive V*
// sampling, which are settings of the run. A failed episode still earns a part of its shaped return, so that coming close
// is worth more than wandering:  r = 1 for success, else credit · clamp(return, 0, 1).  The loss is weighted SFT's.

import { z } from 'zod';
import { mul } from '../engine/operators.ts';
import { between, knob } from '../knob.ts';
import { clamp } from './advantage.ts';
import { advantageMetrics, lengthInputs, optimalAdvantages, type Algorithm } from './algorithm.ts';
import { crossEntropy, klInputs, klNeeds, klTerm, withTerm } from './terms.ts';
import { imitationWeights, weightKnobs, weightMetrics } from './weighted-sft.ts';

const settings = z.strictObject({
  partialCredit: knob(between(0, 1), 0.5, 'Part of the shaped return (cut to 0…1) that a failed episode is credited with.', 'share'),
  ...weightKnobs,
});

export const hybrid: Algorithm<typeof settings> = {
  id: 'hybrid',
  title: 'Hybrid',
  source: 'Option C of the analysis: weighted SFT with curriculum, partial credit and adaptive V* sampling',
  settings,

  needs: (chosen) => ({ vstar: true, reference: klNeeds(chosen), critic: false, group: 1, epochs: 1, minibatches: 1 }),

  prepare(trajectories, chosen) {
    const advantage = optimalAdvantages(trajectories, (trajectory) =>
      trajectory.success ? 1 : chosen.partialCredit * clamp(trajectory.return, 0, 1),
    );
    const weight = imitationWeights(advantage, chosen.clampAdvantage, chosen.weightLow, chosen.weightHigh);
    return {
      episode: { weight, ...lengthInputs(trajectories, chosen.lengthNormalise) },
      token: klInputs(trajectories, chosen),
      keep: trajectories.map(() => true),
      metrics: { ...advantageMetrics(advantage), ...weightMetrics(weight) },
      distributions: { advantage, weight },
    };
  },

  loss(_graph, policy, input, chosen) {
    const imitation = policy.episodeMean(mul(input('weight', 'episode'), crossEntropy(policy, input, chosen.lengthNormalise)));
    const kl = klTerm(policy, input, chosen);
    const entropy = policy.tokenMean(policy.entropies);
    const loss = withTerm(withTerm(imitation, chosen.klCoefficient, kl), -chosen.entropyBonus, entropy);
    return { loss, metrics: { loss, 'loss.policy': imitation, entropy, ...(kl && { [`kl.${chosen.klEstimator}`]: kl }) } };
  },
};
