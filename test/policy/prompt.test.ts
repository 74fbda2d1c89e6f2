import { expect, test } from 'vitest';
import { Prompt, Relabelling, nameGroup } from '../../main/policy/text/prompt.ts';
import { Tokenizer, mark, trainTokenizer } from '../../main/policy/text/tokenizer.ts';
import { Random } from '../../main/base/random.ts';

const tokenizer = new Tokenizer(
  trainTokenizer(['task user wants to buy classic blanket found top wool 1 2 3 4 5 201 198'], {
    minimumCount: 1,
    maximumWords: 500,
    digits: 'whole',
  }),
);
const settings = { contextLength: 64, thoughts: false, maxThoughtTokens: 8, matchFlag: true, compareFlag: true };
const id = (word: string): number => tokenizer.word(word) ?? -1;
const anything = { allowed: Int32Array.from({ length: tokenizer.size }, (_, index) => index) };

test('an episode is one row with the flags on what the task asks for', () => {
  const prompt = new Prompt(tokenizer, settings, 'User wants to buy classic blanket', undefined);
  prompt.observe('task user wants to buy classic blanket');
  prompt.say(id('buy'), anything);
  prompt.observe('found wool blanket 201');
  const row = prompt.rows[0];
  expect(prompt.rows).toHaveLength(1);
  expect(row?.tokens.map((token) => tokenizer.token(token)).join(' ')).toBe(
    '<observe> task user wants to buy classic blanket <act> buy <observe> found wool blanket 201 <act>',
  );
  expect(row?.flags.map((flag, index) => (flag ? tokenizer.token(row.tokens[index] ?? 0) : '')).filter(Boolean)).toEqual(['blanket']);
  expect(row?.agent).toEqual([{ position: 8, target: id('buy'), mask: anything }]);
});

test('when the context is full a new row begins with the task and the latest turns', () => {
  const prompt = new Prompt(tokenizer, settings, 'buy classic blanket', undefined);
  prompt.observe('task user wants to buy classic blanket');
  for (let turn = 0; turn < 6; turn++) {
    prompt.say(id('buy'), anything);
    prompt.observe(`found wool blanket ${['1', '2', '3', '4', '5', '201'][turn]} wool wool wool wool`);
    expect(prompt.rows.at(-1)?.tokens.at(-1)).toBe(mark('<act>'));
  }
  expect(prompt.rows.length).toBeGreaterThan(1);
  for (const row of prompt.rows) {
    expect(row.tokens.length + prompt.reserve).toBeLessThanOrEqual(settings.contextLength);
    expect(row.tokens.slice(0, 9)).toEqual(prompt.rows[0]?.tokens.slice(0, 9));
    expect(row.flags).toHaveLength(row.tokens.length);
    for (const { position, target } of row.agent) expect(row.tokens[position + 1]).toBe(target);
  }
  expect(prompt.rows.at(-1)?.tokens).toContain(id('201'));
  expect(prompt.rows.flatMap((row) => row.agent)).toHaveLength(6);
});

test('an observation longer than the context is cut, never refused', () => {
  const prompt = new Prompt(tokenizer, settings, 'buy', undefined);
  prompt.observe('task user wants to buy');
  prompt.say(id('buy'), anything);
  prompt.observe('wool '.repeat(500));
  expect(prompt.rows.at(-1)?.tokens.length).toBeLessThanOrEqual(settings.contextLength - prompt.reserve);
});

test('relabelling permutes the names, leaves every other word alone and can be undone', () => {
  const group = nameGroup(
    tokenizer,
    ['1', '2', '3', '4', '5', '198', '201'].map((name) => [name]),
  );
  const names = group.flat();
  const relabelling = new Relabelling([group], Random.from('labels', 3));
  expect(new Set(names.map((name) => relabelling.forward(name)))).toEqual(new Set(names));
  for (const name of names) expect(relabelling.backward(relabelling.forward(name))).toBe(name);
  expect(relabelling.forward(id('wool'))).toBe(id('wool'));
  expect(relabelling.mask(anything)).toBe(anything);
  const two = { allowed: Int32Array.of(id('1'), id('201')).sort() };
  expect([...relabelling.mask(two).allowed]).toEqual([relabelling.forward(id('1')), relabelling.forward(id('201'))].sort((a, b) => a - b));
});

test('a word and its synonym trade places together, and a mask that allows the whole group stays as it is', () => {
  const group = nameGroup(tokenizer, [
    ['1', '2'],
    ['3', '4'],
    ['5', '198'],
    ['nowhere', '201'],
  ]);
  expect(group).toEqual([
    [id('1'), id('2')],
    [id('3'), id('4')],
    [id('5'), id('198')],
  ]);
  const relabelling = new Relabelling([group], Random.from('labels', 4));
  const images = group.map((pair) => pair.map((token) => relabelling.forward(token)));
  expect(images).not.toEqual(group);
  expect(images.toSorted(([a = 0], [b = 0]) => a - b)).toEqual(group.toSorted(([a = 0], [b = 0]) => a - b));
  const whole = { allowed: Int32Array.from([...group.flat(), id('wool')]).sort() };
  expect(relabelling.mask(whole)).toBe(whole);
});

test('prices say whether they lie above or below the price in the task, and nothing when the task names none', () => {
  const shop = new Tokenizer(
    trainTokenizer(['task buy blanket under over $50 $24 $75 201'], { minimumCount: 1, maximumWords: 500, digits: 'whole' }),
  );
  const flagsOf = (task: string, compareFlag: boolean): number[] => {
    const prompt = new Prompt(shop, { ...settings, compareFlag }, task, undefined);
    prompt.observe(`task ${task}`);
    prompt.say(shop.word('buy') ?? 0, anything);
    prompt.observe('blanket $24 201 blanket $75 201');
    return prompt.rows[0]?.flags.slice(-7) ?? [];
  };
  expect(flagsOf('buy blanket under $50', true)).toEqual([1, -1, 0, 1, 1, 0, 0]);
  expect(flagsOf('buy blanket over $50', true)).toEqual([1, -1, 0, 1, 1, 0, 0]);
  expect(flagsOf('buy blanket', true)).toEqual([1, 0, 0, 1, 0, 0, 0]);
  expect(flagsOf('buy blanket under $50', false)).toEqual([1, 0, 0, 1, 0, 0, 0]);
});
