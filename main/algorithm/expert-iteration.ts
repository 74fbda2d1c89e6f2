// Expert iteration (filtered cloning): of the episodes that the policy plays, those that succeeded are imitated and the others left out,
// update after update. It is the baseline that every reinforcement learning result has to beat: it needs neither V*, nor a critic, nor a ratio.

import { z } from 'zod';
import { knob, whole } from '../base/knob.ts';
import { mean } from '../base/statistics.ts';
import type { Algorithm } from './algorithm.ts';
import {
  type EpisodeInputs,
  entropySetting,
  episodeInputs,
  klNeeds,
  klSettings,
  lengthSetting,
  regularised,
  weightedCrossEntropy,
} from './terms.ts';

const schema = z.strictObject({
  group: knob(whole(1, 256), 1, 'Rollouts of each task in an update.', 'episodes'),
  epochs: knob(whole(1, 64), 1, 'Passes over the successful episodes of an update.', 'passes'),
  minibatches: knob(whole(1, 256), 1, 'Optimizer steps per pass, each on an equal part of the episodes.', 'steps'),
  ...lengthSetting(true, 'Divide the cross-entropy of a trajectory by its number of agent tokens.'),
  ...entropySetting(0),
  ...klSettings(0),
});

export const expertIteration: Algorithm<typeof schema, EpisodeInputs<'weight'>> = {
  id: 'expert-iteration',
  title: 'Expert iteration',
  source: 'Filtered cloning: imitates the policy’s own successes (STaR, ReST, RFT)',
  settings: schema,

  needs: ({ group, epochs, minibatches, ...settings }) => ({
    vstar: false,
    reference: klNeeds(settings),
    critic: false,
    group,
    epochs,
    minibatches,
  }),

  prepare(trajectories, settings) {
    const weight = new Float32Array(trajectories.length).fill(1);
    const keep = trajectories.map(({ success }) => success);
    return {
      ...episodeInputs(trajectories, { weight }, settings),
      keep,
      metrics: { 'advantage.positive': mean(keep.map(Number)) },
      distributions: {},
    };
  },

  loss(_graph, policy, input, settings) {
    return regularised(policy, input, weightedCrossEntropy(policy, input, 'weight', settings.lengthNormalise), settings);
  },
};
