// Purchases are paid as the original pays them, traps included.

import { describe, expect, test } from 'vitest';
import type { Goal } from '../../../main/environment/webshop/goals.ts';
import { nounsOf } from '../../../main/environment/webshop/nouns.ts';
import type { Product } from '../../../main/environment/webshop/product.ts';
import { printFloat, printString, strip } from '../../../main/environment/webshop/python.ts';
import { basicColour, goalOptionText, judge, similarity, titleScore, typeReward } from '../../../main/environment/webshop/reward.ts';
import { createWebShop, type WebShop } from '../../../main/environment/webshop/webshop.ts';
import { describeOriginal, originalShop } from './original.ts';

const BLANKET: Product = {
  asin: 'LABTEST001',
  title: 'Soft Fleece Blanket for Sofa and Bed',
  description: 'Warm and machine washable.',
  bullets: ['Made of polyester.', 'Easy care fabric'],
  category: 'garden',
  query: 'throw blankets',
  productCategory: 'Home › Bedding › Blankets',
  prices: [20],
  priceTag: '$20.0',
  options: [],
  attributes: ['super soft', 'fleece throw'],
  instruction: 'Find me super soft throw blankets',
  wanted: ['super soft'],
};

const GOAL: Goal = {
  number: 0,
  document: 0,
  attributes: ['super soft', 'machine washable', 'king size'],
  options: [['color', 'red']],
  wish: '',
  limit: 30,
};

describe('the reward', () => {
  test('adds up attributes, options and price', () => {
    const all = judge(BLANKET, ['red'], 20, GOAL, 30, BLANKET);
    expect(all).toEqual({ reward: 4 / 5, type: 1, attributes: 2, options: 1, price: true });
    expect(judge(BLANKET, [], 31, GOAL, 30, BLANKET).reward).toBe(2 / 5);
    expect(judge(BLANKET, ['blue'], 20, { ...GOAL, attributes: ['super soft'] }, 30, BLANKET).reward).toBe(2 / 3);
  });

  test('an attribute may stand in title, bullets or description, but only in one piece', () => {
    const has = (attribute: string): number => judge(BLANKET, [], 1, { ...GOAL, attributes: [attribute] }, 30, BLANKET).attributes;
    expect(has('easy care')).toBe(1);
    expect(has('sofa and bed')).toBe(1);
    expect(has('polyester. easy')).toBe(1);
    expect(has('warm washable')).toBe(0);
    expect(has('soft super')).toBe(1);
  });

  test('another kind of product is worth less', () => {
    const other = (title: string, query = 'x', productCategory = 'y'): Product => ({ ...BLANKET, title, query, productCategory });
    expect(typeReward(other('Fleece Blanket for Sofa and Bed'), BLANKET)).toBe(1);
    expect(typeReward(other('Garden Hose'), BLANKET)).toBe(0);
    expect(typeReward(other('Garden Hose', 'throw blankets'), BLANKET)).toBe(0);
    const title = 'Fleece Blanket Sofa Bed Table Chair Lamp Curtain Pillow Carpet Shelf Mirror';
    const many = { ...BLANKET, title };
    expect(nounsOf(many.title).length).toBeGreaterThan(10);
    expect(typeReward(other('Blanket'), many)).toBe(0.1);
    expect(typeReward(other('Blanket Sofa'), many)).toBe(0.5);
    expect(typeReward(other('Blanket Sofa', 'throw blankets'), many)).toBe(1);
    expect(typeReward(other('Blanket Sofa', 'x', 'Bedding › Home'), many)).toBe(1);
  });

  test('a noun that the wanted title repeats counts once above and twice below the line', () => {
    expect(titleScore('Blanket', 'Blanket Blanket')).toBe(0.5);
    expect(titleScore('Blanket', '!!!')).toBe(0.2);
  });

  test('the bought value is mapped to the first colour that it contains, the wanted one only if it is a colour', () => {
    expect(basicColour('rectangular')).toBe('tan');
    expect(basicColour('1877brown')).toBe('brown');
    expect(basicColour('xx-large')).toBe('xx-large');
    expect(goalOptionText(['color', 'red'])).toBe('red');
    expect(goalOptionText(['color', 'dark red'])).toBe("('color', 'dark red')");
    expect(similarity(basicColour('dark red'), goalOptionText(['color', 'dark red']))).toBe(100);
    expect(similarity(basicColour('rectangular'), goalOptionText(['item shape', 'rectangular']))).toBeLessThan(85);
  });

  test.each([
    ["it's", '"it\'s"'],
    ['say "it\'s"', "'say \"it\\'s\"'"],
    ['a\u00a0b', "'a\\xa0b'"],
    ['a\tb\\', "'a\\tb\\\\'"],
    ['\u200e é 日 \u{1f600} \u{e0001}', "'\\u200e é 日 \u{1f600} \\U000e0001'"],
  ])('Python prints %j', (text, printed) => expect(printString(text)).toBe(printed));

  test('Python prints whole floats with a point, and strips its white space', () => {
    expect([1, 0, 0.1, 877.8, 100].map(printFloat)).toEqual(['1.0', '0.0', '0.1', '877.8', '100.0']);
    expect(strip('\u001f\u00a0 x \u2003\u0085')).toBe('x');
    expect(strip('\ufeffx')).toBe('\ufeffx');
  });

  test('texts without a letter are like nothing', () => {
    expect(similarity('', 'a')).toBe(0);
    expect(similarity('!!!', '!!!')).toBe(0);
    expect(similarity('Queen Bed', 'bed, queen')).toBe(100);
  });
});

/** Success of somebody who buys the wanted product with all wanted options. */
function ceiling(shop: WebShop, goals: number): number {
  let reached = 0;
  for (let number = 0; number < goals; number++) {
    const goal = shop.goals.goal(number);
    const product = shop.catalog.product(goal.document);
    const { reward } = judge(
      product,
      goal.options.map(([, value]) => value),
      0,
      goal,
      goal.limit,
      product,
    );
    if (reward === 1) reached++;
  }
  return reached / goals;
}

test('every goal of our catalog can be reached', () => {
  const shop = createWebShop({});
  expect(ceiling(shop, shop.goals.size)).toBe(1);
});

describeOriginal('the original reward', () => {
  test('51 option values can never hit, so the ceiling is 96.0% on the test goals and 93.4% on all', () => {
    const shop = originalShop();
    const never = new Set<string>();
    for (let number = 0; number < shop.goals.size; number++) {
      const { options } = shop.goals.goal(number);
      for (const option of options) {
        if (!options.some(([, value]) => similarity(basicColour(value), goalOptionText(option)) > 85)) never.add(option.join(': '));
      }
    }
    expect(never.size).toBe(51);
    expect(ceiling(shop, 500)).toBe(0.96);
    expect(ceiling(shop, 6910)).toBeCloseTo(0.934, 3);
  });
});
