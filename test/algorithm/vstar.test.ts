import { expect, test } from 'vitest';
import { biLevelGae, gae, normalise } from '../../main/algorithm/advantage.ts';
import { deviation } from '../../main/base/statistics.ts';
import { advanceCurriculum, CurriculumSettings, startCurriculum } from '../../main/algorithm/curriculum.ts';
import { tokenRewards } from '../../main/algorithm/ppo.ts';
import { rewardOf, scheduled, smoothMaximum, vstarOf } from '../../main/algorithm/vstar.ts';
import { trajectory } from './batch.ts';

const binary = (k: number, n: number) => Array.from({ length: n }, (_, i) => (i < k ? 1 : 0));

test('V* has the expected values for β1 = 0.5 and 8 binary samples', () => {
  for (const [k, value] of [
    [0, 0],
    [1, 0.2935],
    [2, 0.4772],
    [4, 0.7169],
    [8, 1],
  ] as const) {
    expect(Math.abs(smoothMaximum(binary(k, 8), 0.5) - value)).toBeLessThan(5e-5);
  }
});

test('the smooth maximum is the maximum for small β1, the mean for large, and never overflows', () => {
  const rewards = [0.1, -2, 0.7, 0.4];
  expect(smoothMaximum(rewards, 1e-6)).toBeCloseTo(0.7, 5);
  expect(smoothMaximum(rewards, 1e6)).toBeCloseTo(-0.2, 5);
  expect(smoothMaximum([1000, 1000], 1e-6)).toBe(1000);
  expect(smoothMaximum([1e5, -1e5], 0.01)).toBeCloseTo(1e5 + 0.01 * Math.log(0.5), 6);
  expect(vstarOf(rewards, { estimator: 'max', beta1: 0.5 })).toBe(0.7);
  expect(vstarOf(rewards, { estimator: 'mean', beta1: 0.5 })).toBeCloseTo(-0.2, 12);
  expect(() => vstarOf([], { estimator: 'max', beta1: 0.5 })).toThrow(/at least one reward/);
});

test('the reward of an episode is its success or its return', () => {
  expect([rewardOf({ success: true, return: 0.4 }, 'binary'), rewardOf({ success: true, return: 0.4 }, 'shaped')]).toEqual([1, 0.4]);
  expect(rewardOf({ success: false, return: -0.3 }, 'binary')).toBe(0);
});

test('adaptive sampling goes 8 → 4 → 2 over the run', () => {
  const counts = Array.from({ length: 9 }, (_, update) => scheduled([8, 4, 2], update, 9));
  expect(counts).toEqual([8, 8, 8, 4, 4, 4, 2, 2, 2]);
  expect(scheduled([8], 100, 9)).toBe(8);
  expect(scheduled([8, 4, 2], 99, 9)).toBe(2);
});

test('GAE with λ = 1 is the discounted return minus the value, with λ = 0 the one-step error', () => {
  const rewards = [0, 0.5, 1];
  const values = [0.2, 0.4, 0.3];
  const full = gae(rewards, values, 0.9, 1);
  expect(full.returns[0]).toBeCloseTo(0.9 * 0.5 + 0.81 * 1, 6);
  expect(full.advantages[0]).toBeCloseTo(0.45 + 0.81 - 0.2, 6);
  expect(gae(rewards, values, 0.9, 0).advantages[1]).toBeCloseTo(0.5 + 0.9 * 0.3 - 0.4, 6);
});

test('bi-level GAE discounts between turns only by γ_turn, and between tokens of a turn by γ', () => {
  const rewards = [0, 0, 0, 1];
  const zero = [0, 0, 0, 0];
  const { returns } = biLevelGae(rewards, zero, [1, 3], 0.95, 1, 1);
  expect([...returns].map((value) => Number(value.toFixed(6)))).toEqual([0.95, 0.95, 1, 1]);
});

test('rewards stand at the last token of their turn; a turn without tokens hands its reward on', () => {
  const step = (reward: number, tokens: number) => ({ reward, logProbs: zeros(tokens), reference: zeros(tokens), values: zeros(tokens) });
  const zeros = (n: number) => new Array<number>(n).fill(0);
  const episode = trajectory({
    task: 't',
    success: true,
    vstar: 0,
    return: 1,
    steps: [step(0.25, 0), step(0.5, 2), step(1, 0), step(2, 1)],
  });
  expect([...tokenRewards(episode, 'shaped').rewards]).toEqual([0, 1.75, 2]);
  expect(tokenRewards(episode, 'shaped').turnEnds).toEqual([1, 2]);
  expect([...tokenRewards(episode, 'binary').rewards]).toEqual([0, 0, 1]);
});

test('normalising gives mean 0 and deviation 1, and zeros where there is no spread', () => {
  const values = normalise([1, 2, 3, 10]);
  expect(deviation(values)).toBeCloseTo(1, 5);
  expect([...normalise([2, 2])]).toEqual([0, 0]);
  expect([...normalise([5])]).toEqual([0]);
  expect(normalise([]).length).toBe(0);
});

test('a curriculum moves up every K updates, or at a success threshold, and stops at the top', () => {
  const every = CurriculumSettings.parse({ mode: 'updates', every: 2 });
  let state = startCurriculum(every, 3);
  const levels = [];
  for (let update = 0; update < 6; update++) {
    levels.push(state.level);
    state = advanceCurriculum(state, every, 3, 0);
  }
  expect(levels).toEqual([0, 0, 1, 1, 2, 2]);
  const success = CurriculumSettings.parse({ mode: 'success', threshold: 0.5, window: 2 });
  state = startCurriculum(success, 2);
  state = advanceCurriculum(state, success, 2, 1);
  expect(state.level).toBe(0);
  state = advanceCurriculum(state, success, 2, 0);
  expect(state.level).toBe(1);
  expect(startCurriculum(CurriculumSettings.parse({}), 4).level).toBe(3);
});
