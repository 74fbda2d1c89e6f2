// Text to tokens and back. A tokenizer is trained on the world's words: every word seen often enough is one token,
// any other word is spelled in pieces (WordPiece), so nothing is ever unknown. Names of several words may be one token
// (phrases). It is kept in the standard tokenizer.json form and run by the standard library; this file only trains it,
// caches words, joins phrases and knows our marks.

import { field } from '../../base/indexed.ts';
import { Tokenizer as StandardTokenizer } from '@huggingface/tokenizers';

/** Marks of the sequence format; their ids are their places in this list. */
export const MARKS = ['<pad>', '<unk>', '<observe>', '<act>', '<end>', '<think>', '</think>', '<earlier>'] as const;
export type Mark = (typeof MARKS)[number];
export const mark = (name: Mark): number => MARKS.indexOf(name);

export interface TokenizerOptions {
  /** A word becomes one token when it occurs at least this often; rarer ones are spelled. */
  readonly minimumCount: number;
  /** At most this many whole words, the most frequent ones. */
  readonly maximumWords: number;
  /** `whole`: 201 is one token (names, prices). `single`: every digit is one (arithmetic). */
  readonly digits: 'whole' | 'single';
  /** Words outside the corpus will be met: they can be spelled even where every word of the corpus is one token. */
  readonly spelled?: boolean;
  /** Names of several words, in lower case, that are one token each. */
  readonly phrases?: readonly string[];
}

/** The library takes plain JSON; this is the part of the standard form that we write. */
export interface TokenizerJson {
  readonly added_tokens: readonly { readonly id: number; readonly content: string; readonly special: boolean }[];
  readonly model: { readonly type: 'WordPiece'; readonly vocab: Readonly<Record<string, number>> } & Readonly<Record<string, unknown>>;
  readonly [part: string]: unknown;
}

const WORD_PATTERN = { whole: String.raw`\$?\d+(?:\.\d+)?|\p{L}+(?:'\p{L}+)?`, single: String.raw`\d|\p{L}+(?:'\p{L}+)?` };

/** Learns the vocabulary of a corpus. Deterministic: by count, then by alphabet. */
export function trainTokenizer(corpus: Iterable<string>, options: TokenizerOptions): TokenizerJson {
  const pattern = new RegExp(`${WORD_PATTERN[options.digits]}|\\S`, 'gu');
  const counts = new Map<string, number>();
  const characters = new Set<string>();
  for (const text of corpus) {
    for (const [word] of text.toLowerCase().matchAll(pattern)) {
      counts.set(word, (counts.get(word) ?? 0) + 1);
      for (const character of word) characters.add(character);
    }
  }
  // Plain ASCII is always spellable, so a person's words (a search, a goal) never fall to <unk>.
  for (let code = 33; code < 127; code++) characters.add(String.fromCharCode(code).toLowerCase());
  const words = [...counts]
    .filter(([word, count]) => count >= options.minimumCount && word.length > 1)
    .sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
    .slice(0, options.maximumWords)
    .map(([word]) => word);
  const vocab: Record<string, number> = Object.create(null);
  const add = (token: string): void => {
    if (!(token in vocab)) vocab[token] = Object.keys(vocab).length;
  };
  for (const name of MARKS) add(name);
  for (const word of words) add(word);
  for (const character of [...characters].sort()) add(character);
  if (words.length < counts.size || options.spelled) for (const character of [...characters].sort()) add(`##${character}`);
  const phrases = options.phrases ?? [];
  for (const phrase of phrases) add(phrase);
  const added = (content: string, special: boolean): TokenizerJson['added_tokens'][number] & Readonly<Record<string, unknown>> => ({
    id: field(vocab, content),
    content,
    single_word: !special,
    lstrip: false,
    rstrip: false,
    normalized: !special,
    special,
  });
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: [...MARKS.map((name) => added(name, true)), ...phrases.map((phrase) => added(phrase, false))],
    normalizer: { type: 'Lowercase' },
    pre_tokenizer: {
      type: 'Sequence',
      pretokenizers: [
        { type: 'WhitespaceSplit' },
        { type: 'Split', pattern: { Regex: `${WORD_PATTERN[options.digits]}|\\S` }, behavior: 'Isolated', invert: false },
      ],
    },
    post_processor: null,
    decoder: { type: 'WordPiece', prefix: '##', cleanup: false },
    model: { type: 'WordPiece', unk_token: '<unk>', continuing_subword_prefix: '##', max_input_chars_per_word: 100, vocab },
  };
}

