// GRPO as RAGEN's StarPO runs it without a critic: a group of G rollouts per task, advantage = (r − mean)/std of the group, the
// same for every token of the episode, and PPO's clipped ratio (0.2 down, 0.28 up). With `filter` below 1 it is StarPO-S: only
// that share of groups, those with the largest spread of rewards, takes part in the update.

import { z } from 'zod';
import { between, knob, whole } from '../base/knob.ts';
import { agentTokenCount } from '../rollout/trajectory.ts';
import { clamp, groupBy } from './advantage.ts';
import { deviation, mean } from '../base/statistics.ts';
import { advantageMetrics, rewardsOf, tokenNumbers, type Algorithm, type Inputs } from './algorithm.ts';
import {
  type ClippedInputs,
  type KlInputs,
  clippedSurrogate,
  entropySetting,
  klInputs,
  klNeeds,
  klSettings,
  regularised,
  clippedSettings,
} from './terms.ts';

const schema = z.strictObject({
  group: knob(whole(2, 256), 8, 'Rollouts of each task in an update.', 'episodes'),
  divideBySpread: knob(z.boolean(), true, 'Divide the group’s advantages by the standard deviation of its rewards.'),
  clampAdvantage: knob(between(0, 1000), 5, 'Advantages are clamped to ± this.'),
  filter: knob(between(0.01, 1), 1, 'Share of groups kept, largest spread of rewards first; below 1 this is StarPO-S.', 'share'),
  ...clippedSettings,
  ...entropySetting(0.001),
  ...klSettings(0.001),
});

/** Per token: the advantage, the sampler's log-probability, and with a KL the reference's. */
interface GrpoInputs extends Inputs {
  readonly episode: Record<never, Float32Array>;
  readonly token: ClippedInputs & KlInputs;
}

export const grpo: Algorithm<typeof schema, GrpoInputs> = {
  id: 'grpo',
  title: 'GRPO (StarPO)',
  source: 'RAGEN: StarPO without a critic; StarPO-S with the variance filter',
  settings: schema,

  needs: (settings) => ({
    vstar: false,
    reference: klNeeds(settings),
    critic: false,
    group: settings.group,
    epochs: settings.epochs,
    minibatches: settings.minibatches,
  }),

  prepare(trajectories, settings, progress) {
    const rewards = rewardsOf(trajectories, progress.reward);
    const groups = groupBy(trajectories.map((trajectory) => trajectory.task)).map((members) => {
      const rewardsOfGroup = members.map((i) => rewards[i]!);
      return { members, centre: mean(rewardsOfGroup), spread: deviation(rewardsOfGroup) };
    });
    const kept = Math.max(1, Math.ceil(groups.length * settings.filter - 1e-9));
    const best = new Set([...groups].sort((a, b) => b.spread - a.spread).slice(0, kept));
    const advantage = new Float32Array(trajectories.length);
    const keep = trajectories.map(() => false);
    for (const group of groups) {
      for (const i of group.members) {
        const centred = rewards[i]! - group.centre;
        const scaled = settings.divideBySpread ? centred / (group.spread + 1e-6) : centred;
        advantage[i] = clamp(scaled, -settings.clampAdvantage, settings.clampAdvantage);
        keep[i] = best.has(group);
      }
    }
    return {
      episode: {},
      token: {
        advantage: trajectories.map((trajectory, i) => new Float32Array(agentTokenCount(trajectory)).fill(advantage[i]!)),
        old: tokenNumbers(trajectories, 'logProbs'),
        ...klInputs(trajectories, settings),
      },
      keep,
      metrics: {
        ...advantageMetrics(advantage),
        'group.spread': mean(groups.map((group) => group.spread)),
        'group.flat': mean(groups.map((group) => (group.spread === 0 ? 1 : 0))),
        'group.kept': groups.length === 0 ? 0 : best.size / groups.length,
      },
      distributions: { advantage },
    };
  },

  loss(_graph, policy, input, settings) {
    const surrogate = clippedSurrogate(policy, input, settings.clipLow, settings.clipHigh);
    const { loss, metrics } = regularised(policy, input, surrogate.loss, settings);
    return { loss, metrics: { ...metrics, ...surrogate.metrics } };
  },
};
