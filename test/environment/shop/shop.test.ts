// What one can rely on in the shop: its first authors' example, a world that has to be read, and honest splits.

import { describe, expect, it } from 'vitest';
import { AGENT_NAMES, createAgent } from '../../../main/environment/agents.ts';
import { demonstrations } from '../../../main/environment/demonstrations.ts';
import type { Turn } from '../../../main/environment/environment.ts';
import { type Split, splits } from '../../../main/base/vocabulary.ts';
import { REWARD_NAMES } from '../../../main/environment/shop/rewards.ts';
import { createShop } from '../../../main/environment/shop/shop.ts';
import type { ShopState } from '../../../main/environment/shop/step.ts';
import { nameKey, satisfies } from '../../../main/environment/shop/tasks.ts';
import { shopWorld } from '../../../main/environment/shop/world.ts';
import { wordsOf } from '../../../main/environment/shop/words.ts';
import { Random } from '../../../main/base/random.ts';

const shop = createShop({});
const all = shop.indexAt(3);
const SPLITS: readonly Split[] = ['train', 'validation', 'test'];

/** Plays the actions and answers every turn, the start included. */
function play(actions: readonly string[], settings: unknown = {}, taskId = '201-plain-1', level?: number): Turn<ShopState>[] {
  const world = createShop(settings);
  const task = SPLITS.flatMap((split) => [...world.tasks(split)]).find(({ id }) => id === taskId) ?? expect.fail(`no task ${taskId}`);
  const turns = [world.reset(task, 0, level)];
  for (const action of actions) turns.push(world.step((turns.at(-1) ?? expect.fail()).state, action));
  return turns;
}

const rewards = (turns: readonly Turn[]): number[] => turns.slice(1).map(({ reward }) => Number(reward.toFixed(6)));

describe('the example of its first authors', () => {
  it('reads the same', () => {
    const turns = play(['search blanket', 'buy 201']);
    expect(turns[0]?.observation).toBe('TASK: User wants to buy classic blanket. Available: 497 products across 8 categories.');
    expect(turns[1]?.observation).toMatch(/^Found 7 results\. Top 5: .*Classic Blanket home \$75 201;/);
    expect(turns[2]).toMatchObject({ observation: 'You bought Classic Blanket.', reward: 1, done: true, success: true });
  });

  it('has the expected products', () => {
    const names = [1, 31, 201, 378].map((id) => all.byId.get(id)?.name);
    expect(names).toEqual(['Red Running Shoes', 'Black Loafers', 'Classic Blanket', 'Turquoise Backpack']);
    expect(all.products.length).toBe(497);
    expect(new Set(all.products.map(({ category }) => category)).size).toBe(8);
  });
});

describe('actions', () => {
  it('take any capitals and spacing, and any product of the catalog, shown or not', () => {
    const turns = play(['  SEARCH\tClassic   BLANKETS! ', 'CLICK 31', 'Buy 201']);
    expect(turns.map(({ valid }) => valid)).toEqual([true, true, true, true]);
    expect(turns[2]?.observation).toBe('Black Loafers $75. Good for work. Category: shoes. Product 31.');
    expect(turns[3]?.success).toBe(true);
  });

  it('that are not possible change nothing but use up a step', () => {
    const [start, after] = play(['buy 498']);
    expect(after).toMatchObject({ valid: false, reward: 0, done: false, facts: { kind: 'invalid' } });
    expect(after?.state).toEqual({ ...start?.state, steps: 1 });
  });

  it('end the episode after 15 steps without a purchase', () => {
    const turns = play(Array.from({ length: 15 }, () => 'search rug'));
    expect(turns.map(({ done }) => done).indexOf(true)).toBe(15);
    expect(turns.at(-1)).toMatchObject({ success: false, reward: 0 });
    expect(turns.at(-1)?.reason).toContain('out of steps');
  });

  it('contain what a diagnosis needs', () => {
    const turns = play(['search rug', 'search rugs', 'search wool blanket', 'search throw', 'click 201', 'buy 200']);
    expect(turns[1]?.facts).toMatchObject({ kind: 'search', targetShown: false, targetRank: null, repeated: false, helpful: false });
    expect(turns[2]?.facts).toMatchObject({ repeated: true });
    expect(turns[4]?.facts).toMatchObject({ kind: 'search', results: 7, targetShown: true, targetRank: 3 });
    expect(turns[5]?.facts).toMatchObject({ kind: 'click', clicked: 201, right: true, wasShown: true });
    expect(turns[6]?.facts).toMatchObject({ kind: 'buy', bought: 200, right: false, wasShown: true, targetShown: true });
  });
});

