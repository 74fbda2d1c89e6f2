// The rule that decides claims, on numbers whose answer is known.

import { expect, test } from 'vitest';
import { createWebShop } from '../../main/environment/webshop/webshop.ts';
import type { ResultsBySeed } from '../../main/evaluation/pairing.ts';
import { chancesOf, correctedChances, judge, pairArms, together } from '../../main/study/verdict.ts';
import { type ClusteredResult, TaskClusters } from '../../main/evaluation/clusters.ts';
import { BUILT_IN } from '../../main/config/catalog.ts';

/** Results of tasks 0, 1, …: solved where the text has a 1, else failed as a wrong purchase. */
function results(solved: string, failure = 'wrong-purchase'): ClusteredResult[] {
  return [...solved].map((one, task) => ({
    task: String(task),
    cluster: String(task),
    category: 'shoes',
    tier: 'plain',
    seed: 7,
    success: one === '1',
    return: Number(one),
    steps: 2,
    failure: one === '1' ? null : failure,
  }));
}
const arm = (...seeds: ClusteredResult[][]): ResultsBySeed => new Map(seeds.map((own, index) => [index + 1, own]));

test('a test is supported or refuted by a clear difference, equivalent when the margin is ruled out, else inconclusive', () => {
  const clear = { different: 0.01, equivalent: 1 };
  const open = { different: 0.2, equivalent: 0.2 };
  const small = { different: 0.2, equivalent: 0.03 };
  expect(judge(0.1, 'higher', clear)).toBe('supported');
  expect(judge(0.1, 'lower', clear)).toBe('refuted');
  expect(judge(-0.1, 'lower', clear)).toBe('supported');
  expect(judge(-0.1, 'higher', clear)).toBe('refuted');
  expect(judge(0.1, 'higher', open)).toBe('inconclusive');
  expect(judge(0.01, 'higher', small)).toBe('equivalent');
  expect(judge(0.01, 'equivalent', small)).toBe('supported');
  expect(judge(0.1, 'equivalent', clear)).toBe('refuted');
  expect(judge(0.1, 'equivalent', open)).toBe('inconclusive');
});

test('that an arm is not higher is supported also where it is clearly lower, and refuted where it is higher than the margin', () => {
  const difference = (value: number, error: number) => ({ value, low: 0, high: 0, error, freedom: 9, clusters: 50, p: 0.5 });
  const verdict = (value: number, error: number) =>
    judge(value, 'not-higher', chancesOf(difference(value, error), { expect: 'not-higher' }, 0.03));
  expect(verdict(-0.2, 0.02)).toBe('supported');
  expect(verdict(0, 0.01)).toBe('supported');
  expect(verdict(0.01, 0.02)).toBe('inconclusive');
  expect(verdict(0.05, 0.02)).toBe('inconclusive');
  expect(verdict(0.2, 0.02)).toBe('refuted');
  // The same decline is no equivalence.
  expect(judge(-0.2, 'equivalent', chancesOf(difference(-0.2, 0.02), { expect: 'equivalent' }, 0.03))).toBe('refuted');
});

test('a claim needs all of its tests, and one that is refuted is enough against it', () => {
  expect(together(['supported', 'supported'])).toBe('supported');
  expect(together(['supported', 'inconclusive'])).toBe('inconclusive');
  expect(together(['supported', 'equivalent'])).toBe('equivalent');
  expect(together(['inconclusive', 'refuted', 'supported'])).toBe('refuted');
  expect(together([])).toBe('inconclusive');
});

test('the correction is over all tests of a study: what is clear alone may not be clear among many', () => {
  const alone = { different: 0.03, equivalent: 1 };
  const among = correctedChances([alone, { different: 0.9, equivalent: 0.001 }, { different: 0.5, equivalent: 1 }]);
  expect(judge(0.1, 'higher', alone)).toBe('supported');
  expect(among[0]?.different).toBeCloseTo(0.09, 12);
  expect(judge(0.1, 'higher', among[0] ?? alone)).toBe('inconclusive');
  expect(among[1]?.equivalent).toBeCloseTo(0.003, 12);
});

