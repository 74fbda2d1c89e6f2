// Option B of the analysis of the failed system: REINFORCE with V*, repaired by a KL to the reference, an entropy bonus and
// adaptive clipping of advantages (± a multiple of the batch's spread), run with a curriculum, a binary V* and a falling
// temperature (1.5 → 1.0 → 0.8), which are settings of the run.  mean of −log π · A + λ · KL(π‖π_ref) − entropy bonus.

import { z } from 'zod';
import { between, knob } from '../base/knob.ts';
import { clamp } from './advantage.ts';
import { mean } from '../base/statistics.ts';
import { advantageMetrics, optimalAdvantages, type Algorithm } from './algorithm.ts';
import { episodeInputs, klKnobs, klNeeds, regularised, weightedCrossEntropy } from './terms.ts';
import { rewardOf } from './vstar.ts';

const settings = z.strictObject({
  stepPenalty: knob(between(0, 10), 0, 'Taken off the reward for every step of the episode.', 'reward per step'),
  clipSpread: knob(between(0.1, 100), 2, 'Advantages are clipped to ± this many times the root mean square of the batch’s advantages.'),
  clipFloor: knob(between(0, 100), 0.1, 'The clipping never gets tighter than ± this.', 'reward'),
  lengthNormalise: knob(z.boolean(), false, 'Divide the log-probability of a trajectory by its number of agent tokens.'),
  entropyBonus: knob(between(0, 1), 0.01, 'Weight of the mean token entropy, which is rewarded.'),
  ...klKnobs(0.02),
});

export const reinforceFixed: Algorithm<typeof settings> = {
  id: 'reinforce-fixed',
  title: 'REINFORCE, repaired',
  source: 'Option B of the analysis: REINFORCE with curriculum, binary V*, KL, temperature schedule, entropy bonus and adaptive clipping',
  settings,

  needs: (chosen) => ({ vstar: true, reference: klNeeds(chosen), critic: false, group: 1, epochs: 1, minibatches: 1 }),

  prepare(trajectories, chosen, progress) {
    const raw = optimalAdvantages(
      trajectories,
      (trajectory) => rewardOf(trajectory, progress.reward) - chosen.stepPenalty * trajectory.steps.length,
    );
    const spread = Math.sqrt(mean(raw.map((a) => a * a)));
    const limit = Math.max(chosen.clipFloor, chosen.clipSpread * spread);
    const advantage = raw.map((a) => clamp(a, -limit, limit));
    return {
      ...episodeInputs(trajectories, { advantage }, chosen),
      metrics: { ...advantageMetrics(advantage), 'advantage.limit': limit },
      distributions: { advantage },
    };
  },

  loss(_graph, policy, input, chosen) {
    return regularised(policy, input, weightedCrossEntropy(policy, input, 'advantage', chosen.lengthNormalise), chosen);
  },
};
