// The grammar of what may be said: what it admits, and the one form in which worlds read actions.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { randomSentence } from '../../main/environment/agents.ts';
import type { Grammar } from '../../main/environment/environment.ts';
import { admits, describe as inWords, LONGEST_ACTION, tidy } from '../../main/environment/grammar.ts';
import { Random } from '../../main/base/random.ts';

const GRAMMAR: Grammar = [
  [
    { kind: 'literal', text: 'search[' },
    { kind: 'words', max: 2 },
    { kind: 'literal', text: ']' },
  ],
  [
    { kind: 'literal', text: 'say ' },
    { kind: 'words', max: 3, from: ['red', 'reddish', 'blue'] },
  ],
  [
    { kind: 'literal', text: 'buy ' },
    { kind: 'choice', options: ['1', '12', '2'] },
  ],
  [{ kind: 'characters', max: 4, from: '0123+' }],
];

describe('a grammar', () => {
  it.each<[string, boolean]>([
    ['search[red]', true],
    ['search[red shoes]', true],
    ['search[red]]', true],
    ['search[]', false],
    ['search[a b c]', false],
    ['search[red', false],
    ['say red', true],
    ['say reddish blue red', true],
    ['say redd', false],
    ['say red blue red blue', false],
    ['buy 12', true],
    ['buy 13', false],
    ['buy 1 2', false],
    ['BUY\t 12 ', true],
    ['1+23', true],
    ['1+233', false],
    ['', false],
    ['   ', false],
  ])('says of %j: %s', (text, allowed) => {
    expect(admits(GRAMMAR, text)).toBe(allowed);
  });

  it('admits every sentence made from it, and nothing when it is empty', () => {
    fc.assert(
      fc.property(fc.nat(), (seed) => {
        expect(admits(GRAMMAR, randomSentence(GRAMMAR, Random.from('grammar', seed).next))).toBe(true);
      }),
    );
    expect(admits([], 'search[red]')).toBe(false);
  });

  it('is described in one line', () => {
    expect(inWords(GRAMMAR)).toBe(
      'search[<1–2 words>]  |  say <1–3 of: red, reddish, blue>  |  buy <1 | 12 | 2>  |  <1–4 of the characters 0123+>',
    );
  });
});

describe('the tidy form of an action', () => {
  it('is lower case with single spaces, and stays as it is when tidied again', () => {
    expect(tidy('  Search\u00a0 RED\u0000\u200bshoes\r\n')).toBe('search red shoes');
    fc.assert(
      fc.property(
        fc.array(fc.nat(0x10ffff), { maxLength: 30 }).map((codes) => String.fromCodePoint(...codes)),
        (text) => {
          expect(tidy(tidy(text))).toBe(tidy(text));
        },
      ),
    );
  });

  it('of more than a thousand characters is nothing', () => {
    expect(tidy('a'.repeat(LONGEST_ACTION + 1))).toBe('');
    expect(tidy('a'.repeat(LONGEST_ACTION))).toHaveLength(LONGEST_ACTION);
  });
});
