// What the world allows to be said, as masks over the vocabulary. A grammar is compiled once into a small automaton over
// tokens; a cursor walks it while an action is written, so no malformed action can be generated and every allowed one can.
// Departures from writing the text letter by letter: an alternative's literal is one token (its first: `search`, `click`,
// `buy`), because the rest is implied, and a choice that cannot continue ends without an end mark.

import type { Grammar, GrammarPart } from '../../environment/environment.ts';
import { type Tokenizer, mark } from './tokenizer.ts';

/** The tokens that may come next, ascending. Compare by identity: equal masks of one automaton are the same object. */
export interface TokenMask {
  readonly allowed: Int32Array;
}

/** A place in an action being written. `action` is set when it is complete, and then nothing may follow. */
export interface Cursor {
  readonly mask: TokenMask;
  readonly action: string | undefined;
  next(token: number): Cursor;
}

interface TrieNode {
  readonly children: Map<number, TrieNode>;
  /** The text that ends here. */
  text: string | undefined;
}

/** Anything may be said. Batches know this one mask by its identity. */
export const EVERYTHING: TokenMask = { allowed: new Int32Array(0) };
const NOTHING: TokenMask = { allowed: new Int32Array(0) };
const END = mark('<end>');

export const tokenMask = (tokens: Iterable<number>): TokenMask => ({ allowed: Int32Array.from(new Set(tokens)).sort() });

export class GrammarMasks {
  readonly #tokenizer: Tokenizer;
  readonly #compiled = new WeakMap<Grammar, Cursor>();
  /** Words in the longest phrase that is one token. */
  readonly #longest: number;
  readonly #open: { start: TokenMask; inside: TokenMask };
  readonly #thoughts: { open: TokenMask; close: TokenMask };

  constructor(tokenizer: Tokenizer) {
    this.#tokenizer = tokenizer;
    let longest = 1;
    const starts: number[] = [];
    const pieces: number[] = [];
    for (let id = 0; id < tokenizer.size; id++) {
      longest = Math.max(longest, tokenizer.wordsIn(id));
      if (tokenizer.startsWord(id)) starts.push(id);
      else if (tokenizer.continuesWord(id)) pieces.push(id);
    }
    this.#longest = longest;
    this.#open = { start: tokenMask(starts), inside: tokenMask([...starts, ...pieces, END]) };
    const close = mark('</think>');
    const spoken: number[] = [close];
    for (let id = mark('<earlier>') + 1; id < tokenizer.size; id++) spoken.push(id);
    this.#thoughts = { open: tokenMask(spoken), close: tokenMask([close]) };
  }

  /** Masks while a thought is written: anything, then only the closing mark. */
  thought(tokensLeft: number): TokenMask {
    return tokensLeft > 0 ? this.#thoughts.open : this.#thoughts.close;
  }

  /** The cursor at the beginning of an action. */
  start(grammar: Grammar): Cursor {
    let cursor = this.#compiled.get(grammar);
    if (!cursor) {
      cursor = this.#alternatives(grammar);
      this.#compiled.set(grammar, cursor);
    }
    return cursor;
  }

  /** The tokens of a given action and the mask before each, e.g. of a demonstration. */
  encode(grammar: Grammar, action: string): { tokens: number[]; masks: TokenMask[] } {
    let problem = '';
    for (const alternative of grammar) {
      const tokens = this.#tokensOf(alternative, action);
      if (!tokens) continue;
      const masks: TokenMask[] = [];
      let cursor = this.start(grammar);
      let complete = true;
      for (const token of tokens) {
        if (!cursor.mask.allowed.includes(token)) {
          problem = ` (the token '${this.#tokenizer.token(token)}' is not allowed there)`;
          complete = false;
          break;
        }
        masks.push(cursor.mask);
        cursor = cursor.next(token);
      }
      if (complete && cursor.action !== undefined) return { tokens, masks };
    }
    throw new Error(`The action '${action.slice(0, 80)}' is not one that the grammar allows here${problem}`);
  }