describe('search', () => {
  it('understands plurals, punctuation and synonyms, and shows the shop’s names', () => {
    const found = (text: string): number[] => all.search(text).map(({ id }) => id);
    expect(found('sneakers')).toEqual(found('running shoe'));
    expect(found('TIMELESS, throw!')).toEqual(found('classic blankets'));
    expect(found('watches')).toEqual(found('watch'));
    expect(found('nothing of the kind')).toEqual([]);
    expect(found('blanket home kitchen $75 201')).toEqual(found('blanket'));
  });

  it('ranks by shared words; among equals longer names stand before the wanted one as often as not', () => {
    let before = 0;
    let pairs = 0;
    for (const product of all.products) {
      const results = all.search(product.name);
      const words = wordsOf(product.name);
      const place = results.indexOf(product);
      expect(place).toBeLessThan(5);
      for (const other of results) {
        if (wordsOf(other.name).length <= words.length || !words.every((word) => wordsOf(other.name).includes(word))) continue;
        pairs++;
        if (results.indexOf(other) < place) before++;
      }
    }
    expect(pairs).toBeGreaterThan(500);
    expect(before / pairs).toBeGreaterThan(0.45);
    expect(before / pairs).toBeLessThan(0.55);
  });

  it('knows at least 60 synonyms, each of which occurs in training tasks', () => {
    const said = new Set(shop.tasks('train').flatMap(({ instruction }) => wordsOf(instruction)));
    const synonyms = Object.keys(shop.catalog.sayings);
    expect(synonyms.length).toBeGreaterThanOrEqual(60);
    expect(synonyms.filter((word) => !said.has(word))).toEqual([]);
  });
});

describe('tasks', () => {
  it('determine exactly one product each: by the exact name, synonyms resolved, and the constraint', () => {
    const ambiguous: string[] = [];
    const byName = Map.groupBy(all.products, (product) => nameKey(product, shop.catalog));
    for (const task of SPLITS.flatMap((split) => [...shop.tasks(split)])) {
      const { words, constraint, product } = shop.taskOf(shop.reset(task, 0).state);
      const namesakes = byName.get([...words].sort().join(' ')) ?? [];
      const fitting = namesakes.filter((candidate) => satisfies(candidate, constraint)).map(({ id }) => id);
      if (fitting.length !== 1 || fitting[0] !== product.id) ambiguous.push(`${task.instruction} means ${fitting.join(' or ')}`);
    }
    expect(ambiguous).toEqual([]);
  });

  it('hold at least 500 of each held-out split, over at least 90 products and every category, tier and level', () => {
    for (const split of ['validation', 'test'] as const) {
      const tasks = shop.tasks(split);
      expect(tasks.length).toBeGreaterThanOrEqual(500);
      expect(new Set(tasks.map(({ target }) => target)).size).toBeGreaterThanOrEqual(90);
      const first = tasks.slice(0, 500);
      for (const category of shop.categories)
        expect(first.filter((task) => task.category === category).length, category).toBeGreaterThanOrEqual(45);
      for (const tier of shop.tiers) expect(first.filter((task) => task.tier === tier).length, tier).toBeGreaterThanOrEqual(90);
      for (let level = 0; level < 4; level++) expect(tasks.some((task) => task.level === level)).toBe(true);
    }
  });

  it('use no word in validation or test that training does not use', () => {
    const known = new Set(shop.tasks('train').flatMap(({ instruction }) => wordsOf(instruction)));
    for (const split of ['validation', 'test'] as const) {
      const unseen = shop.tasks(split).flatMap(({ instruction }) => wordsOf(instruction).filter((word) => !known.has(word)));
      expect(unseen).toEqual([]);
    }
    const names = new Set(all.products.filter((product) => product.split === 'train').map(({ name }) => name));
    expect(all.products.filter((product) => product.split !== 'train' && names.has(product.name))).toEqual([]);
  });

  it('come in four sizes of the catalog', () => {
    const sizes = [0, 1, 2, 3].map((level) => play([], {}, '201-plain-1', level)[0]?.observation.replace(/^.*Available: /, ''));
    expect(sizes).toEqual([
      '10 products across 8 categories.',
      '50 products across 8 categories.',
      '100 products across 8 categories.',
      '497 products across 8 categories.',
    ]);
    const [, small] = play(['buy 200'], {}, '201-plain-1', 0);
    expect(small?.valid).toBe(false);
  });

  it('keep pages short: a policy pays for every word', () => {
    let longest = 0;
    for (const task of shop.tasks('test')) {
      const { observation } = shop.step(shop.reset(task, 0).state, `search ${shop.taskOf(shop.reset(task, 0).state).product.name}`);
      longest = Math.max(longest, observation.split(' ').length);
    }
    // Five results of at most seven words (name, category, price, id) and five words before them.
    expect(longest).toBeLessThanOrEqual(45);
  });
});

