import { expect, test } from 'vitest';
import type { ScratchCodec } from '../../main/policy/text/scratch-text.ts';
import { idGroups } from '../../main/training/model-policy.ts';
import { openRun, parseConfig } from '../catalog.ts';

function codecOf(aids: Record<string, boolean>): ScratchCodec {
  const { codec } = openRun(parseConfig({ world: { name: 'shop' }, policy: { aids } }));
  if ('chat' in codec) throw new Error('A small policy was expected');
  return codec;
}

/** How many names each group has that trade places in training. */
const groupsOf = (aids: Record<string, boolean>): number[] => codecOf(aids).names.map((group) => group.length);

test('each aid decides separately what is permuted: ids, words, prices', () => {
  expect(groupsOf({ relabelIds: false })).toEqual([]);
  expect(groupsOf({ relabelIds: true })).toEqual([497]);
  expect(groupsOf({ relabelIds: false, relabelWords: true })).toEqual([41, 2, 54, 9]);
  expect(groupsOf({ relabelIds: false, relabelPrices: true })).toEqual([19]);
});

test('a language model’s ids trade places with all others, or with those that begin alike', () => {
  const ids = Array.from({ length: 497 }, (_, i) => String(i + 1));
  expect(idGroups(ids, false)).toEqual([ids.map((id) => [id])]);
  const similar = idGroups(ids, true);
  expect(similar.map((group) => group.length)).toEqual([99, 100, 100, 100, 98]);
  expect(
    similar
      .at(-1)
      ?.flat()
      .every((id) => /^4..$/.test(id)),
  ).toBe(true);
});

test('prices are not permuted where the comparison is not marked', () => {
  expect(groupsOf({ relabelIds: false, relabelPrices: true, compareFlag: false })).toEqual([]);
});

test('a name of two words is one token where the aid says so, and two where not', () => {
  const words = (phrases: boolean): string[] => {
    const { tokenizer } = codecOf({ phrases });
    return tokenizer.encode('Red Running Shoes shoes').map((id) => tokenizer.token(id));
  };
  expect(words(true)).toEqual(['red', 'running shoes', 'shoes']);
  expect(words(false)).toEqual(['red', 'running', 'shoes', 'shoes']);
});
