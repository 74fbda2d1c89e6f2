// What is cloned of a demonstration: all that the demonstrator said, or, with skipMistakes, only what was right, in the same context.

import { expect, test } from 'vitest';
import { demonstrations } from '../../main/environment/demonstrations.ts';
import { cloningRate, demonstrated } from '../../main/training/reference/reference.ts';
import { smallest } from './host.ts';
import { openRun } from '../catalog.ts';

const rows = (skipMistakes: boolean, anyWay: number) =>
  demonstrated(
    openRun(
      smallest({
        world: { name: 'frozenlake', settings: { lakes: 40, view: 'short' } },
        reference: { demonstrations: 20, skipMistakes, imperfection: { anyWay, unaware: 0 } },
      }),
    ),
  ).flatMap((sample) => sample.rows);
const learned = (list: ReturnType<typeof rows>): number => list.reduce((sum, { agent }) => sum + agent.length, 0);

test('mistakes are played either way, and left out of what is learned where that is asked for', () => {
  const [all, right] = [rows(false, 0.5), rows(true, 0.5)];
  expect(learned(right)).toBeGreaterThan(0.3 * learned(all));
  expect(learned(right)).toBeLessThan(0.7 * learned(all));
  // The same episodes: each row of the second kind is a row of the first.
  const texts = new Set(all.map(({ tokens }) => tokens.join(' ')));
  expect(right.every(({ tokens }) => texts.has(tokens.join(' ')))).toBe(true);
  expect(rows(true, 0)).toEqual(rows(false, 0));
  expect(rows(true, 1)).toEqual([]);
});

test('who searches in the words of the shop names the product; by default half of the searches are in those of the user', () => {
  const { world, environment } = openRun(smallest({ world: { name: 'shop' } }));
  const exact = { wrongWord: 0, earlyPurchase: 0, uselessClick: 0 };
  const translated = (imperfection: Record<string, number>): number => {
    const shown = [...demonstrations(world, environment, { count: 200, seed: 1, imperfection })].map(({ task, turns }) => {
      const words = turns[0]?.action.split(' ').slice(1) ?? [];
      return words.every((word) => task.instruction.includes(word));
    });
    return shown.filter((literal) => !literal).length;
  };
  const always = translated({ ...exact, userWords: 0 });
  expect(always).toBeGreaterThan(60); // tasks that name it otherwise
  expect(translated({ ...exact, userWords: 1 })).toBe(0);
  expect(translated(exact)).toBeGreaterThan(0.3 * always);
  expect(translated(exact)).toBeLessThan(0.7 * always);
});

test('tiers that are named are demonstrated more often in a round, or never; a tier that does not exist is refused', () => {
  const { world, environment } = openRun(smallest({ world: { name: 'shop' } }));
  const counted = (tiers: string): Record<string, number> => {
    const counts: Record<string, number> = {};
    for (const { task } of demonstrations(world, environment, { count: 600, seed: 1, tiers }))
      counts[task.tier] = (counts[task.tier] ?? 0) + 1;
    return counts;
  };
  const share = ({ constrained = 0, ...others }: Record<string, number>): number =>
    constrained / Object.values(others).reduce((sum, count) => sum + count, 0);
  const once = share(counted(''));
  expect(share(counted('constrained:1'))).toBe(once);
  expect(share(counted('constrained:4')) / once).toBeGreaterThan(3);
  expect(share(counted('constrained:4')) / once).toBeLessThan(5.5);
  expect(Object.keys(counted('plain:0, paraphrased:0'))).toEqual(['constrained']);
  expect(() => counted('hard:2')).toThrow('reference.tiers: expected tiers of shop (plain, paraphrased, constrained), found hard');
  expect(() => counted('plain:0, paraphrased:0, constrained:0')).toThrow('reference.tiers: expected a tier with tasks above 0');
});

test('the learning rate of cloning rises, is held for a part of the steps and falls to a tenth', () => {
  const rates = (hold: number) =>
    Array.from({ length: 101 }, (_, step) => cloningRate({ learningRate: 1, warmup: 10, hold, steps: 100 }, step));
  const half = rates(0.5);
  expect([half[0], half[9], half[50], half[75], half[100]].map((rate) => rate?.toFixed(3))).toEqual([
    '0.100',
    '1.000',
    '1.000',
    '0.550',
    '0.100',
  ]);
  const short = rates(0.2);
  expect([short[20], short[60], short[100]].map((rate) => rate?.toFixed(3))).toEqual(['1.000', '0.550', '0.100']);
  expect(
    rates(1)
      .slice(9)
      .every((rate) => rate === 1),
  ).toBe(true);
});

test('demonstrations in groups are of one task under the same names, and differ in their mistakes', () => {
  const { world, environment } = openRun(smallest({ world: { name: 'shop' } }));
  const made = (group: number) => [
    ...demonstrations(world, environment, {
      count: 90,
      seed: 1,
      group,
      imperfection: { wrongWord: 0, earlyPurchase: 0.5, uselessClick: 0 },
    }),
  ];
  const groups = Array.from({ length: 30 }, (_, i) => made(3).slice(3 * i, 3 * i + 3));
  for (const group of groups) {
    expect(new Set(group.map(({ task }) => task.id)).size).toBe(1);
    expect(new Set(group.map(({ seed }) => seed)).size).toBe(1); // by which ids, words and prices trade places
  }
  expect(new Set(groups.map(([first]) => first?.task.id)).size).toBe(30);
  expect(new Set(groups.map(([first]) => first?.seed)).size).toBe(30);
  const mixed = groups.filter((group) => new Set(group.map(({ turns }) => turns.map(({ action }) => action).join())).size > 1);
  expect(mixed.length).toBeGreaterThan(15); // three of four, but for hasty purchases that were right
  expect(
    made(1)
      .map(({ task }) => task.id)
      .slice(0, 30),
  ).toEqual(groups.map(([first]) => first?.task.id));
});
