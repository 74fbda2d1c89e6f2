// What the numbers about an evaluation's episodes mean, on episodes made by hand.

import { expect, test } from 'vitest';
import type { Facts, Task } from '../../main/environment/environment.ts';
import { COVERING_TERMS } from '../../main/environment/shop/settings.ts';
import { createShop } from '../../main/environment/shop/shop.ts';
import { type ConductedEpisode, conductOf } from '../../main/evaluation/conduct.ts';
import { rankCorrelation } from '../../main/base/statistics.ts';
import { findWorld } from '../catalog.ts';

const limited = findWorld('shop').create({ ids: 'spread', maxReachableId: 100, searchTerms: 'covering' });
const step = (action: string, facts: Facts) => ({ action, facts, valid: true });
const search = (targetShown: boolean, repeated = false) => step('search x', { kind: 'search', targetShown, repeated });
const click = (clicked: number) => step(`click ${clicked}`, { kind: 'click', clicked });
const buy = (bought: number) => step(`buy ${bought}`, { kind: 'buy', bought });
const episode = (task: Task, success: boolean, played: ConductedEpisode['played'], steps = played?.length ?? 2): ConductedEpisode => ({
  task,
  seed: 1,
  success,
  steps,
  played,
});

const tasks = limited.tasks('test');
const possible = tasks.filter(
  (task) => limited.reset(task, 1).facts.reachable === true && (limited.diagnostics?.coverage?.(task) ?? 0) > 0,
);
const impossible = tasks.filter((task) => limited.reset(task, 1).facts.reachable === false);
const wordless = tasks.filter((task) => limited.reset(task, 1).facts.reachable === true && limited.diagnostics?.coverage?.(task) === 0);
const [first, second] = possible;
const [out] = impossible;
const [mute] = wordless;
if (!first || !second || !out || !mute) throw new Error('The limited shop lacks a kind of task that this test needs');

test('achievable success leaves out what cannot be reached, and about a fifth of the tasks cannot', () => {
  const { achievable } = conductOf(limited, [episode(first, true, null), episode(second, false, null), episode(out, false, null)]);
  expect([achievable.k, achievable.n]).toEqual([1, 2]);
  expect(impossible.length / tasks.length).toBeGreaterThan(0.15);
  expect(impossible.length / tasks.length).toBeLessThan(0.25);
});

test('efficiency compares the steps of successes with the oracle’s, and failures do not count', () => {
  const oracle = 2;
  const { efficiency, stepShare } = conductOf(limited, [
    episode(first, true, null, 2 * oracle),
    episode(second, true, null, oracle),
    episode(out, false, null, 15),
  ]);
  expect(efficiency).toBeCloseTo((2 * oracle) / (3 * oracle), 12);
  expect(stepShare).toBeCloseTo((4 + 2 + 15) / 3 / 15, 12);
  expect(conductOf(limited, [episode(out, false, null, 15)]).efficiency).toBeNull();
});

test('traits are counted apart for successes and failures, over the episodes that were kept', () => {
  const { traits } = conductOf(limited, [
    episode(first, true, [search(true), click(4), buy(4)]),
    episode(first, true, [search(true), buy(4)]),
    episode(second, false, [search(false), search(true, true), click(5), buy(4)]),
    episode(second, false, null),
  ]);
  const counts = traits.map(({ id, successes, failures }) => [id, successes.k, successes.n, failures.k, failures.n]);
  expect(counts).toEqual([
    ['click-before-buy', 1, 2, 0, 1],
    ['first-search-finds', 2, 2, 0, 1],
    ['repeated-search', 0, 2, 1, 1],
  ]);
});

test('success is set against the words that may be searched for', () => {
  const { coverage } = conductOf(limited, [episode(first, true, null), episode(second, false, null), episode(mute, false, null)]);
  expect(coverage?.bands.map(({ words, success }) => [words, success.k, success.n])).toEqual([
    ['none', 0, 1],
    ['some', 1, 2],
  ]);
  expect([coverage?.missing.k, coverage?.missing.n]).toEqual([2, 2]);
  const open = findWorld('shop').create({});
  expect(conductOf(open, [episode(open.tasks('test')[0] ?? first, true, null)]).coverage).toBeNull();
});

test('rank correlation is 1 in the same order, −1 in the opposite one, shares ties and knows nothing of a constant', () => {
  expect(rankCorrelation([1, 2, 3], [10, 40, 50])).toBeCloseTo(1, 12);
  expect(rankCorrelation([1, 2, 3], [3, 2, 1])).toBeCloseTo(-1, 12);
  expect(rankCorrelation([1, 2, 2, 3], [1, 2, 3, 4])).toBeCloseTo(0.9487, 4);
  expect(rankCorrelation([1, 1, 1], [1, 2, 3])).toBeNull();
});

test('the covering terms find 49 of the first hundred products by one or two words', () => {
  const shop = createShop({ ids: 'spread', maxReachableId: 100 });
  const queries = COVERING_TERMS.flatMap((a) => COVERING_TERMS.map((b) => `${a} ${b}`));
  const shown = queries.flatMap((query) =>
    shop
      .indexAt(3)
      .search(query)
      .slice(0, 5)
      .map(({ id }) => id),
  );
  expect(COVERING_TERMS).toHaveLength(18);
  expect(new Set(shown.filter((id) => id <= 100)).size).toBe(49);
});
