// Data that is damaged or strange gets a clear answer with its place; data on disk behaves like data in memory.

import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { locate, openCatalog } from '../../../main/environment/webshop/search/catalog.ts';
import { Goals } from '../../../main/environment/webshop/goals.ts';
import { buildIndex } from '../../../main/environment/webshop/search/index-build.ts';
import { indexFolder, isIndexOf } from '../../../main/environment/webshop/search/index-file.ts';
import { readRecords } from '../../../main/environment/webshop/search/records.ts';
import { createWebShop } from '../../../main/environment/webshop/webshop.ts';

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'astrolab-webshop-'));
  folders.push(folder);
  return folder;
}

const GOOD = {
  name: 'Red Lamp',
  full_description: 'A lamp.',
  small_description: ['Bright'],
  customization_options: { Color: [{ value: 'Red/Blue ', image: null }], Size: null },
  asin: 'LAMP000001',
  category: 'garden',
  query: ' Table Lamps ',
  product_category: 'Home › Lamps',
  pricing: '$1,009.50 - $1,100',
};
const ENTRY = { attributes: ['easy clean'], instruction: 'Find me easy clean table lamps', instruction_attributes: ['easy clean'] };

/** A data folder with these two texts. */
function dataFolder(products: string, instructions: string): string {
  const folder = newFolder();
  writeFileSync(join(folder, 'items_shuffle_1000.json'), products);
  writeFileSync(join(folder, 'items_ins_v2_1000.json'), instructions);
  return folder;
}

const withProducts = (...products: readonly unknown[]): string =>
  dataFolder(JSON.stringify(products), JSON.stringify({ LAMP000001: ENTRY, LAMP000002: ENTRY }));