  #tokensOf(parts: readonly GrammarPart[], action: string): number[] | undefined {
    const [head, argument, tail] = split(parts);
    if (!action.startsWith(head) || !action.endsWith(tail)) return undefined;
    const text = action.slice(head.length, action.length - tail.length);
    const first = head === '' ? [] : [this.#verb(head)];
    if (argument === undefined) return text === '' ? first : undefined;
    if (argument.kind === 'choice') {
      if (!argument.options.includes(text)) return undefined;
      const tokens = this.#tokenizer.encode(text);
      const longer = argument.options.some((other) => other !== text && startsWith(this.#tokenizer.encode(other), tokens));
      return [...first, ...tokens, ...(longer ? [END] : [])];
    }
    const tokens =
      argument.kind === 'characters' ? [...text].flatMap((character) => this.#tokenizer.encode(character)) : this.#tokenizer.encode(text);
    return [...first, ...tokens, END];
  }

  #verb(literal: string): number {
    const token = this.#tokenizer.encode(literal)[0];
    if (token === undefined) throw new Error(`The grammar's literal '${literal}' has no token: add it to the world's corpus`);
    return token;
  }

  #alternatives(grammar: Grammar): Cursor {
    const branches = new Map<number, Cursor>();
    for (const parts of grammar) {
      const [head, argument, tail] = split(parts);
      if (head === '') {
        if (grammar.length > 1) throw new Error('A grammar with several alternatives needs a literal at the start of each');
        if (!argument) throw new Error('A grammar alternative is empty');
        return this.#argument(argument, '', tail);
      }
      const verb = this.#verb(head);
      if (branches.has(verb)) throw new Error(`Two alternatives of the grammar begin with the token '${this.#tokenizer.token(verb)}'`);
      branches.set(verb, argument ? this.#argument(argument, head, tail) : finished(head + tail));
    }
    return branching(branches);
  }

  #argument(part: Exclude<GrammarPart, { kind: 'literal' }>, head: string, tail: string): Cursor {
    if (part.kind === 'choice') return this.#choice(this.#trie(part.options), head, tail);
    if (part.kind === 'characters') return this.#characters(part.from, part.max, head, tail);
    const list = part.from ?? part.useful;
    if (!list) return this.#openWords(part.max, head, tail);
    return this.#listedWords(this.#trie([...list, ...this.#tokenizer.phrasesOf(list)]), part.max, head, tail);
  }

  #trie(texts: readonly string[]): TrieNode {
    const root: TrieNode = { children: new Map(), text: undefined };
    for (const text of texts) {
      let node = root;
      for (const token of this.#tokenizer.encode(text)) {
        let child = node.children.get(token);
        if (!child) node.children.set(token, (child = { children: new Map(), text: undefined }));
        node = child;
      }
      if (node !== root) node.text ??= text;
    }
    return root;
  }

  #choice(node: TrieNode, head: string, tail: string): Cursor {
    if (node.children.size === 0) return finished(head + (node.text ?? '') + tail);
    const mask = tokenMask(node.text === undefined ? node.children.keys() : [...node.children.keys(), END]);
    const cursors = new Map<number, Cursor>();
    return {
      mask,
      action: undefined,
      next: (token) => {
        let cursor = cursors.get(token);
        if (!cursor) {
          const child = node.children.get(token);
          if (child) cursor = this.#choice(child, head, tail);
          else if (token === END && node.text !== undefined) cursor = finished(head + node.text + tail);
          else throw refused(this.#tokenizer, token);
          cursors.set(token, cursor);
        }
        return cursor;
      },
    };
  }

