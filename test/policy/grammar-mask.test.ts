import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Grammar } from '../../main/environment/environment.ts';
import { GrammarMasks } from '../../main/policy/text/grammar-mask.ts';
import { MARKS, Tokenizer, mark, trainTokenizer } from '../../main/policy/text/tokenizer.ts';
import { Random } from '../../main/base/random.ts';

const corpus = ['search click buy answer red classic wool blanket 1 31 201 378 black black large next > back to search', "men's shoe $29"];
const tokenizer = new Tokenizer(trainTokenizer(corpus, { minimumCount: 1, maximumWords: 1000, digits: 'whole' }));
const masks = new GrammarMasks(tokenizer);

const shop: Grammar = [
  [
    { kind: 'literal', text: 'search ' },
    { kind: 'words', max: 3, useful: ['red', 'classic', 'wool', 'blanket', 'zeppelin'] },
  ],
  [
    { kind: 'literal', text: 'click ' },
    { kind: 'choice', options: ['1', '31', '201', '378'] },
  ],
  [
    { kind: 'literal', text: 'buy ' },
    { kind: 'choice', options: ['1', '31', '201', '378'] },
  ],
];
const webshop: Grammar = [
  [
    { kind: 'literal', text: 'search[' },
    { kind: 'words', max: 4 },
    { kind: 'literal', text: ']' },
  ],
  [
    { kind: 'literal', text: 'click[' },
    { kind: 'choice', options: ['black', 'black large', 'next >', 'b09qqp3356'] },
    { kind: 'literal', text: ']' },
  ],
];
const maths: Grammar = [[{ kind: 'characters', max: 5, from: '0123456789+*' }]];

/** Walks at random and returns the action and the tokens said. */
function walk(grammar: Grammar, random: Random): { action: string; tokens: number[] } {
  let cursor = masks.start(grammar);
  const tokens: number[] = [];
  while (cursor.action === undefined) {
    const token = random.pick([...cursor.mask.allowed]);
    tokens.push(token);
    cursor = cursor.next(token);
    if (tokens.length > 200) throw new Error('no end');
  }
  return { action: cursor.action, tokens };
}

describe('every action that can be generated is one the grammar allows', () => {
  test.each([
    ['shop', shop, /^(search [a-z]+( [a-z]+){0,2}|(click|buy) (1|31|201|378))$/],
    ['maths', maths, /^[0-9+*]{1,5}$/],
    ['webshop clicks', webshop.slice(1), /^click\[(black|black large|next >|b09qqp3356)\]$/],
  ] as const)('%s', (_, grammar, pattern) => {
    const seen = new Set<string>();
    for (let seed = 0; seed < 300; seed++) {
      const { action } = walk(grammar, Random.from(seed));
      expect(action).toMatch(pattern);
      seen.add(action);
    }
    expect(seen.size).toBeGreaterThan(3);
  });
});

test('generating and encoding are inverse: the tokens of an action lead back to the same action', () => {
  fc.assert(
    fc.property(fc.integer(), fc.constantFrom(shop, webshop.slice(1), maths), (seed, grammar) => {
      const { action, tokens } = walk(grammar, Random.from(seed));
      const encoded = masks.encode(grammar, action);
      expect(encoded.tokens).toEqual(tokens);
      expect(encoded.masks).toHaveLength(tokens.length);
      encoded.masks.forEach((mask, index) => expect(mask.allowed).toContain(tokens[index]));
    }),
    { numRuns: 300 },
  );
});

test('a word that is spelled in pieces is reachable', () => {
  const { tokens } = masks.encode(shop, 'search zeppelin');
  expect(tokens.length).toBeGreaterThan(3);
  expect(() => masks.encode(shop, 'search unicorn')).toThrow(/unicorn.*not one that the grammar allows/);
});

