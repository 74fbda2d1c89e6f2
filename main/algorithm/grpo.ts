// GRPO as RAGEN's StarPO runs it without a critic: a group of G rollouts per task, advantage = (r − mean)/std of the group, the
// same for every token of the episode, and PPO's clipped ratio (0.2 down, 0.28 up). Its relatives are settings: `filter` below 1 is StarPO-S;
// `baseline` others is RLOO, update is REINFORCE++; `ratio` turn is GSPO, weight is CISPO; `credit` gives each turn an advantage of its own.

import { z } from 'zod';
import { between, knob, whole } from '../base/knob.ts';
import { agentTokenCount, type Trajectory } from '../rollout/trajectory.ts';
import { clamp, groupBy } from './advantage.ts';
import { deviation, mean } from '../base/statistics.ts';
import { advantageMetrics, rewardsOf, tokenNumbers, type Algorithm, type Inputs, type Progress } from './algorithm.ts';
import { creditSettings, groupCredit, toTokens } from './credit.ts';
import {
  type ClippedInputs,
  type KlInputs,
  type TurnInputs,
  clippedSettings,
  clippedSurrogate,
  entropySetting,
  klInputs,
  klNeeds,
  klSettings,
  regularised,
  turnInputs,
  turnSurrogate,
  weightedSurrogate,
} from './terms.ts';

const schema = z.strictObject({
  group: knob(whole(2, 256), 8, 'Rollouts of each task in an update.', 'episodes'),
  baseline: knob(
    z.enum(['group', 'others', 'update']),
    'group',
    'What an episode’s reward is compared with: the mean of its group, of the others in it (RLOO), or of the whole update (REINFORCE++). Only with `credit` episode.',
  ),
  divideBySpread: knob(z.boolean(), true, 'Divide advantages by the standard deviation of the rewards that they are compared with.'),
  clampAdvantage: knob(between(0, 1000), 5, 'Advantages are clamped to ± this.'),
  filter: knob(between(0.01, 1), 1, 'Share of groups kept, largest spread of rewards first; below 1 this is StarPO-S.', 'share'),
  dropFlat: knob(z.boolean(), false, 'Leave out groups whose rewards are all equal, as DAPO does: they teach nothing.'),
  ratio: knob(
    z.enum(['token', 'turn', 'weight']),
    'token',
    'π/π_old: clipped for each token (PPO), one for each turn and clipped (GSPO), or a clipped weight without gradient (CISPO).',
  ),
  ...creditSettings,
  ...clippedSettings,
  ...entropySetting(0.001),
  ...klSettings(0.001),
});
type Settings = z.infer<typeof schema>;

/** Per token: the advantage, the sampler's log-probability, with a KL the reference's, and with a ratio per turn which turn it is. */
interface GrpoInputs extends Inputs {
  readonly episode: Record<never, Float32Array>;
  readonly token: ClippedInputs & KlInputs & Partial<TurnInputs>;
}

export const grpo: Algorithm<typeof schema, GrpoInputs> = {
  id: 'grpo',
  title: 'GRPO (StarPO)',
  source:
    'RAGEN: StarPO without a critic; StarPO-S with the variance filter; GiGPO, HGPO, GraphGPO, VinePPO, RLOO, DAPO, GSPO and CISPO as settings',
  settings: schema,

  needs: (settings) => ({
    vstar: false,
    reference: klNeeds(settings),
    critic: false,
    group: settings.group,
    epochs: settings.epochs,
    minibatches: settings.minibatches,
    ...(settings.credit === 'branch' && { branches: { count: settings.creditBranches, by: 'policy' } }),
  }),

  prepare(trajectories, settings, progress) {
    const rewards = rewardsOf(trajectories, progress.reward);
    const groups = groupBy(trajectories.map((trajectory) => trajectory.task)).map((members) => {
      const rewardsOfGroup = members.map((i) => rewards[i]!);
      return { members, spread: deviation(rewardsOfGroup) };
    });
    const kept = Math.max(1, Math.ceil(groups.length * settings.filter - 1e-9));
    const best = new Set([...groups].sort((a, b) => b.spread - a.spread).slice(0, kept));
    const used = groups.filter((group) => best.has(group) && !(settings.dropFlat && group.spread === 0));
    const keep = trajectories.map(() => false);
    for (const { members } of used) for (const i of members) keep[i] = true;
    const { perToken, logged } = advantagesOf(trajectories, rewards, settings, progress);
    return {
      episode: {},
      token: {
        advantage: perToken,
        old: tokenNumbers(trajectories, 'logProbs'),
        ...klInputs(trajectories, settings),
        ...(settings.ratio === 'turn' && turnInputs(trajectories)),
      },
      keep,
      metrics: {
        ...advantageMetrics(logged),
        'group.spread': mean(groups.map((group) => group.spread)),
        'group.flat': mean(groups.map((group) => (group.spread === 0 ? 1 : 0))),
        'group.kept': groups.length === 0 ? 0 : used.length / groups.length,
      },
      distributions: { advantage: logged },
    };
  },

  loss(_graph, policy, input, settings) {
    const surrogateOf = { token: clippedSurrogate, turn: turnSurrogate, weight: weightedSurrogate }[settings.ratio];
    const surrogate = surrogateOf(policy, input, settings.clipLow, settings.clipHigh);
    const { loss, metrics } = regularised(policy, input, surrogate.loss, settings);
    return { loss, metrics: { ...metrics, ...surrogate.metrics } };
  },
};

/** The advantage of every token, and the numbers to log: one for each episode, or with credit by the turn one for each turn. */
function advantagesOf(trajectories: readonly Trajectory[], rewards: Float32Array, settings: Settings, progress: Progress) {
  const limit = (value: number): number => clamp(value, -settings.clampAdvantage, settings.clampAdvantage);
  if (settings.credit !== 'episode') {
    const turns = groupCredit(trajectories, settings, progress).map((list) => list.map(limit));
    return { perToken: toTokens(trajectories, turns), logged: Float32Array.from(turns.flatMap((list) => [...list])) };
  }
  const logged = compared(trajectories, rewards, settings).map(limit);
  const perToken = trajectories.map((trajectory, i) => new Float32Array(agentTokenCount(trajectory)).fill(logged[i]!));
  return { perToken, logged };
}

/** Each reward less what it is compared with, divided by the spread where the settings say so. */
function compared(trajectories: readonly Trajectory[], rewards: Float32Array, { baseline, divideBySpread }: Settings): Float32Array {
  const advantages = new Float32Array(rewards.length);
  const sets = baseline === 'update' ? [trajectories.map((_, i) => i)] : groupBy(trajectories.map(({ task }) => task));
  for (const members of sets) {
    const all = members.map((i) => rewards[i]!);
    const centre = mean(all);
    const spread = deviation(all);
    // r − mean of the others = (r − mean of all) · n/(n − 1)
    const factor = baseline === 'others' && members.length > 1 ? members.length / (members.length - 1) : 1;
    for (const i of members) {
      const centred = (rewards[i]! - centre) * factor;
      advantages[i] = divideBySpread ? centred / (spread + 1e-6) : centred;
    }
  }
  return advantages;
}
