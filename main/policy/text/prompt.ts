// An episode as token sequences: `<observe> text <act> action <observe> text <act> action …`. Usually one row holds the
// whole episode, so its key/value cache is kept across turns and one forward pass trains all of it. When the context is
// full a new row begins with the task, the mark <earlier> and as many of the latest turns as fit.
//
// Three aids to reading live here, each a switch: names (product ids) are relabelled by a random permutation per training
// episode, so that an id means only what the page says; context words that also occur in the task carry a flag; and prices
// carry a flag that says whether they lie above (1) or below (−1) the price in the task.

import { at } from '../../base/indexed.ts';
import type { Random } from '../../base/random.ts';
import type { TokenMask } from './grammar-mask.ts';
import { type Tokenizer, mark } from './tokenizer.ts';

/** One agent token: which hidden state predicts it, what it was, and what it was chosen from. */
export interface AgentToken {
  readonly position: number;
  readonly target: number;
  readonly mask: TokenMask;
}

/** One sequence ready for scoring and training. */
export interface EncodedRow {
  readonly tokens: number[];
  readonly flags: number[];
  readonly agent: AgentToken[];
}

export interface PromptSettings {
  readonly contextLength: number;
  readonly thoughts: boolean;
  readonly maxThoughtTokens: number;
  readonly matchFlag: boolean;
  readonly compareFlag: boolean;
}

/** Room that is always kept for the agent's next words. */
export const ACTION_RESERVE = 16;

export class Prompt {
  readonly rows: EncodedRow[] = [];
  readonly #tokenizer: Tokenizer;
  readonly #settings: PromptSettings;
  readonly #relabelling: Relabelling | undefined;
  readonly #wanted: ReadonlySet<number>;
  /** The price that the task names. */
  readonly #limit: number | undefined;
  /** Tokens of the task and of each later turn, as they stand in the rows: for starting a new row. */
  #opening: { tokens: number[]; flags: number[] } | undefined;
  #turns: { tokens: number[]; flags: number[] }[] = [];

  constructor(tokenizer: Tokenizer, settings: PromptSettings, instruction: string, relabelling: Relabelling | undefined) {
    this.#tokenizer = tokenizer;
    this.#settings = settings;
    this.#relabelling = relabelling;
    const words = tokenizer.encode(instruction).filter((id) => tokenizer.startsWord(id));
    this.#wanted = new Set(words);
    this.#limit = words.map((id) => tokenizer.price(id)).find((price) => price !== undefined);
  }

