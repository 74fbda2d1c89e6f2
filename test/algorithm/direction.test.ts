// A few updates of a three-armed policy must move probability the way each algorithm's formula says.

import { expect, test } from 'vitest';
import { builtInAlgorithms } from '../../main/algorithm/registry.ts';
import { runLoss, shortEpisode, trajectory } from './batch.ts';
import { algorithmOf } from '../catalog.ts';

const ARMS = 3;

function softmax(logits: readonly number[]): number[] {
  const powers = logits.map((x) => Math.exp(x));
  const sum = powers.reduce((a, b) => a + b, 0);
  return powers.map((x) => x / sum);
}

interface Episode {
  readonly arm: number;
  readonly success: boolean;
  readonly vstar: number;
}

/** Gradient descent on the arms' logits with the algorithm's loss; the reference is the policy at the start. Returns π. */
async function learn(
  config: { id: string; [setting: string]: unknown },
  episodes: readonly Episode[],
  updates = 5,
  rate = 0.5,
): Promise<number[]> {
  const algorithm = algorithmOf(config);
  const logits = new Array<number>(ARMS).fill(0);
  const start = Math.log(1 / ARMS);
  for (let update = 0; update < updates; update++) {
    const policy = softmax(logits);
    const logProbs = episodes.map(({ arm }) => Math.log(policy[arm]!));
    const trajectories = episodes.map(({ success, vstar }, i) => shortEpisode('task', success, vstar, [logProbs[i]!], [start]));
    const prepared = algorithm.prepare(trajectories, { update, updates, reward: 'binary' });
    const zeros = new Float32Array(episodes.length);
    const leaves = { logProbs: Float32Array.from(logProbs), entropies: zeros, values: zeros, kl: zeros };
    const { gradients } = await runLoss(algorithm, trajectories, prepared, leaves);
    episodes.forEach(({ arm }, i) => {
      policy.forEach((p, other) => {
        logits[other] = logits[other]! - rate * gradients.logProbs[i]! * ((other === arm ? 1 : 0) - p);
      });
    });
  }
  return softmax(logits);
}

const winLose: Episode[] = [
  { arm: 0, success: true, vstar: 0.5 },
  { arm: 1, success: false, vstar: 0.5 },
];

for (const { id } of builtInAlgorithms) {
  test(`${id}: what succeeded becomes more probable than what failed`, async () => {
    const [win, lose] = await learn({ id }, winLose, 5, id === 'astar-po' ? 5 : 0.5);
    expect(win).toBeGreaterThan(1 / ARMS);
    expect(win! - lose!).toBeGreaterThan(0.01);
  });
}

test('policy gradients push a failure below where it started', async () => {
  for (const id of ['reinforce', 'reinforce-fixed', 'astar-pg', 'grpo', 'ppo', 'astar-po']) {
    const [, lose] = await learn({ id }, winLose, 3, 1);
    expect(lose, id).toBeLessThan(1 / ARMS);
  }
});

test('weighted SFT never pushes down: even a batch of failures is imitated, only less', async () => {
  const failures: Episode[] = [
    { arm: 0, success: false, vstar: 0.2 },
    { arm: 0, success: false, vstar: 1 },
  ];
  for (const id of ['weighted-sft', 'hybrid']) {
    const [failed] = await learn({ id, klCoefficient: 0 }, failures);
    expect(failed, id).toBeGreaterThan(1 / ARMS);
    const algorithm = algorithmOf({ id, klCoefficient: 0 });
    const mixed = [-4, -1, 0, 0.3, 1, 2, 9].map((vstar) => shortEpisode('t', false, vstar, [-1]));
    const weights = algorithm.prepare(mixed, { update: 0, updates: 1, reward: 'binary' }).episode.weight!;
    expect(Math.min(...weights)).toBeGreaterThanOrEqual(0.1 - 1e-7);
    const zeros = new Float32Array(mixed.length);
    const leaves = { logProbs: zeros.map(() => -1), entropies: zeros, values: zeros, kl: zeros };
    const { gradients } = await runLoss(algorithm, mixed, algorithm.prepare(mixed, { update: 0, updates: 1, reward: 'binary' }), leaves);
    for (const slope of gradients.logProbs) expect(slope).toBeLessThan(0);
  }
});

