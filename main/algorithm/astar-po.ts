// A*PO (optimal advantage regression): the log-ratio to the reference is regressed on the optimal advantage,
//   mean over tasks of ( β2 · (log π(y|x) − log π_ref(y|x)) − (r − V*) )² − entropy bonus.
// One on-policy sample per task (or `group`); no clipping, no critic, no normalisation of advantages. Log-probabilities are summed over
// all of the agent's tokens. With `credit` by the turn the same regression is made for every turn on its own optimal advantage,
// r + γ·V*(next state) − V*(state), whose sum over an episode (γ = 1) is r − V*. Departure from the paper: β2 defaults to 0.03, because a small policy's log-probabilities of a
// whole trajectory are tens of nats, not thousands (docs/algorithms/astar-po.md).

import { z } from 'zod';
import { mul, square, sub } from '../engine/graph/operators.ts';
import { between, knob, whole } from '../base/knob.ts';
import {
  advantageMetrics,
  optimalAdvantages,
  referenceSums,
  tokenNumbers,
  type Algorithm,
  type Inputs,
  type LossInput,
} from './algorithm.ts';
import type { PolicyTensors } from '../policy/transformer/batch.ts';
import { mean } from '../base/statistics.ts';
import { creditSettings, toTokens, turnTargets } from './credit.ts';
import { entropySetting, perTurn, type TurnInputs, turnInputs, withTerm } from './terms.ts';
import { rewardOf } from './vstar.ts';

const schema = z.strictObject({
  beta2: knob(
    between(1e-5, 10),
    0.03,
    'Strength of the pull to the reference: the log-ratio that an advantage of 1 aims at is 1/β2.',
    'reward per nat',
  ),
  group: knob(whole(1, 256), 1, 'Rollouts of each task in an update. Language models compute once what they share.', 'episodes'),
  minibatches: knob(whole(1, 256), 1, 'Optimizer steps per update, each on an equal part of the episodes; the authors take 2.', 'steps'),
  ...creditSettings,
  ...entropySetting(0.001),
});

/** Per episode r − V* and log π_ref(y|x); with credit by the turn instead per token the turn's advantage, log π_ref and its turn. */
interface AstarPoInputs extends Inputs {
  readonly episode: { advantage?: Float32Array; reference?: Float32Array };
  readonly token: { advantage?: Float32Array[]; tokenReference?: Float32Array[] } & Partial<TurnInputs>;
}
type Input = LossInput<keyof AstarPoInputs['episode'], 'advantage' | 'tokenReference' | keyof TurnInputs>;

export const astarPo: Algorithm<typeof schema, AstarPoInputs> = {
  id: 'astar-po',
  title: 'A*PO',
  source: 'The A*PO paper: optimal advantage regression',
  settings: schema,

  needs: ({ group, minibatches, credit, creditBranches }) => ({
    vstar: true,
    reference: 'tokens',
    critic: false,
    group,
    epochs: 1,
    minibatches,
    ...(credit === 'branch' && { branches: { count: creditBranches, by: 'reference' } }),
  }),

  prepare(trajectories, settings, progress) {
    const keep = trajectories.map(() => true);
    if (settings.credit === 'episode') {
      const advantage = optimalAdvantages(trajectories, (trajectory) => rewardOf(trajectory, progress.reward));
      return {
        episode: { advantage, reference: referenceSums(trajectories) },
        token: {},
        keep,
        metrics: advantageMetrics(advantage),
        distributions: { advantage },
      };
    }
    const turns = turnTargets(trajectories, settings, progress, progress.value ?? mean);
    const advantage = Float32Array.from(turns.flatMap((list) => [...list]));
    return {
      episode: {},
      token: {
        advantage: toTokens(trajectories, turns),
        tokenReference: tokenNumbers(trajectories, 'referenceLogProbs'),
        ...turnInputs(trajectories),
      },
      keep,
      metrics: advantageMetrics(advantage),
      distributions: { advantage },
    };
  },

  loss(_graph, policy, input, { beta2, entropyBonus, credit }) {
    const { regression, logRatio } = credit === 'episode' ? byEpisode(policy, input, beta2) : byTurn(policy, input, beta2);
    const entropy = policy.tokenMean(policy.entropies);
    const loss = withTerm(regression, -entropyBonus, entropy);
    return { loss, metrics: { loss, 'loss.policy': regression, entropy, logratio: policy.episodeMean(logRatio) } };
  },
};

function byEpisode(policy: PolicyTensors, input: Input, beta2: number) {
  const logRatio = sub(policy.perEpisode(policy.logProbs), input('reference', 'episode')); // [E]
  const residual = sub(mul(logRatio, beta2), input('advantage', 'episode'));
  return { regression: policy.episodeMean(square(residual)), logRatio };
}

/** The sum over an episode's turns of (β2 · the turn's log-ratio − its advantage)². */
function byTurn(policy: PolicyTensors, input: Input, beta2: number) {
  const perToken = sub(policy.logProbs, input('tokenReference', 'token'));
  const ofTurn = perTurn(policy, perToken, input('turn', 'token')); // [R, A], the same at every token of a turn
  const residual = sub(mul(ofTurn, beta2), input('advantage', 'token'));
  const squares = policy.perEpisode(mul(square(residual), input('turnShare', 'token')));
  return { regression: policy.episodeMean(squares), logRatio: policy.perEpisode(perToken) };
}
