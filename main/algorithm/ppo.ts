// PPO as RAGEN's StarPO runs it with a critic (and the slides' A2C/GAE system): clipped ratio, GAE over the agent's tokens, value
// loss, entropy bonus. Each turn's reward stands at the turn's last token. With `bilevel`, GAE runs over the turns first
// (γ_turn), and each turn's return becomes the reward at its last token for token-level GAE. The critic shares the policy's
// trunk (RAGEN trains a separate one), hence one loss with a coefficient for the value part.

import { z } from 'zod';
import { between, knob } from '../base/knob.ts';
import { agentTokenCount, type Trajectory } from '../rollout/trajectory.ts';
import { biLevelGae, clamp, gae, normalise } from './advantage.ts';
import { deviation, mean } from '../base/statistics.ts';
import { advantageMetrics, tokenNumbers, type Algorithm, type Inputs } from './algorithm.ts';
import {
  type ClippedInputs,
  type KlInputs,
  clippedSurrogate,
  entropySetting,
  klInputs,
  klNeeds,
  klSettings,
  regularised,
  valueLoss,
  withTerm,
  clippedSettings,
} from './terms.ts';
import type { RewardKind } from './vstar.ts';

const schema = z.strictObject({
  gamma: knob(between(0, 1), 1, 'Discount from one token to the next.'),
  lambda: knob(between(0, 1), 1, 'GAE: 0 trusts the critic, 1 trusts the sampled return.'),
  bilevel: knob(z.boolean(), false, 'Bi-level GAE: over turns first, then over the tokens of each turn.'),
  gammaTurn: knob(between(0, 1), 0.95, 'Discount from one turn to the next (bi-level GAE).'),
  normaliseAdvantages: knob(z.boolean(), true, 'Normalise advantages over all tokens of the update.'),
  clampAdvantage: knob(between(0, 1000), 5, 'Advantages are clamped to ± this.'),

  valueCoefficient: knob(between(0, 100), 0.5, 'Weight of the value loss.'),
  valueClip: knob(between(0, 100), 0.5, 'The new value is kept within ± this of the old one in the value loss; 0 is no limit.', 'reward'),
  ...clippedSettings,
  ...entropySetting(0.001),
  ...klSettings(0.001),
});

/** Rewards at the turns' last tokens. A turn without tokens hands its reward to the turn before it, or else to the next one. */
export function tokenRewards(trajectory: Trajectory, kind: RewardKind): { rewards: Float32Array; turnEnds: number[] } {
  const rewards = new Float32Array(agentTokenCount(trajectory));
  const turnEnds: number[] = [];
  let position = -1;
  let pending = 0;
  trajectory.steps.forEach((step, index) => {
    const last = index === trajectory.steps.length - 1;
    const reward = kind === 'shaped' ? step.reward : last && trajectory.success ? 1 : 0;
    position += step.tokens.ids.length;
    if (step.tokens.ids.length > 0) turnEnds.push(position);
    if (position < 0) pending += reward;
    else {
      rewards[position] = rewards[position]! + reward + pending;
      pending = 0;
    }
  });
  return { rewards, turnEnds };
}

/** Per token: advantage and return of GAE, the sampler's log-probability and value, and with a KL the reference's log-probability. */
interface PpoInputs extends Inputs {
  readonly episode: Record<never, Float32Array>;
  readonly token: ClippedInputs & KlInputs & { returns: Float32Array[]; oldValues: Float32Array[] };
}

export const ppo: Algorithm<typeof schema, PpoInputs> = {
  id: 'ppo',
  title: 'PPO (StarPO)',
  source: 'RAGEN: StarPO with a critic and GAE; the slides’ A2C/GAE system',
  settings: schema,

  needs: (settings) => ({
    vstar: false,
    reference: klNeeds(settings),
    critic: true,
    group: 1,
    epochs: settings.epochs,
    minibatches: settings.minibatches,
  }),

  prepare(trajectories, settings, progress) {
    const oldValues = tokenNumbers(trajectories, 'values');
    const estimates = trajectories.map((trajectory, i) => {
      const { rewards, turnEnds } = tokenRewards(trajectory, progress.reward);
      return settings.bilevel
        ? biLevelGae(rewards, oldValues[i]!, turnEnds, settings.gammaTurn, settings.gamma, settings.lambda)
        : gae(rewards, oldValues[i]!, settings.gamma, settings.lambda);
    });
    const raw = join(estimates.map((estimate) => estimate.advantages));
    const all = (settings.normaliseAdvantages ? normalise(raw) : raw).map((a) =>
      clamp(a, -settings.clampAdvantage, settings.clampAdvantage),
    );
    const returns = estimates.map((estimate) => estimate.returns);
    return {
      episode: {},
      token: {
        advantage: cut(all, returns),
        returns,
        oldValues,
        old: tokenNumbers(trajectories, 'logProbs'),
        ...klInputs(trajectories, settings),
      },
      keep: trajectories.map(() => true),
      metrics: {
        ...advantageMetrics(raw),
        'value.mean': mean(join(oldValues)),
        'value.explained': explainedVariance(join(returns), join(oldValues)),
      },
      distributions: { advantage: all },
    };
  },

  loss(_graph, policy, input, settings) {
    const surrogate = clippedSurrogate(policy, input, settings.clipLow, settings.clipHigh);
    const value = valueLoss(policy, input, settings.valueClip);
    const { loss: policyLoss, metrics } = regularised(policy, input, surrogate.loss, settings);
    const loss = withTerm(policyLoss, settings.valueCoefficient, value);
    return { loss, metrics: { ...metrics, loss, 'loss.value': value, ...surrogate.metrics } };
  },
};

function join(parts: readonly Float32Array[]): Float32Array {
  const all = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    all.set(part, offset);
    offset += part.length;
  }
  return all;
}

/** `all` in pieces as long as those of `like`. */
function cut(all: Float32Array, like: readonly Float32Array[]): Float32Array[] {
  let offset = 0;
  return like.map((part) => all.slice(offset, (offset += part.length)));
}

/** 1 − Var(R − V)/Var(R): 1 is a perfect critic, 0 one that knows only the mean; 0 when returns have no spread. */
function explainedVariance(returns: Float32Array, values: Float32Array): number {
  const spread = deviation(returns) ** 2;
  return spread === 0 ? 0 : 1 - deviation(returns.map((value, i) => value - values[i]!)) ** 2 / spread;
}
