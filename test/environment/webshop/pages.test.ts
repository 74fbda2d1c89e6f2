// Pages read and answer as the original's do.

import { describe, expect, test } from 'vitest';
import type { Product } from '../../../main/environment/webshop/product.ts';
import {
  donePage,
  groupOf,
  itemClickables,
  itemPage,
  resultsClickables,
  resultsPage,
  searchPage,
  subPage,
} from '../../../main/environment/webshop/pages.ts';
import { createWebShop, type WebShop } from '../../../main/environment/webshop/webshop.ts';
import { parseAction } from '../../../main/environment/webshop/moves.ts';
import type { WebShopState } from '../../../main/environment/webshop/site.ts';
import type { Turn } from '../../../main/environment/environment.ts';
import { describeOriginal, originalShop, recorded } from './original.ts';

const LAMP: Product = {
  asin: 'B0LAMP0001',
  title: ' Lamp & Shade <b> ',
  description: '',
  bullets: ['Bright ', '', '\n', '\u00a0', 'Small'],
  category: 'garden',
  query: 'lamps',
  productCategory: 'Home › Lamps',
  prices: [9.5, 12],
  priceTag: '$9.5 to $12.0',
  options: [
    { name: 'color', values: ['red', 'both'] },
    { name: 'size', values: ['both', 'big', 'search'] },
  ],
  attributes: [],
  instruction: null,
  wanted: [],
};

const play = (shop: WebShop, turn: Turn<WebShopState>, ...actions: readonly string[]): Turn<WebShopState> =>
  actions.reduce((now, action) => shop.step(now.state, action), turn);

describe('pages', () => {
  test('each kind of page has its segments', () => {
    expect(searchPage('wish')).toBe('WebShop [SEP] Instruction: [SEP] wish [SEP] Search');
    expect(resultsPage('wish', 1, 1, [LAMP])).toBe(
      'Instruction: [SEP] wish [SEP] Back to Search [SEP] Page 1 (Total results: 1) [SEP] Next > [SEP] B0LAMP0001 [SEP] Lamp & Shade <b> [SEP] $9.5 to $12.0',
    );
    expect(resultsPage('wish', 2, 1, [])).toBe(
      'Instruction: [SEP] wish [SEP] Back to Search [SEP] Page 2 (Total results: 1) [SEP] < Prev [SEP] Next >',
    );
    expect(itemPage('wish', LAMP)).toBe(
      'Instruction: [SEP] wish [SEP] Back to Search [SEP] < Prev [SEP] color [SEP] red [SEP] both [SEP] size [SEP] both [SEP] big [SEP] search [SEP] Lamp & Shade <b> [SEP] Price: $9.5 to $12.0 [SEP] Rating: N.A. [SEP] Description [SEP] Features [SEP] Reviews [SEP] Buy Now',
    );
  });

  test('an empty bullet leaves an empty segment, a line break vanishes, an empty description leaves none', () => {
    expect(subPage('wish', LAMP, 'features')).toBe(
      'Instruction: [SEP] wish [SEP] Back to Search [SEP] < Prev [SEP] Bright [SEP]  [SEP]  [SEP] Small',
    );
    expect(subPage('wish', LAMP, 'description')).toBe('Instruction: [SEP] wish [SEP] Back to Search [SEP] < Prev');
    expect(subPage('wish', LAMP, 'reviews')).toBe('Instruction: [SEP] wish [SEP] Back to Search [SEP] < Prev');
  });

  test('what can be clicked comes in the original order, each once', () => {
    expect(resultsClickables(1, [LAMP])).toEqual(['back to search', 'next >', 'b0lamp0001']);
    expect(resultsClickables(2, [])).toEqual(['back to search', '< prev', 'next >']);
    expect(itemClickables(LAMP)).toEqual([
      'back to search',
      '< prev',
      'description',
      'features',
      'reviews',
      'buy now',
      'red',
      'both',
      'big',
    ]);
  });

  test('a value that stands in two groups belongs to the later one', () => {
    expect(groupOf(LAMP, 'both')).toBe('size');
    expect(groupOf(LAMP, 'green')).toBeUndefined();
  });

  test('the last page shows the options sorted, in ASCII and safe for HTML', () => {
    const page = donePage(
      'B0LAMP0001',
      [
        ['size', 'é<"\''],
        ['color', 'red'],
      ],
      2 / 3,
    );
    expect(page).toContain('options [SEP] {"color": "red", "size": "\\u00e9\\u003c\\"\\u0027"} [SEP] attrs');
    expect(page.endsWith('Your score (min 0.0, max 1.0) [SEP] 0.6666666666666666 [SEP] Reward Details [SEP] None')).toBe(true);
  });
});

