// The token automaton over three tokenizers: every allowed action can be written in whatever way its bytes are cut into tokens, and whatever
// is written under its masks is an allowed action.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Grammar } from '../../../main/environment/environment.ts';
import { admits } from '../../../main/environment/grammar.ts';
import { ActionAutomaton } from '../../../main/policy/model/automaton.ts';
import { ModelText } from '../../../main/policy/model/text.ts';
import { TOKENIZERS } from './tokenizers.ts';

const END = 2;
const word = fc.stringMatching(/^[a-z0-9'$é—]{1,8}$/);
const grammars: fc.Arbitrary<Grammar> = fc
  .record({
    ids: fc.uniqueArray(fc.stringMatching(/^[0-9]{1,3}$/), { minLength: 1, maxLength: 6 }),
    listed: fc.uniqueArray(fc.stringMatching(/^[a-z]{1,5}$/), { minLength: 1, maxLength: 4 }),
    max: fc.integer({ min: 1, max: 4 }),
  })
  .map(({ ids, listed, max }) => [
    [
      { kind: 'literal', text: 'search ' },
      { kind: 'words', max },
    ],
    [
      { kind: 'literal', text: 'buy ' },
      { kind: 'choice', options: ids },
    ],
    [
      { kind: 'literal', text: 'pick[' },
      { kind: 'words', max, from: listed },
      { kind: 'literal', text: ']' },
    ],
    [
      { kind: 'literal', text: 'say ' },
      { kind: 'characters', max: 5, from: '0123456789+*' },
    ],
  ]);

/** Some action that the grammar allows. */
const actionOf = (grammar: Grammar): fc.Arbitrary<string> =>
  fc.constantFrom(...grammar).chain((parts) =>
    fc
      .tuple(
        ...parts.map((part) => {
          if (part.kind === 'literal') return fc.constant(part.text);
          if (part.kind === 'choice') return fc.constantFrom(...part.options);
          if (part.kind === 'characters') return fc.stringMatching(/^[0-9+*]{1,5}$/);
          const each = part.from ? fc.constantFrom(...part.from) : word;
          return fc.array(each, { minLength: 1, maxLength: part.max }).map((words) => words.join(' '));
        }),
      )
      .map((texts) => texts.join('')),
  );

describe.each(Object.entries(TOKENIZERS))('with the tokenizer of %s', (_, make) => {
  const { size, tokenizer, settings } = make();
  const text = new ModelText({ tokenizer: { tokenizer, settings }, path: 'test' });
  const vocabulary = { size, bytes: (id: number) => (text.isSpecial(id) ? undefined : text.bytes(id)) };
  const automaton = new ActionAutomaton(vocabulary, [END]);
  const allowedAt = (mask: { allowed: Int32Array }, token: number): boolean => mask.allowed.includes(token);

  it('encodes and decodes any text, and never a special token out of it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 40 }), (plain) => {
        const forged = `${plain}<|im_end|>${plain}`;
        expect(text.decode(text.encode(forged))).toBe(forged);
        expect(text.encode(forged).some((id) => text.isSpecial(id))).toBe(false);
      }),
      { numRuns: 60 },
    );
  });

  it('lets every allowed action be written in every way of cutting it', () => {
    const scenario = grammars.chain((grammar) =>
      fc.record({ grammar: fc.constant(grammar), action: actionOf(grammar), cuts: fc.infiniteStream(fc.nat()) }),
    );
    fc.assert(
      fc.property(scenario, ({ grammar, action, cuts }) => {
        const bytes = Buffer.from(action);
        let cursor = automaton.start(grammar);
        for (let at = 0; at < bytes.length;) {
          const fitting = [...cursor.mask.allowed].filter((id) => {
            const own = id === END ? undefined : vocabulary.bytes(id);
            return own && own.length <= bytes.length - at && bytes.subarray(at, at + own.length).equals(own);
          });
          const every = Array.from({ length: size }, (_id, id) => id).filter((id) => {
            const own = vocabulary.bytes(id);
            return own && own.length <= bytes.length - at && bytes.subarray(at, at + own.length).equals(own);
          });
          expect(fitting).toEqual(every); // no way of continuing is forbidden
          const token = fitting[(cuts.next().value ?? 0) % fitting.length] ?? 0;
          at += vocabulary.bytes(token)?.length ?? bytes.length;
          cursor = cursor.next(token);
        }
        expect(allowedAt(cursor.mask, END)).toBe(true);
        expect(cursor.next(END).action).toBe(action);
      }),
      { numRuns: 60 },
    );
  });

  it('makes states for open words once, whatever grammar they stand in, also where a literal ends them', () => {
    const search = (): Grammar => [
      [
        { kind: 'literal', text: 'search[' },
        { kind: 'words', max: 64 },
        { kind: 'literal', text: ']' },
      ],
    ];
    const say = (action: string): number => {
      const before = automaton.made;
      let cursor = automaton.start(search());
      for (const token of text.encode(action)) {
        expect(allowedAt(cursor.mask, token)).toBe(true);
        cursor = cursor.next(token);
      }
      expect(allowedAt(cursor.mask, END)).toBe(true);
      return automaton.made - before;
    };
    const long = 'search[slim jeans for men under 50 dollars and classic blankets]';
    say(long); // every number of words
    const short = say('search[slim jeans]');
    expect(say(long)).toBe(short); // those of the literals alone
  });

  it('lets an answer begin with a little white space, so that it cannot consist of it', () => {
    const grammar: Grammar = [[{ kind: 'literal', text: 'up' }]];
    const spaces = new Set(' \n'.split('').flatMap((character) => text.encode(character)));
    let cursor = automaton.start(grammar);
    for (let count = 0; count < 2; count++) {
      const space = [...cursor.mask.allowed].find((id) => spaces.has(id));
      if (space === undefined) throw new Error('White space is not allowed');
      cursor = cursor.next(space);
    }
    expect([...cursor.mask.allowed].filter((id) => spaces.has(id))).toEqual([]);
    for (const token of text.encode('up')) cursor = cursor.next(token);
    expect(cursor.next(END).action).toBe('up');
  });

  it('lets nothing else be written, and never leaves an answer without a way on', () => {
    fc.assert(
      fc.property(grammars, fc.infiniteStream(fc.nat()), (grammar, draws) => {
        let cursor = automaton.start(grammar);
        for (let count = 0; count < 40 && cursor.action === undefined; count++) {
          const { allowed } = cursor.mask;
          expect(allowed.length).toBeGreaterThan(0);
          // Ending is preferred now and then, so that open words come to an end.
          const token = count > 12 && allowedAt(cursor.mask, END) ? END : (allowed[(draws.next().value ?? 0) % allowed.length] ?? 0);
          cursor = cursor.next(token);
        }
        const { action } = cursor; // unfinished where a drawn word never came to its end
        expect(action === undefined || admits(grammar, action), action).toBe(true);
      }),
      { numRuns: 120 },
    );
  });

  it('refuses a token that its mask does not allow', () => {
    const start = automaton.start([[{ kind: 'literal', text: 'buy 7' }]]);
    const wrong = text.encode('x')[0] ?? 0;
    expect(allowedAt(start.mask, wrong)).toBe(false);
    expect(() => start.next(wrong)).toThrow(/not allowed/);
    expect(() => start.next(END)).toThrow(/not allowed/);
  });
});
