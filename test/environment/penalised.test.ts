// A price on what a world cannot understand: charged where it is due, and nowhere else.

import { expect, test } from 'vitest';
import { penalised } from '../../main/environment/penalised.ts';
import { worldHash } from '../../main/training/run-setup.ts';
import { findWorld } from '../catalog.ts';

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

test('with any price it is the same world, so that success may be compared; without one nothing is wrapped', () => {
  expect(penalised(shop, 0)).toBe(shop);
  expect(worldHash(penalised(shop, 0.1), 0)).toBe(worldHash(shop, 0));
});