test('REINFORCE with raw advantages pushes a failure down where weighted SFT does not', async () => {
  const failure: Episode[] = [{ arm: 0, success: false, vstar: 1 }];
  const [pushed] = await learn({ id: 'reinforce' }, failure);
  expect(pushed).toBeLessThan(0.1);
});

test('A*PO settles where β2 · log(π/π_ref) equals the advantage', async () => {
  // Far out the ratio would be e^(A/β2); with β2 = 1 and advantages ±0.2 it can be reached exactly.
  const [win] = await learn({ id: 'astar-po', beta2: 1, entropyBonus: 0 }, [{ arm: 0, success: true, vstar: 0.8 }], 60, 0.5);
  expect(Math.log(win! * ARMS)).toBeCloseTo(0.2, 3);
});

test('a KL term pulls back to the reference', async () => {
  const free = await learn({ id: 'reinforce-fixed', klCoefficient: 0, entropyBonus: 0 }, winLose, 30, 0.1);
  const held = await learn({ id: 'reinforce-fixed', klCoefficient: 5, entropyBonus: 0 }, winLose, 30, 0.1);
  expect(Math.abs(held[0]! - 1 / ARMS)).toBeLessThan(Math.abs(free[0]! - 1 / ARMS));
});

test('StarPO-S drops the groups without spread', () => {
  const algorithm = algorithmOf({ id: 'grpo', filter: 0.5 });
  const flat = [shortEpisode('flat', true, 0, [-1]), shortEpisode('flat', true, 0, [-1])];
  const spread = [shortEpisode('spread', true, 0, [-1]), shortEpisode('spread', false, 0, [-1])];
  const prepared = algorithm.prepare([...flat, ...spread], { update: 0, updates: 1, reward: 'binary' });
  expect(prepared.keep).toEqual([false, false, true, true]);
  expect(prepared.metrics['group.flat']).toBe(0.5);
  expect(prepared.token.advantage![2]![0]).toBeCloseTo(Math.SQRT1_2, 5);
});

test('empty generations and single episodes never give NaN', async () => {
  const empty = trajectory({
    task: 'e',
    success: false,
    vstar: 0.5,
    return: 0,
    steps: [{ reward: 0, logProbs: [], reference: [], values: [] }],
  });
  const none = trajectory({ task: 'n', success: false, vstar: 0.5, return: 0, steps: [] });
  for (const { id } of builtInAlgorithms) {
    for (const batch of [[empty, none, shortEpisode('t', true, 0.5, [-1])], [shortEpisode('t', true, 0.5, [-1])]]) {
      const algorithm = algorithmOf({ id });
      const prepared = algorithm.prepare(batch, { update: 0, updates: 1, reward: 'shaped' });
      const numbers = [...Object.values(prepared.metrics), ...Object.values(prepared.episode).flatMap((list) => [...list])];
      const zeros = new Float32Array(batch.length * 2);
      const { loss, gradients } = await runLoss(algorithm, batch, prepared, {
        logProbs: zeros.map(() => -1),
        entropies: zeros,
        values: zeros,
        kl: zeros,
      });
      for (const value of [...numbers, loss, ...gradients.logProbs, ...gradients.values]) expect(Number.isFinite(value), id).toBe(true);
    }
  }
});

test('a missing V* or reference score is an error that names the task', () => {
  const progress = { update: 0, updates: 1, reward: 'binary' as const };
  const unknown = { ...shortEpisode('task-7', true, 0, [-1]), vstar: null };
  expect(() => algorithmOf({ id: 'astar-po' }).prepare([unknown], progress)).toThrow(/task-7.*V\*/);
  expect(() => algorithmOf({ id: 'astar-po' }).prepare([shortEpisode('task-8', true, 0, [-1], [])], progress)).toThrow(
    /task-8.*reference has not scored/,
  );
});