const problem = (folder: string): string => {
  try {
    createWebShop({ dataFolder: folder });
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return 'none';
};

describe('product files', () => {
  test('a good record is read as the original reads it', () => {
    const shop = createWebShop({ dataFolder: withProducts(GOOD) });
    expect(shop.catalog.product(0)).toMatchObject({
      query: 'table lamps',
      prices: [1009.5, 1100],
      priceTag: '$1009.5 to $1100.0',
      options: [{ name: 'color', values: ['red | blue'] }],
    });
    expect(shop.goals.goal(0)).toMatchObject({ wish: 'Find me easy clean table lamps with color: red | blue', limit: 1_000_000 });
  });

  test.each([
    ['no name', { ...GOOD, name: undefined }, "record 2 (byte 295): 'name' should be a text, found nothing"],
    ['a number for a name', { ...GOOD, name: 5 }, "'name' should be a text, found number 5"],
    ['no description', { ...GOOD, full_description: null }, "'full_description' should be a text, found null"],
    ['bullets of numbers', { ...GOOD, small_description: ['x', 1] }, "'small_description[1]' should be a text, found number 1"],
    ['no bullets at all', { ...GOOD, small_description: [] }, "'small_description' should be a text or a list with at least one text"],
    [
      'options as a list',
      { ...GOOD, customization_options: [] },
      "'customization_options' should be an object of lists, or '', found a list",
    ],
    [
      'an option without value',
      { ...GOOD, customization_options: { Color: [{}] } },
      "customization_options.Color[0]: 'value' should be a text",
    ],
    ['a negative price', { ...GOOD, pricing: '$-5.00' }, "'pricing' is negative: '$-5.00'"],
    ['a price in words', { ...GOOD, pricing: 'ten' }, "'pricing' should be a text such as '$12.99'"],
    ['a price as a number', { ...GOOD, pricing: 12 }, "'pricing' should be a text such as"],
    ['a price with two points', { ...GOOD, pricing: '$1.2.3' }, "'pricing' should be a text such as"],
    ['a text for a product', 'lamp', 'expected a product (an object), found string "lamp"'],
    ['nothing for a product', null, 'expected a product (an object), found null'],
    ['an empty number', { ...GOOD, asin: '' }, "'asin' is empty"],
    ['a number that nobody knows', { ...GOOD, asin: 'UNKNOWN' }, 'product UNKNOWN has no entry in'],
  ])('%s: the complaint names the record', (_, bad, message) => {
    const first = { ...GOOD, asin: 'LAMP000002' };
    const told = problem(withProducts(first, typeof bad === 'object' && bad !== null ? { ...bad } : bad));
    expect(told).toContain(message);
    expect(told).toContain('items_shuffle_1000.json, record 2 (byte ');
  });

  test.each([
    ['an empty file', '', 'record 1 (byte 0): the file ends in the middle; it was truncated'],
    ['an object for a list', '{}', "record 1 (byte 0): expected '[' at the beginning"],
    ['a truncated record', `[${JSON.stringify(GOOD).slice(0, 100)}`, 'record 1 (byte 101): the file ends in the middle'],
    ['a missing bracket at the end', `[${JSON.stringify(GOOD)}`, 'record 2 (byte 294): the file ends in the middle'],
    ['a missing comma', `[${JSON.stringify(GOOD)} ${JSON.stringify(GOOD)}]`, "record 2 (byte 295): expected ',' or ']'"],
    ['two commas', `[${JSON.stringify(GOOD)},,]`, 'record 2 (byte 295): not JSON'],
    ['broken JSON', '[{"name": }]', 'record 1 (byte 1): not JSON'],
    ['more after the end', `[${JSON.stringify(GOOD)}] x`, 'something follows the closing bracket'],
    ['no products', '[]', 'holds no products'],
    ['nothing but zeros', '\0'.repeat(100), "record 1 (byte 0): expected '[' at the beginning"],
  ])('%s', (_, text, message) => {
    expect(problem(dataFolder(text, JSON.stringify({ LAMP000001: ENTRY })))).toContain(message);
  });

  test.each([
    ['attributes that are none', { attributes: 'x' }, "'attributes' should be a list of texts"],
    [
      'a wish without attributes',
      { ...ENTRY, instruction_attributes: [] },
      "'instruction_attributes' should be a list with at least one attribute",
    ],
    ['a wish that is a number', { ...ENTRY, instruction: 5 }, "'instruction' should be a text, found number 5"],
    ['no entry', null, 'expected an object, found null'],
  ])('instructions with %s', (_, entry, message) => {
    const told = problem(dataFolder(JSON.stringify([GOOD]), JSON.stringify({ LAMP000001: entry })));
    expect(told).toContain(message);
    expect(told).toContain('items_ins_v2_1000.json, record 1 (byte 14), product LAMP000001');
  });

  test('records that the original leaves out are left out and named', () => {
    const folder = withProducts(GOOD, GOOD, { ...GOOD, asin: 'nan' }, { ...GOOD, asin: 'LONGER00001' });
    const { notes, size } = openCatalog(locate(folder, 'auto'));
    expect(size).toBe(1);
    expect(notes).toEqual([
      'items_shuffle_1000.json, record 2 (byte 295) is left out, as in the original: LAMP000001 was there before; the first one counts',
      "items_shuffle_1000.json, record 3 (byte 589) is left out, as in the original: its number 'nan' is not one of a product",
      "items_shuffle_1000.json, record 4 (byte 876) is left out, as in the original: its number 'LONGER00001' is not one of a product",
    ]);
  });

  test('names of prototypes are ordinary product numbers and option names', () => {
    const odd = `{"__proto__": [{"value": "x"}], "constructor": [{"value": "y"}]}`;
    const text = JSON.stringify([{ ...GOOD, asin: 'toString', customization_options: 0 }]).replace(
      '"customization_options":0',
      `"customization_options":${odd}`,
    );
    const shop = createWebShop({ dataFolder: dataFolder(text, JSON.stringify({ toString: ENTRY })) });
    expect(shop.catalog.product(0).options.map(({ name }) => name)).toEqual(['__proto__', 'constructor']);
    expect(shop.catalog.find('valueOf')).toBeUndefined();
  });

  test('a product with more combinations of options than can be numbered is named', () => {
    const values = Array.from({ length: 10 }, (_, i) => ({ value: `v${i}` }));
    const options = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`option ${i}`, values]));
    expect(problem(withProducts({ ...GOOD, customization_options: options }))).toContain(
      'product LAMP000001 alone offers 100000000000000000000',
    );
  });

  test('a catalog that nobody asks for gives no goals and says so', () => {
    expect(problem(dataFolder(JSON.stringify([GOOD]), '{"LAMP000001": {"attributes": []}}'))).toContain('no product has an instruction');
  });

  test('a byte order mark and the NaN of Python are no problem', () => {
    const text = `\ufeff[${JSON.stringify(GOOD).replace('{', '{"average_rating": NaN, "page": -Infinity, ')}]\n`;
    expect(createWebShop({ dataFolder: dataFolder(text, JSON.stringify({ LAMP000001: ENTRY })) }).catalog.size).toBe(1);
  });

  test('a folder without data says what is expected there', () => {
    expect(problem(newFolder())).toMatch(
      /holds no WebShop data: expected items_shuffle_1000\.json and items_ins_v2_1000\.json, or items_shuffle\.json/,
    );
  });

  test('records may be larger than what is read at a time, with quotation marks and backslashes at every place', () => {
    const path = join(newFolder(), 'large.json');
    const values = Array.from({ length: 40 }, (_, i) => ({
      i,
      text: `${'\\"'.repeat(i)}${'x'.repeat(200_000 + i)}\\`,
      list: ['[', '{', ']'],
    }));
    writeFileSync(path, JSON.stringify(values, null, 1));
    expect([...readRecords(path, 'array')].map((record) => record.value)).toEqual(values);
    expect(statSync(path).size).toBeGreaterThan(2 * 2 ** 22 - 2 ** 20);
  });
});

