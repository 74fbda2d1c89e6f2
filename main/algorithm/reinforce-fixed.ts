// Option B of the analysis of the failed system: REINFORCE with V*, repaired by a KL to the reference, an entropy bonus and
// adaptive clipping of advantages (± a multiple of the batch's spread), run with a curriculum, a binary V* and a falling
// temperature (1.5 → 1.0 → 0.8), which are settings of the run.  mean of −log π · A + λ · KL(π‖π_ref) − entropy bonus.

import { z } from 'zod';
import { between, knob } from '../base/knob.ts';
import { clamp } from './advantage.ts';
import { mean } from '../base/statistics.ts';
import { advantageMetrics, optimalAdvantages, type Algorithm } from './algorithm.ts';
import {
  type EpisodeInputs,
  entropySetting,
  episodeInputs,
  klNeeds,
  klSettings,
  lengthSetting,
  penaltySetting,
  regularised,
  weightedCrossEntropy,
} from './terms.ts';
import { rewardOf } from './vstar.ts';

const schema = z.strictObject({
  ...penaltySetting(0),
  clipSpread: knob(between(0.1, 100), 2, 'Advantages are clipped to ± this many times the root mean square of the batch’s advantages.'),
  clipFloor: knob(between(0, 100), 0.1, 'The clipping never gets tighter than ± this.', 'reward'),
  ...lengthSetting(false),
  ...entropySetting(0.01),
  ...klSettings(0.02),
});

export const reinforceFixed: Algorithm<typeof schema, EpisodeInputs<'advantage'>> = {
  id: 'reinforce-fixed',
  title: 'REINFORCE, repaired',
  source: 'Option B of the analysis: REINFORCE with curriculum, binary V*, KL, temperature schedule, entropy bonus and adaptive clipping',
  settings: schema,

  needs: (settings) => ({ vstar: true, reference: klNeeds(settings), critic: false, group: 1, epochs: 1, minibatches: 1 }),

  prepare(trajectories, settings, progress) {
    const raw = optimalAdvantages(
      trajectories,
      (trajectory) => rewardOf(trajectory, progress.reward) - settings.stepPenalty * trajectory.steps.length,
    );
    const spread = Math.sqrt(mean(raw.map((a) => a * a)));
    const limit = Math.max(settings.clipFloor, settings.clipSpread * spread);
    const advantage = raw.map((a) => clamp(a, -limit, limit));
    return {
      ...episodeInputs(trajectories, { advantage }, settings),
      metrics: { ...advantageMetrics(advantage), 'advantage.limit': limit },
      distributions: { advantage },
    };
  },

  loss(_graph, policy, input, settings) {
    return regularised(policy, input, weightedCrossEntropy(policy, input, 'advantage', settings.lengthNormalise), settings);
  },
};
