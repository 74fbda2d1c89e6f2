// Observations drawn as pages: the texts are what the worlds really say, so a change of wording there fails here.

import { describe, expect, test } from 'vitest';
import type { DrawnPage } from '../../preload/contract/replay.ts';
import { drawPage, type PageContext } from '../../main/replay/pages.ts';
import { findWorld } from '../../main/environment/registry.ts';

describe('pages of the shop', () => {
  const world = findWorld('shop');
  const shop = world.create({});
  const task = shop.tasks('test')[0];
  if (!task) throw new Error('The shop has no test tasks');
  const context: PageContext = { world: 'shop', categories: shop.categories, target: task.target ?? null, facts: {} };

  test('start, results with prices and the wanted product marked, and the purchase', () => {
    let turn = shop.reset(task, 1);
    expect(drawPage(turn.observation, context)).toMatchObject({ kind: 'start', instruction: task.instruction });
    const seen: { text: string; page: DrawnPage }[] = [];
    while (!turn.done && seen.length < 12) {
      turn = shop.step(turn.state, shop.oracle(turn.state) ?? '');
      seen.push({ text: turn.observation, page: drawPage(turn.observation, { ...context, facts: turn.facts }) });
    }
    const [first] = seen;
    if (first?.page.kind !== 'results') throw new Error(`The first page is drawn as ${first?.page.kind}`);
    const { total, products } = first.page;
    expect(total).toBe(Number(/^Found (\d+) results/.exec(first.text)?.[1]));
    expect(products).toHaveLength(Number(/ Top (\d+):/.exec(first.text)?.[1]));
    expect(products.filter(({ target }) => target).map(({ id }) => id)).toEqual([task.target]);
    for (const { name, price, id } of products) {
      expect(price).toMatch(/^\$\d/);
      expect(first.text).toContain(`${price} ${id}`);
      expect(first.text).toContain(name);
    }
    expect(seen.at(-1)?.page).toMatchObject({ kind: 'bought', right: true });
  });

  test('a product with its price, category and number', () => {
    const text = 'red trail shoes $84. Light and quick. Category: shoes. Product 17.';
    expect(drawPage(text, { ...context, target: '17' })).toEqual({
      kind: 'item',
      product: { id: '17', name: 'red trail shoes', price: '$84', category: 'shoes', target: true },
      description: 'Light and quick.',
      options: [],
    });
  });

  test('nothing found, and what nobody knows stays text', () => {
    expect(drawPage('Found 0 results.', context)).toEqual({ kind: 'results', total: 0, page: 1, products: [] });
    expect(drawPage('Something else', context)).toEqual({ kind: 'text', text: 'Something else' });
    expect(drawPage('7 * 8 = ?', { ...context, world: 'maths' })).toEqual({ kind: 'text', text: '7 * 8 = ?' });
  });
});

describe('pages of WebShop', () => {
  const context: PageContext = { world: 'webshop', categories: [], target: 'B000000002', facts: {} };

  test('results with their page, and a product with its options', () => {
    const results =
      'Instruction: [SEP] a red cup [SEP] Back to Search [SEP] Page 1 (Total results: 50) [SEP] Next > [SEP] B000000001 [SEP] A cup [SEP] $4.00 [SEP] B000000002 [SEP] A red cup [SEP] $5.00 to $6.00';
    expect(drawPage(results, context)).toMatchObject({
      kind: 'results',
      total: 50,
      page: 1,
      products: [
        { id: 'B000000001', name: 'A cup', price: '$4.00', target: false },
        { id: 'B000000002', name: 'A red cup', price: '$5.00 to $6.00', target: true },
      ],
    });
    const item =
      'Instruction: [SEP] a red cup [SEP] Back to Search [SEP] < Prev [SEP] color [SEP] red [SEP] blue [SEP] A red cup [SEP] Price: $5.00 [SEP] Rating: N.A. [SEP] Buy Now';
    expect(drawPage(item, { ...context, facts: { clicked: 'B000000002' } })).toMatchObject({
      kind: 'item',
      product: { id: 'B000000002', name: 'A red cup', price: 'Price: $5.00', target: true },
      options: ['color', 'red', 'blue'],
    });
  });
});
