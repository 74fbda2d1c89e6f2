// REINFORCE with V* as its baseline, as new_ragen had it, the system that failed:  mean of −log π(y|x) · (r − V*).
// Advantages are raw and signed, r carries a penalty for every step, and there is no KL and no curriculum. Its V* is the
// plain maximum and its reward the shaped return; both are settings of the run (vstar.estimator, training.reward).

import { z } from 'zod';
import { between, knob, whole } from '../base/knob.ts';
import { mul, neg } from '../engine/graph/operators.ts';
import { clamp } from './advantage.ts';
import type { Tensor } from '../engine/graph/graph.ts';
import type { PolicyTensors } from '../policy/transformer/batch.ts';
import { mean } from '../base/statistics.ts';
import { advantageMetrics, lengthInputs, optimalAdvantages, type Algorithm, type Inputs, type LossInput } from './algorithm.ts';
import { creditSettings, toTokens, turnTargets } from './credit.ts';
import { entropySetting, lengthSetting, penaltySetting, weightedCrossEntropy, withTerm } from './terms.ts';
import { rewardOf } from './vstar.ts';

const schema = z.strictObject({
  group: knob(whole(1, 256), 1, 'Rollouts of each task in an update.', 'episodes'),
  ...penaltySetting(0.1),
  clampAdvantage: knob(between(0, 1000), 10, 'Advantages are clamped to ± this: far out, as a guard only.', 'reward'),
  ...creditSettings,
  ...lengthSetting(false),
  ...entropySetting(0),
});

/** Per episode r − V*, or per token its turn's advantage; 1 / length where it is divided by. */
interface ReinforceInputs extends Inputs {
  readonly episode: { advantage?: Float32Array; inverseLength?: Float32Array };
  readonly token: { advantage?: Float32Array[] };
}

export const reinforce: Algorithm<typeof schema, ReinforceInputs> = {
  id: 'reinforce',
  title: 'REINFORCE with V*',
  source: 'new_ragen: policy gradient with V* as the baseline',
  settings: schema,

  needs: ({ group, credit, creditBranches }) => ({
    vstar: credit === 'episode',
    reference: 'none',
    critic: false,
    group,
    epochs: 1,
    minibatches: 1,
    ...(credit === 'branch' && { branches: { count: creditBranches, by: 'policy' } }),
  }),

  prepare(trajectories, settings, progress) {
    const limit = (a: number): number => clamp(a, -settings.clampAdvantage, settings.clampAdvantage);
    const lengths = lengthInputs(trajectories, settings.lengthNormalise);
    const keep = trajectories.map(() => true);
    if (settings.credit !== 'episode') {
      const turns = turnTargets(trajectories, settings, { ...progress, penalty: settings.stepPenalty }, mean).map((list) =>
        list.map(limit),
      );
      const advantage = Float32Array.from(turns.flatMap((list) => [...list]));
      const token = { advantage: toTokens(trajectories, turns) };
      return { episode: lengths, token, keep, metrics: advantageMetrics(advantage), distributions: { advantage } };
    }
    const raw = optimalAdvantages(
      trajectories,
      (trajectory) => rewardOf(trajectory, progress.reward) - settings.stepPenalty * trajectory.steps.length,
    );
    const advantage = raw.map(limit);
    return {
      episode: { advantage, ...lengths },
      token: {},
      keep,
      metrics: advantageMetrics(advantage),
      distributions: { advantage },
    };
  },

  loss(_graph, policy, input, settings) {
    const gradient =
      settings.credit === 'episode'
        ? weightedCrossEntropy(policy, input, 'advantage', settings.lengthNormalise)
        : turnGradient(policy, input, settings.lengthNormalise);
    const entropy = policy.tokenMean(policy.entropies);
    const loss = withTerm(gradient, -settings.entropyBonus, entropy);
    return { loss, metrics: { loss, 'loss.policy': gradient, entropy } };
  },
};

/** Mean over episodes of −Σ log π · the advantage of the token's turn. */
function turnGradient(policy: PolicyTensors, input: LossInput<'inverseLength', 'advantage'>, normalise: boolean): Tensor {
  const sum = neg(policy.perEpisode(mul(policy.logProbs, input('advantage', 'token'))));
  return policy.episodeMean(normalise ? mul(sum, input('inverseLength', 'episode')) : sum);
}
