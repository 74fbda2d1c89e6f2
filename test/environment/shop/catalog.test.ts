// A catalog file that is wrong gets a clear answer with the place of the problem: never a crash, never a silent skip.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadCatalog, parseCatalog } from '../../../main/environment/shop/catalog.ts';
import { comparableGroups, conceptGroups, exchangeablePrices } from '../../../main/environment/shop/concepts.ts';
import { createShop } from '../../../main/environment/shop/shop.ts';
import { resourceFile } from '../../../main/base/paths.ts';

const text = readFileSync(resourceFile('shop', 'catalog.json'), 'utf8');

/** The built-in catalog with one product's fields changed. */
function withProduct(index: number, change: Record<string, unknown>): string {
  const json = JSON.parse(text);
  Object.assign(json.products[index], change);
  return JSON.stringify(json);
}

it('is what its script makes, byte for byte', () => {
  const folder = mkdtempSync(join(tmpdir(), 'astrolab-shop-'));
  try {
    execFileSync(process.execPath, [resourceFile('shop', 'make-catalog.mjs'), folder]);
    expect(readFileSync(join(folder, 'catalog.json'), 'utf8')).toBe(text);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

describe('a malformed catalog', () => {
  it.each<[string, string, RegExp]>([
    ['truncated', text.slice(0, 20_000), /my\.json is not valid JSON/],
    ['empty', '', /is not valid JSON/],
    ['not an object', '[]', /the whole file: .*expected object/i],
    ['null', 'null', /the whole file/],
    ['no products', '{"categories":["a"],"synonyms":{},"products":[]}', /products: Too small/],
    ['a missing field', withProduct(12, { price: undefined }), /products\[12\]\.price: .*expected number/],
    ['a wrong type', withProduct(3, { name: 7 }), /products\[3\]\.name: .*expected string/],
    ['a negative price', withProduct(5, { price: -1 }), /products\[5\]\.price: Too small/],
    ['a fractional price', withProduct(5, { price: 9.5 }), /products\[5\]\.price: .*expected int/],
    ['a duplicate id', withProduct(9, { id: 1 }), /products\[9\]\.id: 1 is already the id of products\[0\]/],
    ['an unknown category', withProduct(2, { category: 'cars' }), /products\[2\]\.category: "cars" is not one of shoes/],
    ['an unknown field', withProduct(2, { colour: 'red' }), /products\[2\]: Unrecognized key: "colour"/],
    ['an empty name', withProduct(2, { name: '  ' }), /products\[2\]\.name/],
    ['a control character', withProduct(2, { description: 'a\u0007b' }), /products\[2\]\.description: must not contain control characters/],
    ['a name without its noun', withProduct(2, { name: 'Red Thing' }), /products\[2\]\.name: "Red Thing" must end in its noun/],
    [
      'one name in two splits',
      withProduct(200, { name: 'Wool Blanket', split: 'test' }),
      /products\[2\d\d\]\.split: products named "Wool Blanket"/,
    ],
    [
      'a synonym of nothing',
      text.replace('"trainers":"running shoes"', '"trainers":"spaceship"'),
      /synonyms\.trainer: "spaceship" occurs in no product name/,
    ],
  ])('%s', (_, content, message) => {
    expect(() => parseCatalog(content, 'my.json')).toThrow(message);
  });

  it('shows the first five problems and counts the rest', () => {
    const json = JSON.parse(text);
    for (const product of json.products) product.price = 'free';
    expect(() => parseCatalog(JSON.stringify(json), 'my.json')).toThrow(/products\[4\]\.price(?!.*products\[5\])[^]*and 492 more/);
  });

  it('never does anything but load or explain, whatever is in the file', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 4 }), (content) => {
        expect(() => parseCatalog(content, 'my.json')).toThrow(/^The catalog my\.json (?:cannot be used:\n {2}.|has \d+ products)/);
      }),
      { numRuns: 200 },
    );
    fc.assert(
      fc.property(
        fc.nat(496),
        fc.constantFrom('id', 'name', 'noun', 'category', 'price', 'split', 'level', 'shelf'),
        fc.jsonValue(),
        (index, field, value) => {
          try {
            expect(parseCatalog(withProduct(index, { [field]: value }), 'my.json').products.length).toBe(497);
          } catch (error) {
            expect(String(error)).toMatch(new RegExp(`products\\[\\d+\\]|synonyms`));
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  it('with prototype names for words is just a catalog', () => {
    const product = {
      id: 7,
      name: 'Constructor Toy',
      noun: 'toy',
      category: '__proto__',
      price: 3,
      description: '<b>hasOwnProperty</b>',
      split: 'train',
      level: 0,
      shelf: 1,
    };
    const content = `{"categories":["__proto__"],"synonyms":{"tostring":"toy"},"products":[${JSON.stringify(product)}]}`;
    expect(parseCatalog(content, 'my.json').synonyms.get('tostring')).toEqual(['toy']);
  });
});

describe('a catalog file', () => {
  let folder = '';
  beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'catalog-'))));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('that is far too large is refused before it is read', () => {
    const file = join(folder, 'ten-million-rows.json');
    writeFileSync(file, '');
    truncateSync(file, 2_000_000_000);
    expect(() => loadCatalog(file)).toThrow(/2000000000 bytes; a shop takes at most/);
    const many = `{"categories":["a"],"synonyms":{},"products":[${'{},'.repeat(30_000)}{}]}`;
    expect(() => parseCatalog(many, 'my.json')).toThrow(/has 30001 products; a shop takes at most 20000/);
  });

  it('that is not there is said so', () => {
    expect(() => createShop({ catalog: join(folder, 'nowhere.json') })).toThrow(/nowhere\.json does not exist/);
  });

  it('of the user makes a shop', () => {
    const products = ['Red Mug', 'Blue Mug', 'Red Mug'].map((name, index) => ({
      id: index + 5,
      name,
      noun: 'mug',
      category: 'kitchen',
      price: [9, 12, 45][index],
      description: 'Holds tea.',
      split: 'train',
      level: 0,
      shelf: index + 1,
    }));
    const file = join(folder, 'mine.json');
    writeFileSync(file, JSON.stringify({ categories: ['kitchen'], synonyms: { crimson: 'red' }, products }));
    const shop = createShop({ catalog: file });
    const texts = shop.tasks('train').map(({ instruction, target }) => `${target}: ${instruction}`);
    expect(texts).toContain('6: User wants to buy blue mug.');
    expect(texts.filter((text) => /^5: .* red mug (under|for at most) \$(20|35)\.$/.test(text)).length).toBe(8);
    expect(texts.filter((text) => /^7: .* red mug (over|for at least) \$(20|35)\.$/.test(text)).length).toBe(8);
  });
});