describe('instructions in people’s words', () => {
  const HUMAN = {
    instruction: 'i want a bright lamp in wine red.',
    instruction_attributes: ['easy clean'],
    instruction_options: ['wine red'],
  };
  const RED = { ...GOOD, pricing: '$15', customization_options: { Color: [{ value: 'Bright Red' }, { value: 'Blue' }] } };

  function humanFolder(text: string): string {
    const folder = withProducts(RED);
    writeFileSync(join(folder, 'items_human_ins.json'), text);
    return folder;
  }

  test('are goals with their options, compared by basic colours on both sides', () => {
    const entries = { LAMP000001: [HUMAN, { ...HUMAN, instruction_attributes: [] }, { ...HUMAN, instruction: 'a lamp' }], OTHER: [HUMAN] };
    const shop = createWebShop({ dataFolder: humanFolder(JSON.stringify(entries)), goals: 'human' });
    expect(shop.goals.size).toBe(2);
    const task = shop.findTask('I want a bright lamp in wine red') ?? expect.fail('no task');
    expect(task.tier).toBe('one option');
    let turn = shop.reset({ ...task, instruction: 'i want a bright lamp in wine red, and price lower than 20.00 dollars' }, 0);
    for (const action of ['search[lamp]', 'click[lamp000001]', 'click[bright red]', 'click[buy now]']) turn = shop.step(turn.state, action);
    expect(turn.reward).toBe(1);
  });

  test('that are missing or damaged are answered with their place', () => {
    expect(() => createWebShop({ dataFolder: humanFolder('{}'), goals: 'human' })).toThrow(
      'holds no instruction for a product of this catalog',
    );
    expect(() => createWebShop({ dataFolder: humanFolder('{"LAMP000001": 5}'), goals: 'human' })).toThrow(
      'should be a list of instructions, found number 5',
    );
    expect(() => createWebShop({ dataFolder: humanFolder('{"LAMP000001": [{}]}'), goals: 'human' })).toThrow(
      "items_human_ins.json, record 1 (byte 15), product LAMP000001[0]: 'instruction' should be a text, found nothing",
    );
    expect(() => createWebShop({ goals: 'human' })).toThrow('There is no');
  });
});

