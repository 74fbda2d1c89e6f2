// Performance profiles: every world counts the same, and arms of one world have none.

import { expect, test } from 'vitest';
import { armProfiles, performanceProfile } from '../../main/report/profiles.ts';

test('a profile is the share of runs above τ, each world weighing the same', () => {
  // Above 0.5: one of two runs here, all four there.
  const { value, low, high, n } = performanceProfile(
    [
      [0.4, 0.9],
      [0.6, 0.6, 0.7, 0.8],
    ],
    [0.5, 0.65, 0.95],
  );
  expect(n).toBe(6);
  expect(value).toEqual([0.75, 0.5, 0]);
  expect([low[0], high[0]]).toEqual([0.5, 1]);
  expect([low[2], high[2]]).toEqual([0, 0]);
  value.forEach((share, index) => {
    expect(low[index]).toBeLessThanOrEqual(share);
    expect(high[index]).toBeGreaterThanOrEqual(share);
  });
});

test('arms have profiles where they ran in several worlds, unevaluated runs apart', () => {
  const scored = (world: string, rate: number | null) => ({ world, rate });
  const one = { key: 'one', runs: [scored('shop', 0.5), scored('shop', 0.7)] };
  const two = { key: 'two', runs: [scored('shop', 0.5), scored('maths', 0.9), scored('maths', null)] };
  expect(armProfiles([one]).profiles).toEqual([]);
  const { worlds, profiles } = armProfiles([one, two]);
  expect(worlds).toEqual(['maths', 'shop']);
  expect(profiles.map(({ key, n }) => ({ key, n }))).toEqual([{ key: 'two', n: 2 }]);
});
