// An episode as a chat: what is dropped when its context is full and what never is, and words that trade places.

import { expect, test } from 'vitest';
import type { Grammar, Task } from '../../../main/environment/environment.ts';
import { ActionAutomaton } from '../../../main/policy/model/automaton.ts';
import { type ChatCodec, ChatText, chatTemplate, swappable } from '../../../main/policy/model/chat-text.ts';
import { ModelText } from '../../../main/policy/model/text.ts';
import { TOKENIZERS } from './tokenizers.ts';

const { size, tokenizer, settings } = TOKENIZERS.words();
const text = new ModelText({ tokenizer: { tokenizer, settings }, path: 'words' });
const end = text.id('<|im_end|>') ?? -1;

function codec(contextLength: number, thoughts = 0): ChatCodec {
  const prompt = {
    system: 'Shop.',
    contextLength,
    thoughts: thoughts > 0,
    maxThoughtTokens: thoughts,
    maxAnswerTokens: 16,
    constrained: false,
  };
  return {
    chat: text,
    tokenizer: { size, token: (id) => text.token(id), json: {}, endOfThought: () => -1 },
    automaton: new ActionAutomaton({ size, bytes: (id) => (text.isSpecial(id) ? undefined : text.bytes(id)) }, [end]),
    prompt,
    template: chatTemplate(text, prompt, [end]),
    endTokens: [end],
    names: [],
  };
}

test('a task that alone fills the context loses its end: the new row fits, and each turn keeps its frame', () => {
  const length = 160;
  const chat = new ChatText(codec(length), undefined);
  chat.observe(`TASK ${'red shoes '.repeat(200)}`, []);
  const [first] = chat.rows;
  if (!first) throw new Error('There is no row');
  expect(first.tokens.length).toBeGreaterThan(length - 25); // the task was cut to the context
  for (const token of [...text.encode('search red'), end]) chat.accept(token);
  chat.observe('Found 21 results, Top 5', []);
  expect(chat.rows).toHaveLength(2);
  const row = chat.rows.at(-1);
  if (!row) throw new Error('There is no second row');
  expect(row.tokens.length + 16).toBeLessThanOrEqual(length); // room for the answer
  expect(text.decode(row.tokens)).toMatch(
    /^<\|im_start\|>system\nShop\.<\|im_end\|>\n<\|im_start\|>user\nTASK (?:red shoes ?)+.*<\|im_end\|>\n<\|im_start\|>assistant\nsearch red<\|im_end\|>\n<\|im_start\|>user\nFound.*<\|im_end\|>\n<\|im_start\|>assistant\n$/,
  );
});

test.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 12])('a demonstrated thought may say every token of its end, with room for %i tokens', (room) => {
  const thinking = codec(400, room);
  const chat = new ChatText(thinking, undefined);
  chat.observe('TASK red shoes', []);
  const said = chat.encode({ thought: 'red shoes small tiny', action: 'search red' });
  const forbidden = said.filter((token) => {
    const { mask } = chat;
    const answer = mask !== undefined && !mask.allowed.includes(token);
    chat.accept(token);
    return answer;
  });
  expect(forbidden).toEqual([]);
  expect(text.decode(said)).toContain('</think>\n\nsearch red');
});

const NAMES = [
  [['7'], ['8'], ['9']],
  [
    ['red', 'crimson'],
    ['small', 'tiny'],
    ['warm', 'cozy'],
  ],
];
const PAGE = 'A crimson lamp. Top: Red Lamp $7 7; Warm Lamp $9 8; Small Lamp $8 9';
const shownUnder = (seed: number): string => {
  const chat = new ChatText({ ...codec(400), names: NAMES }, seed);
  chat.observe(PAGE, []);
  return text.decode(chat.rows[0]?.tokens ?? []);
};