test('the world of a run says which tasks form a cluster; without a word from it each task is one', () => {
  const clusters = new TaskClusters(BUILT_IN);
  const of = (world: string, ...tasks: [task: string, tier: string][]): string[] =>
    clusters
      .mark(
        { world: { name: world, settings: {} } },
        tasks.flatMap(([task, tier]) => results('1').map((result) => ({ ...result, task, tier }))),
      )
      .map(({ cluster }) => cluster);
  expect(of('shop', ['12-plain-1', 'plain'], ['12-constrained-2', 'constrained'], ['13-plain-1', 'plain'])).toEqual(['12', '12', '13']);
  expect(of('maths', ['easy-3x4', 'easy'])).toEqual(['easy-3x4']);
  expect(of('a world of a plug-in that is gone', ['12-plain-1', 'plain'])).toEqual(['12-plain-1']);
  const goals = createWebShop({ split: 'products' }).tasks('test').slice(0, 60);
  expect(of('webshop', ...goals.map(({ id, tier }): [string, string] => [id, tier]))).toEqual(goals.map(({ target }) => target));
  expect(new Set(goals.map(({ target }) => target)).size).toBeLessThan(goals.length);
});

test('the clusters of a study are those of its tasks', () => {
  const two = results('1100').map((result, index) => ({ ...result, cluster: index < 2 ? 'a' : 'b' }));
  const none = results('0000').map((result, index) => ({ ...result, cluster: index < 2 ? 'a' : 'b' }));
  expect(pairArms(arm(two, two), arm(none, none), 'success')).toMatchObject({ tasks: 4, clusters: 2 });
});

test('pairs are the same task under the same seed: means, counts, McNemar and the difference of each seed', () => {
  const paired = pairArms(arm(results('1111100000'), results('1111000000')), arm(results('1000000001'), results('1100000000')), 'success');
  expect(paired).toMatchObject({ seeds: [1, 2], tasks: 10, a: 0.45, b: 0.2, onlyA: 6, onlyB: 1 });
  expect(paired?.value).toBeCloseTo(0.25, 12);
  expect(paired?.bySeed.map((difference) => Number(difference.toFixed(12)))).toEqual([0.3, 0.2]);
  expect(paired?.p).toBeCloseTo(0.125, 12); // 2 · (1 + 7) / 2⁷
});

test('failure classes are measured as shares of all episodes, and arms with other seeds or tasks have nothing to compare', () => {
  const loops = pairArms(arm(results('1000', 'search-loop')), arm(results('1100', 'timeout')), 'search-loop');
  expect(loops).toMatchObject({ a: 0.75, b: 0, onlyA: 3, onlyB: 0 });
  expect(pairArms(arm(results('11')), new Map([[9, results('11')]]), 'success')).toBeUndefined();
  expect(pairArms(arm([]), arm(results('11')), 'success')).toBeUndefined();
});

test('where no pair differs the verdict stays open, and what could have been missed is bounded by the rule of three', () => {
  const same = pairArms(
    arm(results('1'.repeat(300)), results('1'.repeat(300))),
    arm(results('1'.repeat(300)), results('1'.repeat(300))),
    'success',
  );
  expect(same).toMatchObject({ value: 0, low: -0.01, high: 0.01, p: 1, detectable: 0.01 });
  expect(chancesOf(same?.difference, { expect: 'higher' }, 0.03).different).toBe(1);
  expect(chancesOf(same?.difference, { expect: 'higher' }, 0.03).equivalent).toBeLessThan(0.001);
});

test('one seed decides nothing', () => {
  const one = pairArms(arm(results('1'.repeat(300))), arm(results('0'.repeat(300))), 'success');
  expect(chancesOf(one?.difference, { expect: 'higher' }, 0.03)).toEqual({ different: 1, equivalent: 1 });
});