describe('agents on 500 test tasks', () => {
  const rate = Object.fromEntries(
    AGENT_NAMES.map((name) => {
      const agent = createAgent(shopWorld, name);
      let successes = 0;
      let steps = 0;
      for (const task of shop.tasks('test').slice(0, 500)) {
        const random = Random.from('shop-agents', task.id);
        let turn = shop.reset(task, 0);
        while (!turn.done) {
          turn = shop.step(turn.state, agent.act(shop, turn, random.next));
          steps++;
        }
        if (turn.success) successes++;
      }
      return [name, { success: successes / 500, steps: steps / 500 }];
    }),
  );

  it('need to read: blind stays under 40%, the oracle solves everything in two or three steps', () => {
    expect(rate.random?.success).toBeLessThan(0.02);
    expect(rate.blind?.success).toBeLessThan(0.4);
    expect(rate.heuristic?.success).toBeGreaterThan(0.5);
    expect(rate.heuristic?.success).toBeLessThan(0.85);
    expect(rate.oracle).toMatchObject({ success: 1 });
    expect(rate.oracle?.steps).toBeLessThan(2.5);
  });

  it('show the damage of the old limits: four tasks in five cannot be solved at all', () => {
    const limited = createShop({ maxReachableId: 100, searchTerms: 'eighteen' });
    const tasks = limited.tasks('test').slice(0, 500);
    const reachable = tasks.filter((task) => limited.reset(task, 0).facts.reachable === true);
    expect(reachable.length / 500).toBeLessThan(0.3);
    expect(tasks.filter((task) => limited.oracle(limited.reset(task, 0).state) === undefined).length).toBe(500 - reachable.length);
  });

  it('demonstrate success in more than half of the episodes, but far from all', () => {
    const made = [...demonstrations(shopWorld, shop, { count: 2000, seed: 7 })];
    const success = made.filter((demonstration) => demonstration.success).length / made.length;
    expect(success).toBeGreaterThan(0.5);
    expect(success).toBeLessThan(0.7);
  });

  describe.each(['worked', 'copied'] as const)('%s thoughts', (thoughts) => {
    const careful = { wrongWord: 0, earlyPurchase: 0, uselessClick: 0, userWords: 0 };
    const world = createShop({ thoughts });
    const made = (of: typeof world) => [...demonstrations(shopWorld, of, { count: 400, seed: 7, imperfection: careful })];
    const written = made(world).map(({ task, turns }) => {
      const { thought = '', action = '', observation = '' } = turns.at(-1) ?? {};
      return { constraint: world.taskOf(world.reset(task, 0).state).constraint, thought, id: action.replace('buy ', ''), observation };
    });

    it('lead to the same actions as brief ones, and are part of what the world is', () => {
      const actions = (of: typeof world) => made(of).map(({ turns }) => turns.map(({ action }) => action));
      expect(actions(world)).toEqual(actions(shop));
      expect(world.settings).toMatchObject({ thoughts });
      expect(shop.settings).not.toHaveProperty('thoughts');
    });

    it('compare before they conclude, and end with what is bought', () => {
      let compared = 0;
      for (const { constraint, thought, id } of written) {
        expect(thought).toMatch(new RegExp(`[ ]${id}${thoughts === 'copied' && constraint ? ' (yes|below|above)' : ''}$`));
        if (constraint === undefined || constraint.kind === 'category') continue;
        const { kind, limit } = constraint;
        expect(thought.startsWith(`${kind} $${limit}: `)).toBe(true);
        const pattern = thoughts === 'worked' ? /\$(\d+) (yes|no)/g : /\$(\d+) \d+ (below|above)/g;
        for (const [, price, verdict] of thought.matchAll(pattern)) {
          const side = Number(price) < limit ? 'below' : 'above';
          expect(verdict).toBe(thoughts === 'copied' ? side : side === kind ? 'yes' : 'no');
          compared += 1;
        }
      }
      expect(compared).toBeGreaterThan(80);
    });

    it.runIf(thoughts === 'copied')('show products as the page does, and of the sections only the one asked for is right', () => {
      let sections = 0;
      for (const { constraint, thought, observation } of written) {
        const lines = thought.replace(/^(from|below|above) \S+: /, '').split(', ');
        for (const line of lines) expect(observation.toLowerCase()).toContain(line.replace(/ (yes|no|below|above)$/, ''));
        if (constraint?.kind !== 'category') continue;
        for (const line of lines) expect(line.endsWith(' yes')).toBe(line.includes(` ${constraint.category} $`));
        sections += lines.length;
      }
      expect(sections).toBeGreaterThan(40);
    });
  });
});

