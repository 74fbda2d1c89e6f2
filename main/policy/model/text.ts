// The text side of a language model: its tokenizer and its chat template. Special tokens are written by the template alone: text that comes
// from a world or a user is encoded as plain text, so that no page can forge the end of a turn. Loading is slow for large vocabularies
// (3 s for 150,000 tokens), so an opened model keeps it.

import { Template } from '@huggingface/jinja';
import { Tokenizer } from '@huggingface/tokenizers';
import { z } from 'zod';
import type { ModelSource } from './files/source.ts';
import { ModelError } from './files/tensor-source.ts';

export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

const tokenText = z.union([z.string(), z.looseObject({ content: z.string() }).transform(({ content }) => content)]).nullish();
const settingsSchema = z.looseObject({
  bos_token: tokenText,
  eos_token: tokenText,
  add_bos_token: z.boolean().nullish(),
  chat_template: z.union([z.string(), z.array(z.looseObject({ name: z.string(), template: z.string() }))]).nullish(),
});
const addedSchema = z.looseObject({
  added_tokens: z.array(z.looseObject({ id: z.int(), content: z.string(), special: z.boolean().optional() })).optional(),
});

/** ChatML, for models that come without a template. */
const PLAIN_TEMPLATE =
  "{% for m in messages %}{{ '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

export class ModelText {
  /** Ids beyond those of the tokenizer exist in padded vocabularies and have no text. */
  readonly size: number;
  readonly #tokenizer: Tokenizer;
  readonly #template: Template;
  readonly #variables: Readonly<Record<string, unknown>>;
  /** Special tokens, longest first. */
  readonly #special: readonly { readonly id: number; readonly content: string }[];
  readonly #bytes: (Uint8Array | undefined)[] = [];

  constructor(source: Pick<ModelSource, 'tokenizer' | 'path'>) {
    if (!source.tokenizer)
      throw new ModelError(
        `${source.path} has no tokenizer that can be used (a byte-level BPE as tokenizer.json); it takes token ids only`,
      );
    const settings = settingsSchema.parse(source.tokenizer.settings ?? {});
    const json = z.looseObject({}).parse(source.tokenizer.tokenizer);
    this.#tokenizer = new Tokenizer(json, settings);
    const added = addedSchema.parse(json).added_tokens ?? [];
    this.#special = added.filter(({ special }) => special).toSorted((a, b) => b.content.length - a.content.length);
    let last = -1; // a spread over 150,000 values overflows the stack
    for (const id of this.#tokenizer.get_vocab(true).values()) last = Math.max(last, id);
    this.size = last + 1;
    const given = settings.chat_template;
    const text = typeof given === 'string' ? given : given?.find(({ name }) => name === 'default')?.template;
    this.#template = new Template(text ?? PLAIN_TEMPLATE);
    this.#variables = { bos_token: settings.bos_token ?? '', eos_token: settings.eos_token ?? '' };
  }

  /** Plain text; what looks like a special token in it is encoded as the characters it consists of. */
  encode(text: string): number[] {
    return this.#split(text, []).flatMap((part) => (typeof part === 'number' ? [part] : this.#plain(part)));
  }

  /** A text made by the template, in which special tokens are what they say. */
  encodeTemplate(text: string): number[] {
    return this.#split(text, this.#special).flatMap((part) => (typeof part === 'number' ? [part] : this.#plain(part)));
  }

  /** The chat as text. `thinking` is passed on to templates that know it. */
  render(messages: readonly ChatMessage[], generation: boolean, thinking?: boolean): string {
    const options = thinking === undefined ? {} : { enable_thinking: thinking };
    return this.#template.render({ ...this.#variables, messages: [...messages], add_generation_prompt: generation, ...options });
  }

  decode(tokens: readonly number[]): string {
    const parts = tokens.map((token) => this.bytes(token) ?? new Uint8Array());
    return new TextDecoder().decode(Buffer.concat(parts));
  }

  /** How a token reads, for people. */
  token(id: number): string {
    return this.#tokenizer.id_to_token(id) === undefined ? `#${id}` : this.decode([id]);
  }

  /** The id of a token by its text in the vocabulary, e.g. of a special one. */
  id(token: string): number | undefined {
    return this.#tokenizer.token_to_id(token);
  }

  isSpecial(id: number): boolean {
    return this.#special.some((token) => token.id === id);
  }

  /** The bytes that a token stands for; undefined for ids without a text. */
  bytes(id: number): Uint8Array | undefined {
    if (!(id in this.#bytes)) {
      const text = this.#tokenizer.id_to_token(id);
      const special = this.#special.find((token) => token.id === id);
      this.#bytes[id] = special ? Buffer.from(special.content) : text === undefined ? undefined : tokenBytes(text);
    }
    return this.#bytes[id];
  }

  /** The library takes special tokens wherever it sees them, so it is only ever given text that contains none. */
  #plain(text: string): number[] {
    if (text === '') return [];
    const forged = this.#special.find(({ content }) => text.includes(content));
    if (!forged) return this.#tokenizer.encode(text, { add_special_tokens: false }).ids;
    const at = text.indexOf(forged.content) + 1;
    return [...this.#plain(text.slice(0, at)), ...this.#plain(text.slice(at))];
  }

  #split(text: string, special: readonly { readonly id: number; readonly content: string }[]): (string | number)[] {
    let parts: (string | number)[] = [text];
    for (const { id, content } of special) {
      parts = parts.flatMap((part) => {
        if (typeof part === 'number' || !part.includes(content)) return [part];
        return part.split(content).flatMap((piece, i) => (i === 0 ? [piece] : [id, piece]));
      });
    }
    return parts;
  }
}

let byteOfCharacter: Map<string, number> | undefined;

/** A byte-level BPE writes every byte as a printable character; this brings the bytes back. */
function tokenBytes(token: string): Uint8Array {
  byteOfCharacter ??= byteTable();
  const table = byteOfCharacter;
  const bytes = Array.from(token, (character) => table.get(character));
  return bytes.includes(undefined) ? Buffer.from(token) : Uint8Array.from(bytes, (byte) => byte ?? 0);
}

function byteTable(): Map<string, number> {
  const table = new Map<string, number>();
  let next = 256;
  for (let byte = 0; byte < 256; byte++) {
    const printable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
    table.set(String.fromCodePoint(printable ? byte : next++), byte);
  }
  return table;
}
