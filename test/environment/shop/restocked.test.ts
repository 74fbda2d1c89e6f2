// Baskets with shelves of their own: what the study cold-start is measured on. Only reading pages can solve them.

import { describe, expect, it } from 'vitest';
import { createAgent, type AgentName } from '../../../main/environment/agents.ts';
import type { Task } from '../../../main/environment/environment.ts';
import { evaluationSeed, playAgent } from '../../../main/evaluation/evaluate.ts';
import { createShop } from '../../../main/environment/shop/shop.ts';
import { targetsOf } from '../../../main/environment/shop/tasks.ts';
import { shopWorld } from '../../../main/environment/shop/world.ts';
import { splits } from '../../../main/base/vocabulary.ts';

const SETTINGS = { tasks: 'baskets', basket: 2, restock: true, products: 256, maxSteps: 20, resultsShown: 8 };
const shop = createShop(SETTINGS);

const rate = (name: AgentName): { success: number; steps: number } => {
  const agent = createAgent(shopWorld, name);
  const played = shop.tasks('validation').map((task) => playAgent(shop, agent, task, evaluationSeed(task, 1)).result);
  return {
    success: played.filter(({ success }) => success).length / played.length,
    steps: played.reduce((sum, { steps }) => sum + steps, 0) / played.length,
  };
};

/** The pages of a kind as they are while a task is done, by id in the order of the shelf. */
function pages(task: Task, noun: string): Map<number, string> {
  const { state } = shop.step(shop.reset(task, 0).state, `search ${noun.toLowerCase()}`);
  const kind = state.shown.filter((id) => shop.indexAt(1).byId.get(id)?.noun === noun);
  return new Map(kind.map((id) => [id, /Made in (\w+)\./.exec(shop.step(state, `click ${id}`).observation)?.[1] ?? '']));
}

describe('restocked baskets', () => {
  it('are solved by reading alone', () => {
    const oracle = rate('oracle');
    expect(oracle.success).toBe(1);
    expect(oracle.steps).toBeGreaterThan(9);
    expect(oracle.steps).toBeLessThan(11);
    expect(rate('blind').success).toBeLessThan(0.05);
    expect(rate('heuristic').success).toBeLessThan(0.5);
    expect(rate('random').success).toBeLessThan(0.05);
  });

  it('are after different products each, and no basket is in two splits', () => {
    const all = splits.flatMap((split) => shop.tasks(split));
    expect(splits.map((split) => shop.tasks(split).length)).toEqual([2400, 300, 300]);
    expect(new Set(all.map(({ target }) => target)).size).toBe(all.length);
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
  });

  it('draw where products are made anew: one product has many countries, and every place but the first is wanted alike', () => {
    const places = new Map<number, number>();
    const countries = new Map<number, Set<string>>();
    for (const task of shop.tasks('validation')) {
      const said = [...task.instruction.matchAll(/made in (\w+)/g)].map(([, country]) => country);
      expect(new Set(said).size).toBe(2);
      for (const target of targetsOf(shop.taskOf(shop.reset(task, 0).state))) {
        const kind = pages(task, target.noun);
        // A page either matches or does not, and no two of a kind are made in one country.
        expect([...kind].filter(([, country]) => said.includes(country)).map(([id]) => id)).toEqual([target.id]);
        expect(new Set(kind.values()).size).toBe(kind.size);
        const place = [...kind.keys()].indexOf(target.id);
        places.set(place, (places.get(place) ?? 0) + 1);
        for (const [id, country] of kind) countries.set(id, (countries.get(id) ?? new Set()).add(country));
      }
    }
    expect([...places.keys()].toSorted()).toEqual([1, 2, 3]);
    for (const count of places.values()) expect(count).toBeGreaterThan(150);
    const mean = [...countries.values()].reduce((sum, { size }) => sum + size, 0) / countries.size;
    expect(mean).toBeGreaterThan(5);
  });

  it('ask for the first thing at the first level, on the same shelves', () => {
    const [task] = shop.tasks('train');
    if (!task) return expect.fail();
    const said = [0, 1].map((level) => shop.reset(task, 0, level).observation);
    expect(said.map((text) => text.split('made in').length - 1)).toEqual([1, 2]);
    expect(said[1]).toContain(task.instruction);
  });

  it('are part of the settings by which runs are known only where they are asked for', () => {
    expect(createShop({ tasks: 'baskets' }).settings).not.toHaveProperty('restock');
    expect(createShop({ restock: true }).settings).not.toHaveProperty('restock');
    expect(shop.settings).toMatchObject({ tasks: 'baskets', basket: 2, restock: true });
    expect(() => createShop({ ...SETTINGS, products: 10, basket: 5 })).toThrow(/world\.settings\.basket/);
  });
});
