// OAPL (optimal advantages with a lagged policy, arXiv 2602.19362): A*PO's regression, but the reference is the policy of some updates ago and V
// comes from the group just drawn, so there is no stage 1 and no bound by the first reference:
//   mean over episodes of ( β · (log π(y|x) − log π_lag(y|x)) − (r − V̂(x)) )²,   V̂(x) = β · ln mean exp(r/β) over the task's group.
// Being a regression it needs no ratio and no clipping, so an update's episodes may be used several times.

import { z } from 'zod';
import { mul, square, sub } from '../engine/graph/operators.ts';
import { between, knob, whole } from '../base/knob.ts';
import { mean } from '../base/statistics.ts';
import { groupBy } from './advantage.ts';
import { advantageMetrics, referenceSums, rewardsOf, type Algorithm, type Inputs } from './algorithm.ts';
import { entropySetting, withTerm } from './terms.ts';
import { smoothMaximum } from './vstar.ts';

const schema = z.strictObject({
  beta: knob(
    between(1e-5, 10),
    0.1,
    'Strength of the pull to the lagged policy, and softness of V̂: the log-ratio that an advantage of 1 aims at is 1/β.',
    'reward per nat',
  ),
  lag: knob(whole(1, 10_000), 10, 'Updates after which the reference becomes the policy as it is then.', 'updates'),
  group: knob(whole(2, 256), 8, 'Rollouts of each task in an update: V̂ comes from them.', 'episodes'),
  epochs: knob(whole(1, 64), 2, 'Passes over the episodes of an update.', 'passes'),
  minibatches: knob(whole(1, 256), 1, 'Optimizer steps per pass, each on an equal part of the episodes.', 'steps'),
  ...entropySetting(0.001),
});

/** Per episode: r − V̂, and log π_lag(y|x). */
interface OaplInputs extends Inputs {
  readonly episode: { advantage: Float32Array; reference: Float32Array };
  readonly token: Record<never, Float32Array[]>;
}

export const oapl: Algorithm<typeof schema, OaplInputs> = {
  id: 'oapl',
  title: 'OAPL',
  source: 'Optimal advantages with a lagged policy: A*PO whose reference follows',
  settings: schema,

  needs: ({ group, epochs, minibatches, lag }) => ({
    vstar: false,
    reference: 'tokens',
    referenceLag: lag,
    critic: false,
    group,
    epochs,
    minibatches,
  }),

  prepare(trajectories, { beta }, progress) {
    const rewards = rewardsOf(trajectories, progress.reward);
    const advantage = new Float32Array(rewards.length);
    const values: number[] = [];
    for (const members of groupBy(trajectories.map(({ task }) => task))) {
      const value = smoothMaximum(
        members.map((i) => rewards[i]!),
        beta,
      );
      values.push(value);
      for (const i of members) advantage[i] = rewards[i]! - value;
    }
    return {
      episode: { advantage, reference: referenceSums(trajectories) },
      token: {},
      keep: trajectories.map(() => true),
      metrics: { ...advantageMetrics(advantage), 'vstar.group': mean(values) },
      distributions: { advantage },
    };
  },

  loss(_graph, policy, input, { beta, entropyBonus }) {
    const logRatio = sub(policy.perEpisode(policy.logProbs), input('reference', 'episode')); // [E]
    const regression = policy.episodeMean(square(sub(mul(logRatio, beta), input('advantage', 'episode'))));
    const entropy = policy.tokenMean(policy.entropies);
    const loss = withTerm(regression, -entropyBonus, entropy);
    return { loss, metrics: { loss, 'loss.policy': regression, entropy, logratio: policy.episodeMean(logRatio) } };
  },
};