it('words trade places only with words of their kind, each synonym with its word, and nothing twice', () => {
  const groups = conceptGroups(loadCatalog());
  const all = groups.flat(2);
  expect(new Set(all).size).toBe(all.length);
  expect(groups.map((group) => group.length)).toEqual([41, 2, 54, 9]);
  expect(groups.flat()).toContainEqual(['red', 'crimson']);
  for (const word of ['shoes', 'running', 'sneakers', 'books']) expect(all).not.toContain(word); // two meanings, or a thing of two words
  for (const group of groups) expect(new Set(group.map((concept) => concept.length)).size).toBe(1);
});

it('prices trade places, but never with the limits that tasks name', () => {
  const prices = exchangeablePrices(loadCatalog());
  expect(new Set(prices).size).toBe(prices.length);
  expect(prices).toContain('$129');
  for (const limit of ['$20', '$35', '$50', '$80', '$120']) expect(prices).not.toContain(limit);
});

it('in a task prices trade places on their side of its limit only, and sections that are no thing to search for', () => {
  const catalog = loadCatalog();
  const prices = exchangeablePrices(catalog);
  const groups = (constraint: Parameters<typeof comparableGroups>[2]) => comparableGroups(catalog, new Set(['shoes', 'lamp']), constraint);
  const sections = catalog.categories.filter((name) => name !== 'shoes');
  expect(sections).toHaveLength(7);
  for (const kind of ['below', 'above'] as const) {
    const [under = [], over = [], ...others] = groups({ kind, limit: 50 });
    expect([...under, ...over].toSorted()).toEqual(prices.toSorted());
    for (const price of under) expect(Number(price.slice(1))).toBeLessThan(50);
    for (const price of over) expect(Number(price.slice(1))).toBeGreaterThan(50);
    expect(others).toEqual([sections]);
  }
  for (const constraint of [undefined, { kind: 'category', category: 'home' } as const]) {
    expect(groups(constraint)).toEqual([prices, sections]);
  }
});