/** The built-in catalog in a separate folder, as the original's full set. */
function largeFolder(): { products: string; instructions: string } {
  const folder = newFolder();
  const own = locate('', 'auto');
  const files = { products: join(folder, 'items_shuffle.json'), instructions: join(folder, 'items_ins_v2.json') };
  cpSync(own.products, files.products);
  cpSync(own.instructions, files.instructions);
  return files;
}

describe('a large set', () => {
  test('is searched on disk with the same results as in memory', () => {
    const files = largeFolder();
    const memory = openCatalog(files);
    const shares: number[] = [];
    buildIndex(files, indexFolder(files), (share) => shares.push(share), 5000);
    expect(shares.at(-1)).toBe(1);
    expect(shares).toEqual(shares.toSorted((a, b) => a - b));
    const disk = openCatalog(files, undefined, 0);
    expect(disk).not.toBe(memory);
    for (let document = 0; document < memory.size; document++) {
      const product = memory.product(document);
      expect(disk.product(document)).toEqual(product);
      expect(disk.find(product.asin)).toBe(document);
      expect(disk.goalCounts[document]).toBe(memory.goalCounts[document]);
      expect([...disk.search(product.title)]).toEqual([...memory.search(product.title)]);
    }
    expect([...disk.search('nosuchword')]).toEqual([]);
    expect(disk.find('nothing')).toBeUndefined();
    expect(new Goals(disk, 1).goal(77)).toEqual(new Goals(memory, 1).goal(77));
  });

  test('that was interrupted continues where it was, and then is the same', () => {
    const files = largeFolder();
    const whole = indexFolder(files);
    buildIndex(files, whole, () => {}, 5000);
    const interrupted = `${whole}.again`;
    let segments = 0;
    expect(() =>
      buildIndex(
        files,
        interrupted,
        () => {
          segments = readdirSync(`${interrupted}.partial`).filter((name) => name.endsWith('.json')).length;
          if (segments >= 1) throw new Error('power cut');
        },
        3000,
      ),
    ).toThrow('power cut');
    expect(segments).toBeGreaterThan(0);
    expect(existsSync(interrupted)).toBe(false);
    buildIndex(files, interrupted, () => {}, 5000);
    for (const name of ['documents.bin', 'terms.bin', 'postings.bin', 'blocks.json']) {
      expect(readFileSync(join(interrupted, name)).equals(readFileSync(join(whole, name))), name).toBe(true);
    }
  });

  test('with a damaged index is indexed anew where that shows at once, and else names the index', () => {
    const files = largeFolder();
    const folder = indexFolder(files);
    buildIndex(files, folder, () => {});
    const meta = readFileSync(join(folder, 'meta.json'), 'utf8');
    writeFileSync(join(folder, 'meta.json'), meta.slice(0, 40));
    expect(isIndexOf(folder, files)).toBe(false);
    writeFileSync(join(folder, 'meta.json'), meta);
    truncateSync(join(folder, 'postings.bin'), 100);
    expect(() => openCatalog(files, undefined, 0).search('wash')).toThrow('The index is damaged');
    truncateSync(join(folder, 'documents.bin'), 100);
    expect(() => openCatalog(files, undefined, 1)).toThrow(/documents\.bin has 100 bytes, expected/);
  });

  test('is indexed anew when a file changed, and an error leaves no index', () => {
    const files = largeFolder();
    const folder = indexFolder(files);
    buildIndex(files, folder, () => {});
    expect(isIndexOf(folder, files)).toBe(true);
    utimesSync(files.products, 1, 1);
    expect(isIndexOf(folder, files)).toBe(false);
    rmSync(folder, { recursive: true });
    appendFileSync(files.products, '!');
    expect(() => buildIndex(files, folder, () => {})).toThrow('something follows the closing bracket');
    expect(existsSync(folder)).toBe(false);
  });
});
