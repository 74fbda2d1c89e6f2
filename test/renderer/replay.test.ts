// Replay's tokens: when it says that they are under other names than the page beside them, and that none is blank.

import { expect, test } from 'vitest';
import type { Word } from '../../main/replay/schema.ts';
import { renamed, visible } from '../../renderer/replay/paint.ts';

const nothing = { probability: null, entropy: null, logRatio: null, value: null, advantage: null, alternatives: [] };
const words = (part: Word['part'], ...texts: string[]): Word[] => texts.map((text) => ({ ...nothing, part, text }));

test.each([
  ['tokens of a small policy', words('action', 'search', 'red', 'running shoes', '<end>'), 'search red running shoes', false],
  ['pieces of words', words('action', '\n', 'se', 'arch', ' red', ' he', 'els', '<|im_end|>'), 'search red heels', false],
  ['other words', words('action', 'se', 'arch', ' simple', ' timer', '<|im_end|>'), 'search red heels', true],
  ['another id', words('action', 'buy', '12'), 'buy 55', true],
  ['a thought alone', words('thought', 'red'), 'search red heels', false],
])('%s', (_, said, action, expected) => {
  expect(renamed({ words: said, action })).toBe(expected);
});

test('white space is shown, words stay as they are', () => {
  expect(['\n', '\n\n', ' ', '\t', ' red', 'red'].map(visible)).toEqual(['↵', '↵↵', '␣', '⇥', ' red', 'red']);
});