test('a choice that is the beginning of another needs an end mark, any other ends by itself', () => {
  expect(masks.encode(webshop, 'click[black]').tokens.at(-1)).toBe(mark('<end>'));
  expect(masks.encode(webshop, 'click[black large]').tokens.at(-1)).toBe(tokenizer.word('large'));
  expect(masks.encode(shop, 'buy 201').tokens).toEqual([tokenizer.word('buy'), tokenizer.word('201')]);
});

test('a disallowed token is refused by name', () => {
  expect(() => masks.start(shop).next(mark('<end>'))).toThrow(/begins no alternative/);
  const choice = masks.start(shop).next(tokenizer.word('buy') ?? -1);
  expect(() => choice.next(tokenizer.word('blanket') ?? -1)).toThrow("'blanket' is not allowed here");
});

describe('the tokenizer', () => {
  test('knows every word of its corpus as one token and spells the rest', () => {
    expect(tokenizer.decode(tokenizer.encode("Red men's SHOE $29"))).toBe("red men's shoe $29");
    expect(tokenizer.encode('$29')).toHaveLength(1);
    expect(tokenizer.decode(tokenizer.encode('unicorn'))).toBe('unicorn');
    expect(tokenizer.encode('unicorn').length).toBe(7);
  });

  test('never reads a mark out of a text', () => {
    for (const name of MARKS)
      for (const id of tokenizer.encode(`a ${name} b x${name}y`)) expect(id === mark('<unk>') || id >= MARKS.length).toBe(true);
  });

  test('takes hostile texts without a crash', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
        for (const id of tokenizer.encode(text)) expect(id).toBeLessThan(tokenizer.size);
      }),
    );
    expect(tokenizer.encode('constructor __proto__ toString').every((id) => id > 0)).toBe(true);
  });

  test('gives the same ids after a way through its JSON', () => {
    const again = new Tokenizer(JSON.parse(JSON.stringify(tokenizer.json)));
    expect(again.encode('classic wool zeppelin 201')).toEqual(tokenizer.encode('classic wool zeppelin 201'));
  });
});

describe('phrases: a name of several words as one token', () => {
  const phrase = 'wool blanket';
  const joined = new Tokenizer(trainTokenizer(corpus, { minimumCount: 1, maximumWords: 1000, digits: 'whole', phrases: [phrase] }));
  const id = joined.word(phrase);

  test('is read as one token however it is written, and only where its words stand together', () => {
    expect(id).toBeDefined();
    expect(joined.encode('Classic Wool Blanket. wool red blanket')).toEqual(
      ['classic', phrase, '.', 'wool', 'red', 'blanket'].map((word) => joined.word(word)),
    );
    expect(joined.decode(joined.encode('red wool  BLANKET $29'))).toBe('red wool blanket $29');
  });

  test('all other tokens keep their ids', () => {
    for (let token = 0; token < tokenizer.size; token++) expect(joined.token(token)).toBe(tokenizer.token(token));
    expect(joined.size).toBe(tokenizer.size + 1);
  });

  test.each([
    ['listed words', shop],
    ['any words', webshop.slice(0, 1)],
  ] as const)('can be said, and counts as many words as it has: %s', (_, grammar) => {
    const most = grammar === shop ? 3 : 4;
    const own = new GrammarMasks(joined);
    let said = 0;
    for (let seed = 0; seed < 400; seed++) {
      const random = Random.from('phrases', seed);
      let cursor = own.start(grammar);
      while (cursor.action === undefined) {
        // The phrase whenever it is allowed, every other time.
        const allowed = [...cursor.mask.allowed];
        const token = id !== undefined && allowed.includes(id) && random.next() < 0.5 ? id : random.pick(allowed);
        if (token === id) said += 1;
        cursor = cursor.next(token);
      }
      expect(cursor.action.replace(/^(search|click|buy)./, '').split(' ').length).toBeLessThanOrEqual(most);
    }
    expect(said).toBeGreaterThan(20);
    expect(() => own.encode(grammar, grammar === shop ? 'search red classic wool blanket' : 'search[a b c wool blanket]')).toThrow(
      'not one that the grammar allows',
    );
  });
});