describe('rewards', () => {
  const actions = ['search rug', 'search blanket', 'search blanket', 'click 200', 'click 201', 'buy 201'];
  it.each([
    ['binary', [0, 0, 0, 0, 0, 1]],
    ['slides', [0, 0.1, 0.1, -0.05, 0, 1]],
    ['walkthrough', [0.2, 0.2, 0.2, 0.3, 0.3, 1]],
    ['new_ragen', [0, 0, 0, 0.1, 0.1, 0.9]],
    ['decaying', [0.05, 0.133333, 0.016667, 0, 0, 1]],
    ['progress', [0, 0, 0, 0, 0, 1]],
  ])('%s pays as its source says', (reward, expected) => {
    expect(rewards(play(actions, { reward }))).toEqual(expected);
  });

  it('for a wrong purchase and for invalid actions', () => {
    const pay = REWARD_NAMES.map((reward) => rewards(play(['nonsense', 'buy 200'], { reward })));
    expect(pay).toEqual([
      [0, 0],
      [0, 0],
      [0, 0],
      [-1, -1],
      [0, -0.1],
      [-0.1, -0.1],
      [0, 0],
      [0, 0],
    ]);
  });

  it('decaying turns into a penalty after N searches, so searching for ever does not pay', () => {
    expect(
      rewards(
        play(
          Array.from({ length: 5 }, () => 'search rug'),
          { reward: 'decaying', decayAfter: 2 },
        ),
      ),
    ).toEqual([0.05, 0.025, -0.05, -0.05, -0.05]);
  });
});

describe('the shelves', () => {
  it('hold as many products as asked for, in every category and split, and every task is solvable', () => {
    for (const products of [10, 100, 300]) {
      const shop = createShop({ products });
      expect(shop.catalog.products).toHaveLength(products);
      expect(shop.settings).toMatchObject({ products });
      const tasks = splits.flatMap((split) => [...shop.tasks(split)]);
      expect(tasks.length).toBeGreaterThanOrEqual(products);
      for (const task of tasks.slice(0, 100)) {
        let turn = shop.reset(task, 1);
        while (!turn.done) turn = shop.step(turn.state, shop.oracle(turn.state) ?? 'none');
        expect(turn.success, task.id).toBe(true);
      }
    }
    const hundred = createShop({ products: 100 });
    expect(new Set(hundred.catalog.products.map(({ category }) => category)).size).toBe(hundred.categories.length);
    for (const split of splits) expect(hundred.tasks(split).length, split).toBeGreaterThan(0);
    expect(() => createShop({ products: 9 })).toThrow(/at least 10/);
    expect(() => createShop({ products: 498 })).toThrow(/has 497 products, found 498/);
  });

  it('are what they were in version 0.1.0 where nothing is said: settings, and with them every cache key', () => {
    expect(Object.keys(createShop({}).settings ?? {}).sort()).toEqual(
      ['catalog', 'decayAfter', 'maxReachableId', 'maxSteps', 'resultsShown', 'reward', 'searchTerms'].sort(),
    );
  });

  it('with spread ids have every category among the first hundred, and a fifth of the tasks is impossible, as in the slides', () => {
    const shop = createShop({ ids: 'spread', maxReachableId: 100 });
    const first = shop.catalog.products.filter(({ id }) => id <= 100);
    expect(new Set(first.map(({ category }) => category)).size).toBe(shop.categories.length);
    expect(new Set(shop.catalog.products.map(({ id }) => id)).size).toBe(497);
    for (const split of splits) {
      const tasks = shop.tasks(split);
      const impossible = tasks.filter((task) => shop.reset(task, 1).facts.reachable === false);
      expect(impossible.length / tasks.length, split).toBeGreaterThan(0.17);
      expect(impossible.length / tasks.length, split).toBeLessThanOrEqual(0.2);
    }
  });

  it('pay for words of the wish and for clicks in another category as the slides describe it', () => {
    const shop = createShop({ reward: 'slides-described' });
    const task = shop.tasks('test').find(({ id }) => id === '201-plain-1') ?? shop.tasks('test')[0];
    if (!task) throw new Error('The shop has no test tasks');
    const start = shop.reset(task, 1).state;
    const target = shop.taskOf(start).product;
    const other = shop.catalog.products.find(({ category }) => category !== target.category);
    const twin = shop.catalog.products.find(({ category, id }) => category === target.category && id !== target.id);
    expect(shop.step(start, `search ${target.name.toLowerCase().split(' ').at(-1)}`).reward).toBe(0.1);
    expect(shop.step(start, 'search nothing').reward).toBe(0);
    expect(shop.step(start, `click ${other?.id}`).reward).toBe(-0.05);
    expect(shop.step(start, `click ${twin?.id}`).reward).toBe(0);
    const steps = createShop({ reward: 'slides-steps' });
    expect(steps.step(steps.reset(task, 1).state, `buy ${target.id}`).reward).toBe(0);
  });
});
