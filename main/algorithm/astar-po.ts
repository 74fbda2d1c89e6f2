// A*PO (optimal advantage regression): the log-ratio to the reference is regressed on the optimal advantage,
//   mean over tasks of ( β2 · (log π(y|x) − log π_ref(y|x)) − (r − V*) )² − entropy bonus.
// One on-policy sample per task (or `group`); no clipping, no critic, no normalisation of advantages. Log-probabilities are summed over
// all of the agent's tokens. Departure from the paper: β2 defaults to 0.03, because a small policy's log-probabilities of a
// whole trajectory are tens of nats, not thousands (docs/algorithms/astar-po.md).

import { z } from 'zod';
import { mul, square, sub } from '../engine/graph/operators.ts';
import { between, knob, whole } from '../base/knob.ts';
import { advantageMetrics, optimalAdvantages, referenceSums, type Algorithm, type Inputs } from './algorithm.ts';
import { entropySetting, withTerm } from './terms.ts';
import { rewardOf } from './vstar.ts';

const schema = z.strictObject({
  beta2: knob(
    between(1e-5, 10),
    0.03,
    'Strength of the pull to the reference: the log-ratio that an advantage of 1 aims at is 1/β2.',
    'reward per nat',
  ),
  group: knob(whole(1, 256), 1, 'Rollouts of each task in an update. Language models compute once what they share.', 'episodes'),
  ...entropySetting(0.001),
});

/** Per episode: r − V*, and log π_ref(y|x). */
interface AstarPoInputs extends Inputs {
  readonly episode: { advantage: Float32Array; reference: Float32Array };
  readonly token: Record<never, Float32Array[]>;
}

export const astarPo: Algorithm<typeof schema, AstarPoInputs> = {
  id: 'astar-po',
  title: 'A*PO',
  source: 'The A*PO paper: optimal advantage regression',
  settings: schema,

  needs: ({ group }) => ({ vstar: true, reference: 'tokens', critic: false, group, epochs: 1, minibatches: 1 }),

  prepare(trajectories, _settings, progress) {
    const advantage = optimalAdvantages(trajectories, (trajectory) => rewardOf(trajectory, progress.reward));
    return {
      episode: { advantage, reference: referenceSums(trajectories) },
      token: {},
      keep: trajectories.map(() => true),
      metrics: advantageMetrics(advantage),
      distributions: { advantage },
    };
  },

  loss(_graph, policy, input, { beta2, entropyBonus }) {
    const logRatio = sub(policy.perEpisode(policy.logProbs), input('reference', 'episode')); // [E]
    const residual = sub(mul(logRatio, beta2), input('advantage', 'episode'));
    const regression = policy.episodeMean(square(residual));
    const entropy = policy.tokenMean(policy.entropies);
    const loss = withTerm(regression, -entropyBonus, entropy);
    return { loss, metrics: { loss, 'loss.policy': regression, entropy, logratio: policy.episodeMean(logRatio) } };
  },
};