  get reserve(): number {
    return ACTION_RESERVE + (this.#settings.thoughts ? this.#settings.maxThoughtTokens + 1 : 0);
  }

  /** Adds what the world shows, to the row at hand or, when it is full, to a new one. */
  observe(text: string): void {
    const budget = this.#settings.contextLength - this.reserve - 2;
    const opening = this.#opening;
    const limit = opening ? Math.max(8, budget - opening.tokens.length - 1) : budget;
    const words = this.#tokenizer.encode(text).slice(0, limit);
    const tokens = [
      mark('<observe>'),
      ...words.map((id) => this.#relabelling?.forward(id) ?? id),
      mark(this.#settings.thoughts ? '<think>' : '<act>'),
    ];
    const flags = [0, ...words.map((id) => (opening ? this.#flag(id) : 0)), 0];
    const turn = { tokens, flags };
    const row = this.rows.at(-1);
    if (!opening || !row) {
      this.#opening = turn;
      this.rows.push({ tokens: [...tokens], flags: [...flags], agent: [] });
      return;
    }
    this.#turns.push({ tokens: [...tokens], flags: [...flags] });
    if (row.tokens.length + tokens.length + this.reserve <= this.#settings.contextLength) {
      row.tokens.push(...tokens);
      row.flags.push(...flags);
      return;
    }
    this.rows.push(this.#reopen(opening));
  }

  #flag(token: number): number {
    const price = this.#settings.compareFlag && this.#limit !== undefined ? this.#tokenizer.price(token) : undefined;
    if (price !== undefined) return Math.sign(price - (this.#limit ?? price));
    return this.#settings.matchFlag && this.#wanted.has(token) ? 1 : 0;
  }

  /** Adds a token that the agent said (as the policy said it, names relabelled) with the mask it was drawn under. */
  say(target: number, mask: TokenMask): void {
    const row = this.rows.at(-1);
    if (!row) throw new Error('Prompt.say was called before the first observation');
    row.agent.push({ position: row.tokens.length - 1, target, mask: this.#relabelling?.mask(mask) ?? mask });
    row.tokens.push(target);
    row.flags.push(0);
    (this.#turns.at(-1) ?? this.#opening)?.tokens.push(target);
    (this.#turns.at(-1) ?? this.#opening)?.flags.push(0);
  }

  /** From the vocabulary's ids to the ids this episode uses, and back. */
  relabel(token: number): number {
    return this.#relabelling?.forward(token) ?? token;
  }

  original(token: number): number {
    return this.#relabelling?.backward(token) ?? token;
  }

  mask(mask: TokenMask): TokenMask {
    return this.#relabelling?.mask(mask) ?? mask;
  }

  #reopen(opening: { tokens: number[]; flags: number[] }): EncodedRow {
    const tokens = [...opening.tokens, mark('<earlier>')];
    const flags = [...opening.flags, 0];
    const room = this.#settings.contextLength - this.reserve - tokens.length;
    let from = this.#turns.length;
    let used = 0;
    while (from > 0) {
      const size = at(this.#turns, from - 1).tokens.length;
      // The latest turn always comes along; earlier ones only fill half of the room, so that the row lasts for a few turns.
      if (from < this.#turns.length && used + size > room / 2) break;
      used += size;
      from -= 1;
    }
    this.#turns = this.#turns.slice(from);
    for (const turn of this.#turns) {
      tokens.push(...turn.tokens);
      flags.push(...turn.flags);
    }
    return { tokens, flags, agent: [] };
  }
}

/** Groups of names that trade places within their group; a name is one token, or several that belong together (a word and its synonyms). */
export type NameGroups = readonly (readonly (readonly number[])[])[];

/** What a mask allows, by token: 1 where it does. */
const members = new WeakMap<TokenMask, Uint8Array>();

function membersOf(mask: TokenMask): Uint8Array {
  let table = members.get(mask);
  if (!table) {
    table = new Uint8Array(mask.allowed.reduce((most, token) => Math.max(most, token), -1) + 1);
    for (const token of mask.allowed) table[token] = 1;
    members.set(mask, table);
  }
  return table;
}

/** Every token up to the last one that has a place in the groups, each under its name. */
const unchanged = new WeakMap<NameGroups, Int32Array>();

function unchangedTokens(groups: NameGroups): Int32Array {
  let tokens = unchanged.get(groups);
  if (!tokens) {
    const last = groups.flat(2).reduce((most, token) => Math.max(most, token), -1);
    unchanged.set(groups, (tokens = Int32Array.from({ length: last + 1 }, (_, token) => token)));
  }
  return tokens;
}

/** A permutation of the world's interchangeable names, over token ids. One is made for every episode, so it is two tables. */
export class Relabelling {
  readonly #forward: Int32Array;
  readonly #backward: Int32Array;
  readonly #masks = new Map<TokenMask, TokenMask>();

  constructor(groups: NameGroups, random: Random) {
    this.#forward = unchangedTokens(groups).slice();
    this.#backward = this.#forward.slice();
    for (const names of groups) {
      const shuffled = random.shuffle(names);
      for (let index = 0; index < names.length; index++) {
        const name = at(names, index);
        const other = at(shuffled, index);
        for (let place = 0; place < name.length; place++) {
          const token = at(name, place);
          this.#forward[token] = other[place] ?? token;
          this.#backward[other[place] ?? token] = token;
        }
      }
    }
  }

  forward(token: number): number {
    return this.#forward[token] ?? token;
  }

  backward(token: number): number {
    return this.#backward[token] ?? token;
  }

  /** The same mask where it allows the same under the new names (all of a group, or none); else the relabelled one, made once. */
  mask(mask: TokenMask): TokenMask {
    let cached = this.#masks.get(mask);
    if (!cached) {
      const allowed = membersOf(mask);
      const same = mask.allowed.every((token) => allowed[this.forward(token)] === 1);
      cached = same ? mask : { allowed: mask.allowed.map((token) => this.forward(token)).sort() };
      this.#masks.set(mask, cached);
    }
    return cached;
  }
}

/** Rows as they would read under other names: an episode is encoded once and seen under new names every time. */
export function relabelled(rows: readonly EncodedRow[], relabelling: Relabelling): EncodedRow[] {
  return rows.map(({ tokens, flags, agent }) => ({
    tokens: tokens.map((token) => relabelling.forward(token)),
    flags,
    agent: agent.map(({ position, target, mask }) => ({ position, target: relabelling.forward(target), mask: relabelling.mask(mask) })),
  }));
}

/** A world's interchangeable names as token ids; a name with a word that is not one token can't be relabelled and is left out. */
export function nameGroup(tokenizer: Tokenizer, names: readonly (readonly string[])[]): number[][] {
  return names
    .map((words) => words.flatMap((word) => tokenizer.word(word) ?? []))
    .filter((ids, index) => ids.length === names[index]?.length);
}