test('names and words trade places with their synonyms beside them; prices stay, and so do words of no group', () => {
  const pages = Array.from({ length: 30 }, (_, seed) => shownUnder(seed));
  const synonyms = new Map([
    ['crimson', 'Red'],
    ['tiny', 'Small'],
    ['cozy', 'Warm'],
  ]);
  for (const page of pages) {
    const [, asked, first, second, third] =
      /A (\w+) lamp\. Top: (\w+) Lamp \$7 [789]; (\w+) Lamp \$9 [789]; (\w+) Lamp \$8 [789]/.exec(page) ?? [];
    expect(first).toBe(synonyms.get(asked ?? ''));
    expect([first, second, third].toSorted()).toEqual(['Red', 'Small', 'Warm']);
  }
  expect(new Set(pages).size).toBeGreaterThan(15); // of 36
  expect(new Set(pages.map((page) => /A (\w+) lamp/.exec(page)?.[1])).size).toBe(3);
});

test('prices trade places as the task allows, their numbers as ids do not, and an answer is read as what it means', () => {
  const task: Task = { id: 'one', instruction: 'Lamp', category: 'home', tier: 'plain', level: 0, split: 'train', target: '' };
  const namesIn = ({ id }: Task): ChatCodec['names'] =>
    id === 'one'
      ? [
          [['$7'], ['$9']],
          [['$120'], ['$199']],
        ]
      : [];
  const shown = Array.from({ length: 20 }, (_, seed) => {
    const chat = new ChatText({ ...codec(400), namesIn }, seed, task);
    chat.observe('Lamp $7 120; Lamp $9 7; Lamp $199 9; at most $20.', []);
    const tokens = chat.encode({ thought: '', action: 'search $7 7' });
    expect(tokens.map((token) => chat.accept(token)).at(-1)?.action).toBe('search $7 7');
    return /Lamp.*\$20\./.exec(text.decode(chat.rows[0]?.tokens ?? []))?.[0];
  });
  expect(new Set(shown)).toEqual(
    new Set([7, 9].flatMap((low) => [199, 120].map((high) => `Lamp $${low} 120; Lamp $${16 - low} 7; Lamp $${high} 9; at most $20.`))),
  );
});

test('an answer under other words is read as what it means', () => {
  const played = Array.from({ length: 20 }, (_, seed) => {
    const chat = new ChatText({ ...codec(400), names: NAMES }, seed);
    chat.observe(PAGE, []);
    const tokens = chat.encode({ thought: '', action: 'search red lamp 7' });
    return { said: text.decode(tokens.slice(0, -1)), meant: tokens.map((token) => chat.accept(token)).at(-1)?.action };
  });
  for (const { meant } of played) expect(meant).toBe('search red lamp 7');
  expect(new Set(played.map(({ said }) => said)).size).toBeGreaterThan(5);
});

test('a grammar that offers all names stays as it is, one that offers some offers those they have become', () => {
  const grammarOf = (options: readonly string[]): Grammar => [
    [
      { kind: 'literal', text: 'buy ' },
      { kind: 'choice', options },
    ],
  ];
  const says = (options: readonly string[], seed: number): boolean => {
    const chat = new ChatText({ ...codec(400), prompt: { ...codec(400).prompt, constrained: true }, names: NAMES }, seed);
    chat.observe(PAGE, grammarOf(options));
    const tokens = chat.encode({ thought: '', action: 'buy 7' });
    return tokens.every((token) => {
      if (chat.mask && !chat.mask.allowed.includes(token)) return false;
      chat.accept(token);
      return true;
    });
  };
  for (let seed = 0; seed < 12; seed++) {
    expect(says(['7', '8', '9'], seed)).toBe(true);
    expect(says(['7'], seed)).toBe(true);
    expect(says(['8', '9'], seed)).toBe(false);
  }
});

test('what is no single word cannot trade places', () => {
  expect(swappable([['red', 'crimson'], ['hard-wearing'], ['running shoes'], ['été']])).toEqual([['red', 'crimson'], ['été']]);
});
