// The search finds what the original finds, in its order.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { analyze, tokenize } from '../../../main/environment/webshop/search/analyzer.ts';
import { Ranking, decodeLength, encodeLength, inverseFrequency } from '../../../main/environment/webshop/search/bm25.ts';
import { contents } from '../../../main/environment/webshop/product.ts';
import { createWebShop } from '../../../main/environment/webshop/webshop.ts';
import { describeOriginal, originalShop, recorded } from './original.ts';

describe('words are cut and stemmed as Lucene does', () => {
  test.each([
    ["Men's T-Shirts with long sleeve", ['men', 't', 'shirt', 'long', 'sleev']],
    ['5x-large, 39x49in 1,000.50 a.b.c', ['5x', 'larg', '39x49in', '1,000.50', 'a.b.c']],
    ['under $40: the 2-pack', ['under', '40', '2', 'pack']],
    ['❤️soft 👨‍👩‍👧 ★new★', ['❤️', 'soft', '👨‍👩‍👧', '★', 'new', '★']],
    ['snake_case __ _x_ 3_4', ['snake_cas', '_x_', '3_4']],
    ['锅巴 ナイロン décor l’oreal', ['锅', '巴', 'ナイロン', 'décor', 'l’oreal']],
    ["The cat's, the dogs' & nobody’s", ['cat', 'dog', 'nobodi']],
    ['x.5 5.x 5.5 a:b 5:5 5;5 a;b', ['x', '5', '5', 'x', '5.5', 'a:b', '5', '5', '5;5', 'b']],
    ['', []],
  ])('%s', (text, terms) => expect(analyze(text)).toEqual(terms));

  test('a word of more than 255 characters is cut into pieces', () => {
    expect(tokenize('x'.repeat(600)).map((token) => token.length)).toEqual([255, 255, 90]);
  });

  test('the fast way through ASCII and the pattern agree', () => {
    const text = fc.string({ unit: fc.constantFrom(...'ab1_.\':,;- "$&') });
    // An emoji before the text, without a space, sends the same characters through the pattern.
    fc.assert(
      fc.property(text, (ascii) => {
        const byPattern = ascii.split(/ +/).flatMap((piece) => tokenize(`★-${piece}`).slice(1));
        expect(tokenize(ascii)).toEqual(byPattern);
      }),
    );
  });

  test('a megabyte of any one character takes no longer than a moment', () => {
    for (const character of ['_', 'a', '1', '.', '\u200d', '\u0301', '★', '#', '[', ' ', 'ก', '👨']) {
      const start = process.cpuUsage();
      tokenize(character.repeat(1_000_000));
      expect(process.cpuUsage(start).user / 1000, JSON.stringify(character)).toBeLessThan(3000);
    }
  });
});

describe('the ranking', () => {
  test('lengths are stored in one byte, exactly up to 40 and within an eighth beyond', () => {
    for (let length = 0; length <= 40; length++) expect(decodeLength(encodeLength(length))).toBe(length);
    expect(decodeLength(encodeLength(107))).toBe(104);
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 31 - 1 }), (length) => {
        const stored = decodeLength(encodeLength(length));
        expect(stored <= length && stored > length * 0.875 - 1).toBe(true);
      }),
    );
  });

  test('a rare word weighs more than a common one, as Lucene computes it', () => {
    expect(inverseFrequency(1, 1000)).toBeCloseTo(6.5033, 4);
    expect(inverseFrequency(1000, 1000)).toBeCloseTo(0.0005, 4);
  });

  test('equal scores are ordered by product number, not by place in the file', () => {
    const source = {
      size: 3,
      averageLength: 4,
      norms: Uint8Array.of(4, 4, 4),
      tieRanks: Int32Array.of(2, 0, 1),
      postings: (term: string) => (term === 'red' ? { documents: Int32Array.of(0, 1, 2), counts: Int32Array.of(1, 1, 1) } : undefined),
    };
    const ranking = new Ranking(source);
    expect([...ranking.search('red', 50)]).toEqual([1, 2, 0]);
    expect([...ranking.search('red', 2)]).toEqual([1, 2]);
    expect([...ranking.search('blue the', 50)]).toEqual([]);
  });

  test('a word that is said twice counts twice', () => {
    const { catalog } = createWebShop({});
    const once = [...catalog.search('wool sandals')];
    expect([...catalog.search('wool sandals sandals')]).not.toEqual(once);
  });
});

describeOriginal('over the original 1000 products', () => {
  test('there are 12,074 different terms and 107.608 of them to a product', () => {
    const { catalog } = originalShop();
    const terms = new Set<string>();
    let total = 0;
    for (let document = 0; document < catalog.size; document++) {
      const found = analyze(contents(catalog.product(document)));
      total += found.length;
      for (const term of found) terms.add(term);
    }
    expect(terms.size).toBe(12_074);
    expect(total / catalog.size).toBe(107.608);
  });

  test('every recorded result page is reproduced', () => {
    const { catalog } = originalShop();
    const pages = recorded().search;
    expect(pages.length).toBeGreaterThan(0);
    for (const { query, page, complete, asins } of pages) {
      const hits = [...catalog.search(query)].map((document) => catalog.product(document).asin).slice((page - 1) * 10, page * 10);
      if (complete) expect(hits).toEqual(asins);
      else expect(hits.filter((asin) => asins.includes(asin))).toEqual(asins);
    }
  });
});
