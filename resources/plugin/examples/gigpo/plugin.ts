// GiGPO (arXiv 2505.10978) from outside: the episode's advantage in its group, plus that of each turn among all turns that begin in the same state.

import type { Algorithm, Lab, Plugin, Trajectory } from './astrolab.d.ts';

interface Settings {
  readonly group: number;
  readonly discount: number;
  readonly weight: number;
  readonly clip: number;
}

export default function plugin(lab: Lab): Plugin {
  const { z, knob, between, whole, mean, deviation, advantage, terms, trajectories: numbers } = lab;

  const settings = z.strictObject({
    group: knob(whole(2, 64), 8, 'Rollouts per task in one update.', 'episodes'),
    discount: knob(between(0, 1), 0.95, 'What a reward one turn later is worth.'),
    weight: knob(between(0, 10), 1, 'Weight of the advantage of a turn beside that of its episode.'),
    clip: knob(between(0, 1), 0.2, 'How far the probability ratio may move before it is cut.'),
  });

  /** (value − mean) ÷ std inside groups of equal keys; groups of one get 0. */
  function compared(values: readonly number[], keys: readonly string[]): number[] {
    const out = values.map(() => 0);
    for (const members of advantage.groupBy(keys)) {
      const own = members.map((i) => values[i] ?? 0);
      if (own.length > 1) members.forEach((i, at) => (out[i] = ((own[at] ?? 0) - mean(own)) / (deviation(own) + 1e-6)));
    }
    return out;
  }

  /** One number for every turn, episode after episode. */
  function turnAdvantages(episodes: readonly Trajectory[], { discount, weight }: Settings): number[] {
    const turns = episodes.flatMap(({ task, steps, success }) =>
      steps.map(({ observation }, turn) => ({
        task,
        state: JSON.stringify([task, observation]),
        return: Number(success),
        toGo: Number(success) * discount ** (steps.length - 1 - turn),
      })),
    );
    const ofEpisode = compared(turns.map((turn) => turn.return), turns.map(({ task }) => task));
    const ofTurn = compared(turns.map(({ toGo }) => toGo), turns.map(({ state }) => state));
    return turns.map((_, i) => (ofEpisode[i] ?? 0) + weight * (ofTurn[i] ?? 0));
  }

  const algorithm: Algorithm = {
    id: 'my-gigpo',
    title: 'GiGPO from outside',
    source: 'arXiv 2505.10978',
    settings,
    needs: ({ group }: Settings) => ({ vstar: false, reference: 'none', critic: false, group, epochs: 1, minibatches: 1 }),

    prepare(episodes, settings: Settings) {
      const turns = turnAdvantages(episodes, settings);
      let at = 0;
      const perToken = episodes.map(({ steps }) => Float32Array.from(steps.flatMap(({ tokens }) => Array(tokens.ids.length).fill(turns[at++]))));
      const all = Float32Array.from(turns);
      return {
        episode: {},
        token: { advantage: perToken, old: numbers.tokenNumbers(episodes, 'logProbs') },
        keep: episodes.map(() => true),
        metrics: numbers.advantageMetrics(all),
        distributions: { advantage: all },
      };
    },

    loss(_graph, policy, input, { clip }: Settings) {
      const { loss, metrics } = terms.clippedSurrogate(policy, input, clip, clip);
      return { loss, metrics: { loss, 'loss.policy': loss, ...metrics } };
    },
  };

  return { algorithms: [algorithm] };
}
