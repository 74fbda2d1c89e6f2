// Option C of the analysis: weighted SFT with partial credit, run with a curriculum (10 → 100 → 1000 products) and adaptive V*
// sampling, which are settings of the run. A failed episode still earns a part of its shaped return, so that coming close
// is worth more than wandering:  r = 1 for success, else credit · clamp(return, 0, 1).  The loss is weighted SFT's.

import { z } from 'zod';
import { between, knob } from '../base/knob.ts';
import { clamp } from './advantage.ts';
import { optimalAdvantages, type Algorithm } from './algorithm.ts';
import { type EpisodeInputs, klNeeds } from './terms.ts';
import { imitation, weightedSft, weightSettings } from './weighted-sft.ts';

const schema = z.strictObject({
  partialCredit: knob(between(0, 1), 0.5, 'Part of the shaped return (cut to 0…1) that a failed episode is credited with.', 'share'),
  ...weightSettings,
});

export const hybrid: Algorithm<typeof schema, EpisodeInputs<'weight'>> = {
  id: 'hybrid',
  title: 'Hybrid',
  source: 'Option C of the analysis: weighted SFT with curriculum, partial credit and adaptive V* sampling',
  settings: schema,

  needs: (settings) => ({ vstar: true, reference: klNeeds(settings), critic: false, group: 1, epochs: 1, minibatches: 1 }),

  prepare(trajectories, settings) {
    const advantage = optimalAdvantages(trajectories, (trajectory) =>
      trajectory.success ? 1 : settings.partialCredit * clamp(trajectory.return, 0, 1),
    );
    return imitation(trajectories, advantage, settings);
  },

  loss: (graph, policy, input, settings) => weightedSft.loss(graph, policy, input, settings),
};
