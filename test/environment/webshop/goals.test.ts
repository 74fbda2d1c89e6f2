// Goals, their numbers and their splits are the original's; a text finds its goal again.

import { describe, expect, test } from 'vitest';
import { limitText, limitsAbove, NO_LIMIT, priceOf } from '../../../main/environment/webshop/goals.ts';
import { readWish, searchWords, splitLimit } from '../../../main/environment/webshop/instruction.ts';
import { shuffledOrder } from '../../../main/environment/webshop/python.ts';
import { createWebShop } from '../../../main/environment/webshop/webshop.ts';
import { describeOriginal, originalShop, recorded } from './original.ts';
import { splits } from '../../../main/base/vocabulary.ts';

describe('goals', () => {
  test('the shuffle is the one of Python with seed 233', () => {
    expect([...shuffledOrder(10, 233)]).toEqual([5, 9, 0, 1, 4, 7, 6, 3, 8, 2]);
    expect([...shuffledOrder(6910, 233).subarray(0, 10)]).toEqual([3963, 2638, 2193, 1856, 4358, 6149, 2504, 3220, 705, 1072]);
    expect([...shuffledOrder(100, 0).subarray(0, 5)]).toEqual([23, 8, 11, 7, 48]);
  });

  test.each([
    [6.5, [10, 20, 30, 40]],
    [10, [20, 30, 40, 50]],
    [965, [970, 980, 990]],
    [985, [990]],
    [2000, []],
  ])('limits for a price of %d', (price, limits) => expect(limitsAbove(price)).toEqual(limits));

  test('the limit is drawn among the second to fourth multiple of ten above the price, and stays the same', () => {
    const shop = createWebShop({});
    for (let number = 0; number < 500; number++) {
      const goal = shop.goals.goal(number);
      const limits = limitsAbove(priceOf(shop.catalog.product(goal.document), shop.settings.seed));
      if (goal.limit === NO_LIMIT) expect(limits.length).toBeLessThan(2);
      else expect(limits.slice(1)).toContain(goal.limit);
    }
    expect(createWebShop({}).tasks('test')).toEqual(shop.tasks('test'));
    const other = createWebShop({ seed: 2 }).tasks('test');
    expect(other.map((task) => splitLimit(task.instruction).text)).toEqual(
      shop.tasks('test').map((task) => splitLimit(task.instruction).text),
    );
    expect(other).not.toEqual(shop.tasks('test'));
  });

  test('an instruction is taken apart at the right places', () => {
    expect(
      readWish(
        "Find me wash cold men's sweaters with polyester cotton for tumble dry with size: 5x-large, and price lower than 60.00 dollars",
      ),
    ).toEqual({
      base: "Find me wash cold men's sweaters with polyester cotton for tumble dry",
      options: [['size', '5x-large']],
      limit: 60,
    });
    expect(readWish('Find me tea with color: salt, and pepper, and size: big')).toEqual({
      base: 'Find me tea',
      options: [
        ['color', 'salt, and pepper'],
        ['size', 'big'],
      ],
      limit: NO_LIMIT,
    });
    expect(searchWords('Find me easy carry tea with color: red, and price lower than 10.00 dollars')).toEqual([
      'easy',
      'carry',
      'tea',
      'red',
    ]);
  });

  test('in the split by products no product of a test goal occurs in training', () => {
    const shop = createWebShop({ split: 'products' });
    const targets = (['train', 'validation', 'test'] as const).map((split) => new Set(shop.tasks(split).map((task) => task.target)));
    const all = targets.reduce((sum, some) => sum + some.size, 0);
    expect(new Set(targets.flatMap((some) => [...some])).size).toBe(all);
    expect(targets.every((some) => some.size >= 20)).toBe(true);
  });

  test('our catalog gives 500 test, 1000 validation and more than 2000 training tasks over all levels', () => {
    const shop = createWebShop({});
    expect(shop.catalog.size).toBe(390);
    expect(shop.goals.size).toBe(3983);
    expect(shop.tasks('test').length).toBe(500);
    expect(shop.tasks('validation').length).toBe(1000);
    expect(shop.tasks('train').length).toBe(2483);
    expect(createWebShop({ trainingGoals: 10 }).tasks('train').length).toBe(10);
    for (const split of splits) {
      const counts = Array.from({ length: shop.levels }, (_, level) => shop.tasks(split, level).length);
      expect(counts[0]).toBeGreaterThan(0);
      expect(counts).toEqual(counts.toSorted((a, b) => a - b));
    }
  });

  test('every goal of our catalog is found by its text', () => {
    const shop = createWebShop({});
    for (const task of [...shop.tasks('test'), ...shop.tasks('train').slice(0, 200)]) {
      const found = shop.findTask(`  ${task.instruction.toUpperCase()} `);
      const goal = shop.goals.goal(Number(found?.id.slice('goal-'.length)));
      expect(goal.wish).toBe(splitLimit(task.instruction).text);
    }
    expect(shop.findTask('Find me happiness')).toBeUndefined();
  });
});

describeOriginal('the original goals', () => {
  test('there are 6910, and the recorded ones have their numbers', () => {
    const { goals, catalog } = originalShop();
    expect(goals.size).toBe(6910);
    expect(goals.goal(71).wish).toBe('Find me screen protectors with tempered glass, glass screen');
    expect(goals.goal(490).wish).toBe(
      'Find me eco friendly throw blankets with fleece throw with color: tortoisegoo9511, and size: 39x49in',
    );
    expect(goals.goal(3413).wish).toBe(
      "Find me machine wash, wash cold men's sweaters with polyester cotton for tumble dry with size: 5x-large",
    );
    let instructed = 0;
    for (let document = 0; document < catalog.size; document++) if (catalog.product(document).instruction !== null) instructed++;
    expect(instructed).toBe(415);
  });

  test('the options of all 6910 instructions are read correctly', () => {
    const { goals } = originalShop();
    let wrong = 0;
    for (let number = 0; number < goals.size; number++) {
      const goal = goals.goal(number);
      const { options, limit } = readWish(goal.wish + limitText(goal.limit));
      if (JSON.stringify(options) !== JSON.stringify(goal.options) || limit !== goal.limit) wrong++;
    }
    expect(wrong).toBe(0);
  });

  test('a recorded instruction finds its goal, with its limit, with another one, and without', () => {
    const shop = originalShop();
    const [session] = recorded().sessions;
    const text = session?.instruction ?? '';
    expect(shop.findTask(text)?.id).toBe('goal-71');
    expect(shop.findTask(text)?.instruction).toBe(text);
    expect(shop.findTask(text.replace('40.00', '20.00'))?.id).toBe('goal-71');
    expect(shop.findTask(splitLimit(text).text)?.instruction).toBe(splitLimit(text).text);
  });

  test('the official split measures memory: 479 of 500 test goals ask for a product of a training goal', () => {
    const shop = originalShop();
    const product = (id: string): number => shop.goals.documentOf(Number(id.slice('goal-'.length)));
    const training = new Set(shop.tasks('train').map((task) => product(task.id)));
    expect(shop.tasks('train').length).toBe(5410);
    expect(shop.tasks('test').filter((task) => training.has(product(task.id))).length).toBe(479);
  });
});
