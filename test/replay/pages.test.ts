// Observations drawn as pages: the texts are what the worlds really say, so a change of wording there fails here.

import { describe, expect, test } from 'vitest';
import { drawnPage } from '../../main/replay/schema.ts';
import { type DrawnPage, drawPage, type PageContext } from '../../main/environment/page.ts';
import { findWorld } from '../catalog.ts';

describe('pages of the shop', () => {
  const world = findWorld('shop');
  const shop = world.create({});
  const task = shop.tasks('test')[0];
  if (!task) throw new Error('The shop has no test tasks');
  const context: PageContext = { target: task.target, facts: {} };

  test('start, results with prices and the wanted product marked, and the purchase', () => {
    let turn = shop.reset(task, 1);
    expect(drawPage(shop, turn.observation, context)).toMatchObject({ kind: 'start', instruction: task.instruction });
    const seen: { text: string; page: DrawnPage }[] = [];
    while (!turn.done && seen.length < 12) {
      turn = shop.step(turn.state, shop.oracle(turn.state) ?? '');
      seen.push({ text: turn.observation, page: drawPage(shop, turn.observation, { ...context, facts: turn.facts }) });
    }
    const [first] = seen;
    if (first?.page.kind !== 'list') throw new Error(`The first page is drawn as ${first?.page.kind}`);
    const { summary, entries } = first.page;
    expect(summary).toContain(`${/^Found (\d+) results/.exec(first.text)?.[1]} result`);
    expect(entries).toHaveLength(Number(/ Top (\d+):/.exec(first.text)?.[1]));
    expect(entries.filter(({ target }) => target).map(({ id }) => id)).toEqual([task.target]);
    for (const { name, value, id } of entries) {
      expect(value).toMatch(/^\$\d/);
      expect(first.text).toContain(`${value} ${id}`);
      expect(first.text).toContain(name);
    }
    expect(seen.at(-1)?.page).toMatchObject({ kind: 'end', right: true });
    for (const { page } of seen) expect(drawnPage.parse(page)).toEqual(page);
  });

  test('a product with its price, category and number', () => {
    const text = 'red trail shoes $84. Light and quick. Category: shoes. Product 17.';
    expect(drawPage(shop, text, { ...context, target: '17' })).toEqual({
      kind: 'card',
      entry: { id: '17', name: 'red trail shoes', value: '$84', group: 'shoes', target: true },
      text: 'Light and quick.',
      options: [],
    });
  });

  test('nothing found, and what nobody knows stays text', () => {
    expect(drawPage(shop, 'Found 0 results.', context)).toMatchObject({ kind: 'list', summary: '0 results', entries: [] });
    expect(drawPage(shop, 'Something else', context)).toEqual({ kind: 'text', text: 'Something else' });
    expect(drawPage(findWorld('maths').create({ tasksPerLevel: 10 }), '7 * 8 = ?', context)).toEqual({ kind: 'text', text: '7 * 8 = ?' });
  });
});

describe('pages of WebShop', () => {
  const webshop = findWorld('webshop').create({});
  const context: PageContext = { target: 'B000000002', facts: {} };

  test('results with their page, and a product with its options', () => {
    const results =
      'Instruction: [SEP] a red cup [SEP] Back to Search [SEP] Page 1 (Total results: 50) [SEP] Next > [SEP] B000000001 [SEP] A cup [SEP] $4.00 [SEP] B000000002 [SEP] A red cup [SEP] $5.00 to $6.00';
    expect(drawPage(webshop, results, context)).toMatchObject({
      kind: 'list',
      summary: '50 results, the first 2 shown',
      entries: [
        { id: 'B000000001', name: 'A cup', value: '$4.00', target: false },
        { id: 'B000000002', name: 'A red cup', value: '$5.00 to $6.00', target: true },
      ],
    });
    const item =
      'Instruction: [SEP] a red cup [SEP] Back to Search [SEP] < Prev [SEP] color [SEP] red [SEP] blue [SEP] A red cup [SEP] Price: $5.00 [SEP] Rating: N.A. [SEP] Buy Now';
    expect(drawPage(webshop, item, { ...context, facts: { clicked: 'B000000002' } })).toMatchObject({
      kind: 'card',
      entry: { id: 'B000000002', name: 'A red cup', value: 'Price: $5.00', target: true },
      options: ['color', 'red', 'blue'],
    });
  });
});
