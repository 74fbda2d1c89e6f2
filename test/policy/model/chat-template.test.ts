// The pieces of a chat template around what is said, with and without the empty thought that some templates write for models that may think.

import { expect, test } from 'vitest';
import { chatTemplate } from '../../../main/policy/model/chat-text.ts';
import { ModelText } from '../../../main/policy/model/text.ts';
import { TOKENIZERS } from './tokenizers.ts';

const { tokenizer, settings } = TOKENIZERS.words();
const thinking = `${settings.chat_template}{% if add_generation_prompt and enable_thinking is defined and not enable_thinking %}{{ '<think>\\n\\n</think>\\n\\n' }}{% endif %}`;
const text = new ModelText({ tokenizer: { tokenizer, settings: { ...settings, chat_template: thinking } }, path: 'words' });
const end = text.id('<|im_end|>') ?? -1;

test.each([
  [{ thoughts: false }, '<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n'],
  [{ thoughts: false, emptyThought: false as const }, '<|im_end|>\n<|im_start|>assistant\n'],
  [{ thoughts: true }, '<|im_end|>\n<|im_start|>assistant\n<think>\n'],
])('%o', (how, answering) => {
  const template = chatTemplate(text, { system: 'Shop.', ...how }, [end]);
  expect(text.decode(template.opening)).toBe('<|im_start|>system\nShop.<|im_end|>\n<|im_start|>user\n');
  expect(text.decode(template.answering)).toBe(answering);
  expect(text.decode(template.turning)).toBe('\n<|im_start|>user\n');
});
