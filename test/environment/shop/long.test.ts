// Long tasks: what only item pages tell, several purchases in a row, and how they fail.

import { describe, expect, it } from 'vitest';
import { createAgent, type AgentName } from '../../../main/environment/agents.ts';
import { demonstrations } from '../../../main/environment/demonstrations.ts';
import type { Task } from '../../../main/environment/environment.ts';
import { splits } from '../../../main/base/vocabulary.ts';
import { evaluationSeed, playAgent } from '../../../main/evaluation/evaluate.ts';
import { diagnose } from '../../../main/evaluation/failures.ts';
import { createShop } from '../../../main/environment/shop/shop.ts';
import { shopWorld } from '../../../main/environment/shop/world.ts';
import { targetsOf } from '../../../main/environment/shop/tasks.ts';
import { wordsOf } from '../../../main/environment/shop/words.ts';

const SETTINGS = { tasks: 'long', maxSteps: 20, resultsShown: 8 };
const shop = createShop(SETTINGS);
const of = (task: Task) => shop.taskOf(shop.reset(task, 0).state);
const tasksOf = (tier: string) => shop.tasks('test').filter((task) => task.tier === tier);

const rate = (name: AgentName): { success: number; steps: number } => {
  const agent = createAgent(shopWorld, name);
  const played = shop.tasks('test').map((task) => playAgent(shop, agent, task, evaluationSeed(task, 1)).result);
  return {
    success: played.filter(({ success }) => success).length / played.length,
    steps: played.reduce((sum, { steps }) => sum + steps, 0) / played.length,
  };
};

describe('long tasks', () => {
  it('are solved by reading in 8 to 15 steps, and hardly without', () => {
    const oracle = rate('oracle');
    expect(oracle.success).toBe(1);
    expect(oracle.steps).toBeGreaterThan(8);
    expect(oracle.steps).toBeLessThan(15);
    expect(rate('blind').success).toBeLessThan(0.05);
    expect(rate('heuristic').success).toBeLessThan(0.5);
    expect(rate('random').success).toBe(0);
  });

  it('leave the short ones as they are', () => {
    expect(createShop({}).settings).not.toHaveProperty('tasks');
    const all = createShop({ ...SETTINGS, tasks: 'all' });
    expect(all.tasks('test').length).toBe(createShop({}).tasks('test').length + shop.tasks('test').length);
    expect(all.tiers).toEqual(['plain', 'paraphrased', 'constrained', 'attributes', 'comparison', 'basket']);
  });

  it('are after products of one split, in words that training uses, and enough of each tier', () => {
    const known = new Set(shop.tasks('train').flatMap(({ instruction }) => wordsOf(instruction)));
    const owner = new Map<number, string>();
    for (const split of splits)
      for (const task of shop.tasks(split)) {
        expect(wordsOf(task.instruction).filter((word) => !known.has(word))).toEqual([]);
        for (const { id } of targetsOf(of(task))) {
          expect(owner.get(id) ?? split).toBe(split);
          owner.set(id, split);
        }
      }
    expect(Map.groupBy(shop.tasks('test'), ({ tier }) => tier).size).toBe(3);
    for (const tier of shop.tiers) expect(tasksOf(tier).length, tier).toBeGreaterThan(30);
    expect(shop.tasks('train').length).toBeGreaterThan(1000);
    for (let level = 0; level < 4; level++) expect(shop.tasks('train', level).length, `level ${level}`).toBeGreaterThan(10);
  });

  it('determine one set of products: by country, by the longest warranty below a price, by a budget', () => {
    const products = shop.indexAt(3).products;
    const detail = new Map(
      products.map((product) => {
        const page = shop.step(shop.reset(shop.tasks('test')[0]!, 0).state, `click ${product.id}`).observation;
        const [, country = '', years = ''] = /Made in (\w+)\. Warranty (\w+) years\./.exec(page) ?? [];
        return [product.id, { country, years: ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight'].indexOf(years) }];
      }),
    );
    for (const task of shop.tasks('test')) {
      const budget = Number(/at most \$(\d+) together/.exec(task.instruction)?.[1] ?? Number.POSITIVE_INFINITY);
      const kinds = (of(task).wishes ?? []).map(({ product, by, limit = Number.POSITIVE_INFINITY }) => {
        const same = products.filter(({ noun, price }) => noun === product.noun && price < limit);
        if (by === 'country') return same.filter(({ id }) => detail.get(id)?.country === detail.get(product.id)?.country);
        if (by === 'price') return same;
        const longest = Math.max(...same.map(({ id }) => detail.get(id)?.years ?? 0));
        return same.filter(({ id }) => detail.get(id)?.years === longest);
      });
      let sets = [{ ids: [] as number[], price: 0 }];
      for (const kind of kinds)
        sets = sets.flatMap((set) => kind.map(({ id, price }) => ({ ids: [...set.ids, id], price: set.price + price })));
      const fitting = sets.filter(({ price }) => price <= budget).map(({ ids }) => ids.toSorted((a, b) => a - b).join('+'));
      expect(fitting, task.instruction).toEqual([task.target]);
    }
  });

  it('pay part of the reward for part of the basket under the reward progress, and nothing under binary', () => {
    for (const [reward, paid] of [
      ['progress', [0.25, 0.75]],
      ['binary', [0, 1]],
    ] as const) {
      const world = createShop({ ...SETTINGS, reward });
      const task = world.tasks('test').find(({ tier }) => tier === 'attributes') ?? expect.fail();
      const ids = task.target.split('+');
      const first = world.step(world.reset(task, 0).state, `buy ${ids[0]}`);
      const second = world.step(first.state, `buy ${ids[1]}`);
      expect([first.reward, second.reward, first.done, second.done, second.success]).toEqual([...paid, false, true, true]);
      expect(first.observation).toContain('More to buy.');
    }
  });

  it('fail in ways of their own', () => {
    const task = tasksOf('attributes')[0] ?? expect.fail();
    const [first, second] = of(task).wishes ?? [];
    const rival = shop.indexAt(3).products.find(({ noun, id }) => noun === second?.product.noun && id !== second?.product.id);
    const failure = (actions: string[]): string | undefined => {
      let turn = shop.reset(task, 0);
      const steps = actions.map((action) => {
        turn = shop.step(turn.state, action);
        return { action, valid: turn.valid, facts: turn.facts };
      });
      return diagnose(shop, { success: false, steps }, { reachable: true })?.failure;
    };
    const buy = `buy ${first?.product.id}`;
    expect(failure([buy, `buy ${rival?.id}`])).toBe('unread-purchase');
    expect(failure([buy, `click ${rival?.id}`, `buy ${rival?.id}`])).toBe('wrong-part');
    expect(failure([buy, ...Array.from({ length: 19 }, (_, i) => `click ${i + 1}`)])).toBe('incomplete-basket');
    expect(failure([`click ${rival?.id}`, `buy ${rival?.id}`])).toBe('wrong-purchase');
  });

  it('are demonstrated with mistakes: patient ones succeed often, impatient ones hardly ever', () => {
    const share = (imperfection: Record<string, number>): number => {
      const played = [...demonstrations(shopWorld, shop, { count: 150, seed: 1, imperfection })];
      return played.filter(({ success }) => success).length / played.length;
    };
    expect(share({ wrongWord: 0, earlyPurchase: 0, uselessClick: 0 })).toBe(1);
    expect(share({ earlyPurchase: 0.4 })).toBeGreaterThan(0.25);
    expect(share({ earlyPurchase: 0.95 })).toBeLessThan(0.06);
  });
});
