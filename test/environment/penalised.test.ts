// A price on what a world cannot understand: charged where it is due, and nowhere else.

import { expect, test } from 'vitest';
import { penalised, unpriced } from '../../main/environment/penalised.ts';
import { findWorld } from '../../main/environment/registry.ts';
import { worldHash } from '../../main/training/run-setup.ts';

const shop = findWorld('shop').create({});
const [task] = shop.tasks('train');
if (!task) throw new Error('The shop has no tasks');

test('an invalid action costs its price and says so; every other turn pays what it did', () => {
  const priced = penalised(shop, 0.25);
  const start = priced.reset(task, 1);
  const wrong = priced.step(start.state, 'jump about');
  expect(wrong).toMatchObject({ valid: false, reward: -0.25 });
  expect(wrong.reason).toMatch(/cannot be understood: −0\.25$/);
  expect(wrong.state).toEqual(shop.step(start.state, 'jump about').state);
  expect(priced.step(start.state, 'search red shoes')).toEqual(shop.step(start.state, 'search red shoes'));
  expect(priced.rewardRange[0]).toBe(shop.rewardRange[0] - 0.25);
  expect(priced.returnRange[0]).toBe(shop.returnRange[0] - 0.25 * shop.maxSteps);
});

test('values of tasks are not shared between prices, and without a price the world is the same one', () => {
  expect(penalised(shop, 0)).toBe(shop);
  const hashes = [shop, penalised(shop, 0.1), penalised(shop, 0.2)].map((world) => worldHash(world, 0));
  expect(new Set(hashes).size).toBe(3);
  expect(unpriced(penalised(shop, 0.1))).toBe(shop); // what a reference is cloned in
  expect(unpriced(shop)).toBe(shop);
});