/** Several words that are read as one token. */
interface Phrase {
  readonly id: number;
  readonly words: readonly number[];
}

export class Tokenizer {
  readonly json: TokenizerJson;
  readonly size: number;
  readonly #standard: StandardTokenizer;
  readonly #cache = new Map<string, readonly number[]>();
  readonly #tokens: string[] = [];
  readonly #phrases: readonly Phrase[];
  /** The phrases by the token of their last word. */
  readonly #ending = new Map<number, Phrase[]>();

  constructor(json: TokenizerJson) {
    this.json = json;
    this.#standard = new StandardTokenizer(json, {});
    for (const [token, id] of Object.entries(json.model.vocab)) this.#tokens[id] = token;
    this.size = this.#tokens.length;
    this.#phrases = json.added_tokens
      .filter(({ special }) => !special)
      .map(({ id, content }) => ({ id, words: content.split(' ').flatMap((word) => this.#piece(word)) }));
    for (const phrase of this.#phrases) {
      const last = phrase.words.at(-1) ?? phrase.id;
      this.#ending.set(last, [...(this.#ending.get(last) ?? []), phrase]);
    }
  }

  /** Every piece between spaces is looked up once and remembered. */
  encode(text: string): number[] {
    const ids: number[] = [];
    for (const piece of text.split(/\s+/u)) {
      if (piece === '') continue;
      for (const id of this.#piece(piece)) {
        ids.push(id);
        for (const { id: phrase, words } of this.#ending.get(id) ?? []) {
          if (words.every((word, index) => ids[ids.length - words.length + index] === word))
            ids.splice(-words.length, words.length, phrase);
        }
      }
    }
    return ids;
  }

  #piece(piece: string): readonly number[] {
    let cached = this.#cache.get(piece);
    if (!cached) {
      // A text that spells one of our marks (a hostile product name) must not become the mark.
      cached = this.#standard.encode(piece.replaceAll('<', '< '), { add_special_tokens: false }).ids;
      if (piece.length <= 64) this.#cache.set(piece, cached);
    }
    return cached;
  }

  /** Every token, by its id. */
  get tokens(): readonly string[] {
    return this.#tokens;
  }

  token(id: number): string {
    const token = this.#tokens[id];
    if (token === undefined) throw new RangeError(`Token id ${id} is outside the vocabulary of ${this.size}`);
    return token;
  }

  /** The id of a word that is exactly one token, or undefined. */
  word(text: string): number | undefined {
    const ids = this.encode(text);
    return ids.length === 1 ? ids[0] : undefined;
  }

  /** Words separated by single spaces, pieces joined to their word. */
  decode(ids: Iterable<number>): string {
    let text = '';
    for (const id of ids) {
      const token = this.token(id);
      if (token.startsWith('##')) text += token.slice(2);
      else text += text === '' ? token : ` ${token}`;
    }
    return text;
  }

  /** The amount that a price token stands for ($29 → 29); undefined for any other token. */
  price(id: number): number | undefined {
    const token = this.token(id);
    return /^\$\d+(\.\d+)?$/.test(token) ? Number(token.slice(1)) : undefined;
  }

  /** Whether the token starts a word made of letters or digits: the ones that may be said in free text. */
  startsWord(id: number): boolean {
    return id >= MARKS.length && /^[$]?[\p{L}\p{N}]/u.test(this.token(id));
  }

  /** How many words a token that starts one stands for: more than one only for phrases. */
  wordsIn(id: number): number {
    return this.token(id).split(' ').length;
  }

  /** The phrases whose words are all in the list. */
  phrasesOf(words: readonly string[]): string[] {
    return this.#phrases.map(({ id }) => this.token(id)).filter((phrase) => phrase.split(' ').every((word) => words.includes(word)));
  }

  continuesWord(id: number): boolean {
    return /^##[\p{L}\p{N}]/u.test(this.token(id));
  }
}