  /** One to `max` words, each a path through the trie. */
  #listedWords(root: TrieNode, max: number, head: string, tail: string): Cursor {
    const masks = new Map<string, TokenMask>();
    const at = (node: TrieNode, words: readonly string[]): Cursor => {
      const complete = node.text !== undefined;
      const said = complete ? [...words, node.text ?? ''] : words;
      const room = max - said.reduce((sum, text) => sum + text.split(' ').length, 0);
      const fits = (token: number): boolean => this.#tokenizer.wordsIn(token) <= room;
      const key = `${[...node.children.keys()].join()}|${complete}|${Math.min(room, this.#longest)}`;
      let mask = masks.get(key);
      if (!mask) {
        const next = complete || node === root ? [...root.children.keys()].filter(fits) : [];
        mask = tokenMask([...next, ...(node === root ? [] : node.children.keys()), ...(complete ? [END] : [])]);
        masks.set(key, mask);
      }
      return {
        mask,
        action: undefined,
        next: (token) => {
          if (token === END && complete) return finished(head + said.join(' ') + tail);
          const child = node === root && !fits(token) ? undefined : node.children.get(token);
          if (child) return at(child, words);
          const another = complete && fits(token) ? root.children.get(token) : undefined;
          if (another) return at(another, said);
          throw refused(this.#tokenizer, token);
        },
      };
    };
    return at(root, []);
  }

  /** Any words the tokenizer can spell. */
  #openWords(max: number, head: string, tail: string): Cursor {
    const masks = new Map<number, TokenMask>();
    /** The mask inside, without the words that no longer fit. */
    const inside = (room: number): TokenMask => {
      if (room >= this.#longest) return this.#open.inside;
      const fitting = (id: number): boolean => !this.#tokenizer.startsWord(id) || this.#tokenizer.wordsIn(id) <= room;
      const mask = masks.get(room) ?? tokenMask(this.#open.inside.allowed.filter(fitting));
      masks.set(room, mask);
      return mask;
    };
    const at = (tokens: readonly number[], words: number): Cursor => ({
      mask: words === 0 ? this.#open.start : inside(max - words),
      action: undefined,
      next: (token) => {
        if (token === END && words > 0) return finished(head + this.#tokenizer.decode(tokens) + tail);
        const more = this.#tokenizer.startsWord(token) ? this.#tokenizer.wordsIn(token) : 0;
        if (more > 0 && words + more <= max) return at([...tokens, token], words + more);
        if (this.#tokenizer.continuesWord(token) && words > 0) return at([...tokens, token], words);
        throw refused(this.#tokenizer, token);
      },
    });
    return at([], 0);
  }

  #characters(from: string, max: number, head: string, tail: string): Cursor {
    const byToken = new Map<number, string>();
    for (const character of from) {
      const token = this.#tokenizer.word(character);
      if (token !== undefined) byToken.set(token, character);
    }
    const first = tokenMask(byToken.keys());
    const middle = tokenMask([...byToken.keys(), END]);
    const last = tokenMask([END]);
    const at = (text: string): Cursor => ({
      mask: text === '' ? first : text.length < max ? middle : last,
      action: undefined,
      next: (token) => {
        if (token === END && text !== '') return finished(head + text + tail);
        const character = byToken.get(token);
        if (character === undefined || text.length >= max) throw refused(this.#tokenizer, token);
        return at(text + character);
      },
    });
    return at('');
  }
}

/** Literal before, the one variable part, literal after. */
function split(parts: readonly GrammarPart[]): [string, Exclude<GrammarPart, { kind: 'literal' }> | undefined, string] {
  let head = '';
  let tail = '';
  let argument: Exclude<GrammarPart, { kind: 'literal' }> | undefined;
  for (const part of parts) {
    if (part.kind !== 'literal') {
      if (argument) throw new Error('A grammar alternative may have one variable part; this one has two');
      argument = part;
    } else if (argument) tail += part.text;
    else head += part.text;
  }
  return [head, argument, tail];
}

function branching(branches: ReadonlyMap<number, Cursor>): Cursor {
  return {
    mask: tokenMask(branches.keys()),
    action: undefined,
    next: (token) => {
      const cursor = branches.get(token);
      if (!cursor) throw new RangeError(`Token ${token} begins no alternative of the grammar`);
      return cursor;
    },
  };
}

const finished = (action: string): Cursor => ({
  mask: NOTHING,
  action,
  next: () => {
    throw new Error(`The action '${action}' is complete; nothing may follow`);
  },
});

const refused = (tokenizer: Tokenizer, token: number): RangeError =>
  new RangeError(`The token '${tokenizer.token(token)}' is not allowed here`);

const startsWith = (long: readonly number[], short: readonly number[]): boolean =>
  long.length > short.length && short.every((token, index) => long[index] === token);