describe('actions are read as the original reads them', () => {
  test.each([
    ['search[Red Shoes]', { name: 'search', argument: 'red shoes' }],
    ['search[ ]', { name: 'search', argument: ' ' }],
    ['search[a]b', { name: 'search', argument: 'a' }],
    ['search[a]\n]', { name: 'search', argument: 'a' }],
    ['search[a]]', { name: 'search', argument: 'a]' }],
    ['search[a[b]', { name: 'search[a', argument: 'b' }],
    ['search[]', undefined],
    ['search[]]', { name: 'search', argument: ']' }],
    ['[x]', undefined],
    ['\nsearch[a]', undefined],
    ['search', undefined],
    ['', undefined],
  ])('%j', (action, parsed) => expect(parseAction(action)).toEqual(parsed));

  const shop = createWebShop({});
  const [task] = shop.tasks('test', 2).filter(({ level }) => level === 2);
  if (task === undefined) throw new Error('There is no test task with two options');
  const start = shop.reset(task, 0);
  const results = shop.step(start.state, 'search[blanket]');
  const first = results.clickables[2] ?? '';
  const item = shop.step(results.state, `click[${first}]`);

  test('whatever is not possible changes nothing but the count', () => {
    for (const action of ['click[search]', 'click[next >]', 'search[]', 'Search[x]', ' search[x]', 'buy', 'click[buy now]']) {
      const turn = shop.step(start.state, action);
      expect(turn).toMatchObject({ valid: false, reward: 0, done: false, observation: start.observation });
      expect(turn.state).toEqual({ ...start.state, steps: 1 });
    }
  });

  test('searching works on every page and clears the choice', () => {
    const chosen = play(shop, item, `click[${item.clickables[6]}]`);
    expect(chosen.state.options.length).toBe(1);
    for (const turn of [start, results, item, chosen, play(shop, chosen, 'click[features]')]) {
      const again = shop.step(turn.state, 'search[lamp]');
      expect(again.state).toMatchObject({ page: 'results', query: 'lamp', resultsPage: 1, options: [] });
    }
  });

  test('going back from a product clears the options, going back from its pages keeps them', () => {
    const chosen = play(shop, item, `click[${item.clickables[6]}]`);
    for (const page of ['description', 'features', 'reviews']) {
      const back = play(shop, chosen, `click[${page}]`, 'click[< prev]');
      expect(back.observation).toBe(item.observation);
      expect(back.state.options).toEqual(chosen.state.options);
    }
    expect(play(shop, chosen, 'click[< prev]').state.options).toEqual([]);
    expect(play(shop, chosen, 'click[< prev]').observation).toBe(results.observation);
    expect(play(shop, chosen, 'click[back to search]').observation).toBe(start.observation);
  });

  test('the pages of results continue past the last one', () => {
    const many = shop.step(start.state, 'search[made]');
    const past = play(shop, many, ...Array<string>(6).fill('click[next >]'));
    expect(past.observation.endsWith('Page 7 (Total results: 50) [SEP] < Prev [SEP] Next >')).toBe(true);
    expect(past.clickables).toEqual(['back to search', '< prev', 'next >']);
    expect(play(shop, past, ...Array<string>(6).fill('click[< prev]')).observation).toBe(many.observation);
  });

  test('a search for unknown words finds nothing', () => {
    for (const query of [' ', 'the', '!!!', 'qqqqq', '<r>']) {
      const turn = shop.step(start.state, `search[${query}]`);
      expect(turn).toMatchObject({ valid: true, clickables: ['back to search', 'next >'] });
      expect(turn.observation.endsWith('Page 1 (Total results: 0) [SEP] Next >')).toBe(true);
    }
  });
});

describeOriginal('recorded sessions', () => {
  test('are paid as they were', () => {
    const shop = originalShop();
    const { sessions } = recorded();
    expect(sessions.length).toBeGreaterThan(0);
    for (const { instruction, actions, reward } of sessions) {
      const task = shop.findTask(instruction);
      if (task === undefined) throw new Error(`No goal for: ${instruction}`);
      const end = play(shop, shop.reset(task, 0), ...actions);
      expect(end).toMatchObject({ reward, done: true, success: reward === 1 });
    }
  });
});
