// Baskets of things by country: what the cold start is measured on, and its levels of one, two and three things.

import { describe, expect, it } from 'vitest';
import { createAgent, type AgentName } from '../../../main/environment/agents.ts';
import { demonstrations } from '../../../main/environment/demonstrations.ts';
import { splits } from '../../../main/base/vocabulary.ts';
import { evaluationSeed, playAgent } from '../../../main/evaluation/evaluate.ts';
import { createShop } from '../../../main/environment/shop/shop.ts';
import { targetsOf } from '../../../main/environment/shop/tasks.ts';
import { shopWorld } from '../../../main/environment/shop/world.ts';

const SETTINGS = { tasks: 'baskets', products: 192, maxSteps: 20, resultsShown: 8 };
const shop = createShop(SETTINGS);

const rate = (name: AgentName, level?: number): { success: number; steps: number } => {
  const agent = createAgent(shopWorld, name);
  const played = shop.tasks('validation', level).map((task) => {
    let turn = shop.reset(task, 0, level);
    if (level === undefined) return playAgent(shop, agent, task, evaluationSeed(task, 1)).result;
    while (!turn.done)
      turn = shop.step(
        turn.state,
        agent.act(shop, turn, () => 0.5),
      );
    return { success: turn.success, steps: turn.state.steps };
  });
  return {
    success: played.filter(({ success }) => success).length / played.length,
    steps: played.reduce((sum, { steps }) => sum + steps, 0) / played.length,
  };
};

describe('baskets', () => {
  it('take 12 to 15 steps for a reader, a third of them at the first level, and nobody solves them unread', () => {
    const whole = rate('oracle');
    const one = rate('oracle', 0);
    expect([whole.success, one.success]).toEqual([1, 1]);
    expect(whole.steps).toBeGreaterThan(12);
    expect(whole.steps).toBeLessThan(15);
    expect(one.steps).toBeGreaterThan(4);
    expect(one.steps).toBeLessThan(whole.steps / 2.5);
    for (const name of ['blind', 'heuristic', 'random'] as const) expect(rate(name).success, name).toBe(0);
  });

  it('ask for the first thing, the first two, all three at the levels of one and the same task', () => {
    expect([shop.levels, shop.tiers]).toEqual([3, ['countries']]);
    const [task] = shop.tasks('train');
    if (!task) return expect.fail();
    const said = [0, 1, 2].map((level) => shop.reset(task, 0, level).observation);
    expect(said.map((text) => text.split('made in').length - 1)).toEqual([1, 2, 3]);
    expect(new Set(said.map((text) => text.split(' made in ')[0])).size).toBe(1);
    expect(said[2]).toContain(task.instruction);
    for (const level of [0, 1, 2]) {
      const { state } = shop.reset(task, 0, level);
      expect(targetsOf(shop.taskOf(state)).length).toBe(level + 1);
      expect(shop.indexAt(level).products.length).toBe(192);
      expect(shop.tasks('train', level).length).toBe(shop.tasks('train').length);
    }
    expect(createShop({ ...SETTINGS, basket: 2 }).levels).toBe(2);
  });

  it('never want the first result, nor a country that a rival of another thing has; targets stay in their split', () => {
    const owner = new Map<string, string>();
    for (const split of splits)
      for (const task of shop.tasks(split)) {
        const targets = targetsOf(shop.taskOf(shop.reset(task, 0).state));
        const countries = [...task.instruction.matchAll(/made in (\w+)/g)].map(([, country]) => country);
        expect(new Set(countries).size).toBe(3);
        targets.forEach((target, index) => {
          expect(owner.get(String(target.id)) ?? split).toBe(split);
          owner.set(String(target.id), split);
          const { state } = shop.step(shop.reset(task, 0).state, `search ${target.noun.toLowerCase()}`);
          const kind = state.shown.filter((id) => shop.indexAt(2).byId.get(id)?.noun === target.noun);
          expect(kind[0]).not.toBe(target.id);
          const matching = kind.filter((id) => {
            const page = shop.step(state, `click ${id}`).observation;
            return countries.some((country) => page.includes(`Made in ${country}.`));
          });
          expect(matching, `${task.instruction} ${index}`).toEqual([target.id]);
        });
      }
  });

  it('are demonstrated by hasty people who take the first result: next to none succeeds', () => {
    const share = (earlyPurchase: number): number => {
      const imperfection = { wrongWord: 0, uselessClick: 0, earlyPurchase };
      const played = [...demonstrations(shopWorld, shop, { count: 300, seed: 1, imperfection })];
      return played.filter(({ success }) => success).length / played.length;
    };
    expect(share(0)).toBe(1);
    expect(share(0.85)).toBeLessThan(0.02);
  });

  it('are no part of the settings by which older runs are known', () => {
    expect(createShop({}).settings).not.toHaveProperty('basket');
    expect(createShop({ tasks: 'long' }).settings).not.toHaveProperty('basket');
    expect(shop.settings).toMatchObject({ tasks: 'baskets', basket: 3 });
  });
});
