// NAME: a policy gradient with the mean reward of each task's rollouts as its baseline. It works as it is; change `prepare` and `loss` step by step, and
// run `npm run lab -- plugin check DIR` after each change: it compares gradients with finite differences, adds micro-batches up and looks at the direction.

import type { Algorithm, Lab, Plugin, Tensor, Trajectory } from './astrolab.d.ts';

export default function plugin(lab: Lab): Plugin {
  const { z, knob, between, whole, mean, operators, trajectories: numbers } = lab;

  const settings = z.strictObject({
    group: knob(whole(2, 64), 4, 'Rollouts per task in one update.', 'episodes'),
    entropyBonus: knob(between(0, 1), 0.01, 'Weight of the mean token entropy, which is rewarded.'),
  });

  /** r minus the mean r of the same task. */
  function advantagesOf(trajectories: readonly Trajectory[], rewards: Float32Array): Float32Array {
    return rewards.map((reward, index) => {
      const others = rewards.filter((_, other) => trajectories[other]?.task === trajectories[index]?.task);
      return reward - mean(others);
    });
  }

  const algorithm: Algorithm = {
    id: 'NAME',
    title: 'NAME',
    source: 'My own',
    settings,

    needs: ({ group }: { group: number }) => ({ vstar: false, reference: 'none', critic: false, group, epochs: 1, minibatches: 1 }),

    prepare(trajectories, _settings, progress) {
      const advantage = advantagesOf(trajectories, numbers.rewardsOf(trajectories, progress.reward));
      const useful = advantage.filter((value) => value !== 0).length / Math.max(1, advantage.length);
      return {
        episode: { advantage },
        token: {},
        keep: trajectories.map(() => true),
        metrics: { ...numbers.advantageMetrics(advantage), 'NAME.useful': useful },
        distributions: { advantage },
      };
    },

    loss(_graph, policy, input, { entropyBonus }: { entropyBonus: number }) {
      const { mul, neg, sub } = operators;
      const gain: Tensor = mul(policy.perEpisode(policy.logProbs), input('advantage', 'episode'));
      const gradient = policy.episodeMean(neg(gain));
      const entropy = policy.tokenMean(policy.entropies);
      const loss = sub(gradient, mul(entropy, entropyBonus));
      return { loss, metrics: { loss, 'loss.policy': gradient, entropy } };
    },
  };

  return {
    algorithms: [algorithm],
    metrics: [{ id: 'NAME.useful', name: 'Useful episodes', formula: 'Episodes with an advantage other than 0 ÷ episodes', unit: 'share', direction: 'up' }],
    searchSpaces: { 'NAME': [{ key: 'training.learningRate', low: 2e-4, high: 3e-3 }, { key: 'algorithm.entropyBonus', low: 1e-3, high: 0.1 }] },
    checks: {
      'NAME: advantages of a task add up to nothing'() {
        const made = (task: string, success: boolean): Trajectory => ({ task, success, return: success ? 1 : 0, vstar: null, steps: [] });
        const advantages = advantagesOf([made('a', true), made('a', false), made('b', true)], Float32Array.of(1, 0, 1));
        if (advantages.join() !== '0.5,-0.5,0') throw new Error(`expected 0.5, -0.5, 0; found ${advantages.join(', ')}`);
      },
    },
  };
}
