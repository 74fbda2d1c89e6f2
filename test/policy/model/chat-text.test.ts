// An episode as a chat whose context is full: what is dropped, and what never is.

import { expect, test } from 'vitest';
import { ActionAutomaton } from '../../../main/policy/model/automaton.ts';
import { type ChatCodec, ChatText, chatTemplate } from '../../../main/policy/model/chat-text.ts';
import { ModelText } from '../../../main/policy/model/text.ts';
import { TOKENIZERS } from './tokenizers.ts';

const { size, tokenizer, settings } = TOKENIZERS.words();
const text = new ModelText({ tokenizer: { tokenizer, settings }, path: 'words' });
const end = text.id('<|im_end|>') ?? -1;

function codec(contextLength: number): ChatCodec {
  const prompt = { system: 'Shop.', contextLength, thoughts: false, maxThoughtTokens: 8, maxAnswerTokens: 16, constrained: false };
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
