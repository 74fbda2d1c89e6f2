// What the world allows to be said, over the vocabulary of a language model. The grammar becomes an automaton over bytes; a token is allowed
// where all its bytes can be followed. So an action may be split into tokens in any way the vocabulary has, and nothing but an action can be
// said. An answer ends with one of the model's end tokens. States are made when they are first reached, masks when first asked for.

import type { Grammar, GrammarPart } from '../../environment/environment.ts';
import { tidy } from '../../environment/grammar.ts';
import type { Cursor, TokenMask } from '../text/grammar-mask.ts';

/** What the automaton needs of a vocabulary: the bytes of each token; undefined for those that are never text. */
export interface Vocabulary {
  readonly size: number;
  bytes(id: number): Uint8Array | undefined;
}

/** A place inside one part of an alternative. `key` names it within the part. */
interface Place {
  readonly key: string;
  step(byte: number): Place | undefined;
  readonly canEnd: boolean;
}

interface Part {
  readonly begin: Place;
  /** Names the part across grammars, where its masks are worth sharing. */
  readonly key: string | undefined;
  /** Whether the keys of its places mean the same in every grammar. */
  readonly open?: boolean;
}

/** A place in one alternative: its part, and the place in it. */
interface Thread {
  readonly parts: readonly Part[];
  readonly at: number;
  readonly place: Place;
}

interface State {
  readonly threads: readonly Thread[];
  readonly complete: boolean;
  readonly next: Map<number, State | undefined>;
  mask: TokenMask | undefined;
}

const SPACE = 0x20;

export class ActionAutomaton {
  readonly #vocabulary: Vocabulary;
  readonly #ends: readonly number[];
  /** Tokens in the order of their bytes. */
  readonly #sorted: readonly { readonly id: number; readonly bytes: Uint8Array }[];
  readonly #starts = new WeakMap<Grammar, State>();
  readonly #shared = new Map<string, TokenMask>();
  readonly #openStates = new Map<string, State>();
  readonly #interned = new Map<string, TokenMask[]>();
  #made = 0;

  constructor(vocabulary: Vocabulary, ends: readonly number[]) {
    if (ends.length === 0) throw new Error('The model names no token that ends an answer, so no answer could end');
    this.#vocabulary = vocabulary;
    this.#ends = ends;
    const tokens: { id: number; bytes: Uint8Array }[] = [];
    for (let id = 0; id < vocabulary.size; id++) {
      const bytes = vocabulary.bytes(id);
      if (bytes && bytes.length > 0 && !ends.includes(id)) tokens.push({ id, bytes });
    }
    this.#sorted = tokens.sort((a, b) => Buffer.compare(a.bytes, b.bytes));
  }

  /** States made so far, those of forgotten grammars included. */
  get made(): number {
    return this.#made;
  }

  /** The cursor at the beginning of an answer. */
  start(grammar: Grammar): Cursor {
    let state = this.#starts.get(grammar);
    if (!state) {
      const threads = grammar.map((parts): Thread => {
        const compiled = [WHITE_SPACE, ...parts.map(compile)];
        return { parts: compiled, at: 0, place: WHITE_SPACE.begin };
      });
      state = stateOf(threads);
      this.#starts.set(grammar, state);
    }
    return this.#cursor(state, []);
  }

  #cursor(state: State, said: readonly number[]): Cursor {
    return new AnswerCursor(
      () => this.#mask(state),
      (token) => this.#next(state, said, token),
    );
  }

  #next(state: State, said: readonly number[], token: number): Cursor {
    const ends = this.#ends.includes(token);
    if (ends && state.complete) return finished(Buffer.from(said).toString('utf8').trim());
    const bytes = this.#vocabulary.bytes(token);
    let place: State | undefined = ends ? undefined : state;
    for (const byte of bytes ?? []) place = place && this.#follow(place, byte);
    if (!place || !bytes) throw new RangeError(`Token ${token} is not allowed here`);
    return this.#cursor(place, [...said, ...bytes]);
  }

  #mask(state: State): TokenMask {
    if (state.mask) return state.mask;
    const key = sharedKey(state);
    const cached = key === undefined ? undefined : this.#shared.get(key);
    state.mask = cached ?? this.#intern(this.#allowed(state));
    if (key !== undefined) this.#shared.set(key, state.mask);
    return state.mask;
  }

  #allowed(state: State): Int32Array {
    const allowed: number[] = state.complete ? [...this.#ends] : [];
    const tokens = this.#sorted;
    const visit = (from: number, to: number, depth: number, place: State): void => {
      let at = from;
      for (; at < to && tokens[at]?.bytes.length === depth; at++) allowed.push(tokens[at]?.id ?? 0);
      while (at < to) {
        const byte = tokens[at]?.bytes[depth] ?? 0;
        let end = at + 1;
        while (end < to && tokens[end]?.bytes[depth] === byte) end++;
        const next = this.#follow(place, byte);
        if (next) visit(at, end, depth + 1, next);
        at = end;
      }
    };
    visit(0, tokens.length, 0, state);
    return Int32Array.from(allowed).sort();
  }

  #follow(state: State, byte: number): State | undefined {
    if (!state.next.has(byte)) {
      const threads = state.threads.flatMap(({ parts, at, place }) => {
        const next = place.step(byte);
        return next ? [{ parts, at, place: next }] : [];
      });
      state.next.set(byte, threads.length === 0 ? undefined : this.#openState(stateOf(threads)));
    }
    return state.next.get(byte);
  }

  /** Within open words nearly every token is allowed and most bytes lead to the same few places: each is one state, not one per path. */
  #openState(state: State): State {
    const open = state.threads.some(({ parts, at }) => parts[at]?.open);
    const key = open ? sharedKey(state) : undefined;
    if (key === undefined) {
      this.#made++;
      return state;
    }
    const cached = this.#openStates.get(key);
    if (cached) return cached;
    this.#openStates.set(key, state);
    this.#made++;
    return state;
  }

  /** Equal masks are one object, so that a batch stores each once. */
  #intern(allowed: Int32Array): TokenMask {
    let hash = allowed.length;
    for (const id of allowed) hash = (Math.imul(hash, 31) + id) | 0;
    const key = `${allowed.length}:${hash}`;
    const bucket = this.#interned.get(key) ?? [];
    const same = bucket.find((mask) => mask.allowed.every((id, i) => id === allowed[i]));
    if (same) return same;
    const mask = { allowed };
    this.#interned.set(key, [...bucket, mask]);
    return mask;
  }
}

/** A place in an answer that is not complete. Its mask is made when somebody asks for it. */
class AnswerCursor implements Cursor {
  readonly action = undefined;
  readonly next: (token: number) => Cursor;
  readonly #mask: () => TokenMask;

  constructor(mask: () => TokenMask, next: (token: number) => Cursor) {
    this.#mask = mask;
    this.next = next;
  }

  get mask(): TokenMask {
    return this.#mask();
  }
}

const finished = (action: string): Cursor => ({
  mask: { allowed: new Int32Array(0) },
  action,
  next: () => {
    throw new Error(`The answer '${action}' is complete; nothing may follow`);
  },
});

/** Adds the beginnings of the parts that may follow. */
function stateOf(threads: readonly Thread[]): State {
  const all: Thread[] = [];
  let complete = false;
  for (const thread of threads) {
    let current: Thread | undefined = thread;
    while (current) {
      all.push(current);
      if (!current.place.canEnd) break;
      const { parts, at }: Thread = current;
      const following: Part | undefined = parts[at + 1];
      complete ||= following === undefined;
      current = following && { parts, at: at + 1, place: following.begin };
    }
  }
  return { threads: all, complete, next: new Map(), mask: undefined };
}

/** Open words look the same in every grammar, whatever literal may end them, and their masks are the largest: they are made once. */
function sharedKey({ threads, complete }: State): string | undefined {
  const keys: string[] = [];
  for (const { parts, at, place } of threads) {
    keys.push(place.key);
    for (const { key } of parts.slice(at)) {
      if (key === undefined) return undefined;
      keys.push(key);
    }
    keys.push('');
  }
  return JSON.stringify([complete, keys]);
}

// ── parts ────────────────────────────────────────────────────────────────────────────────────────────────────────

function compile(part: GrammarPart): Part {
  switch (part.kind) {
    case 'literal':
      return { begin: literal(Buffer.from(part.text), 0), key: `literal ${part.text}` };
    case 'choice':
      return { begin: branch(tree(part.options)), key: undefined };
    case 'words':
      return part.from
        ? { begin: listedWords(tree(part.from), part.max), key: undefined }
        : { begin: openWords(0, false, [], part.max), key: `words ${part.max}`, open: true };
    case 'characters':
      return { begin: characters(new Set(Buffer.from(part.from)), 0, part.max), key: `characters ${part.max} ${part.from}`, open: true };
  }
}

/** White space before an answer, such as the lines after a thought: no part of the action. A model that may write more of it may write nothing else. */
const MOST_SPACES = 2;
const spaces = (left: number): Place => ({
  key: `${left}`,
  canEnd: true,
  step: (byte) => (left > 0 && (byte === SPACE || byte === 0x0a) ? spaces(left - 1) : undefined),
});
const WHITE_SPACE: Part = { begin: spaces(MOST_SPACES), key: 'space' };

interface Branch {
  readonly id: number;
  readonly children: Map<number, Branch>;
  ends: boolean;
}

let branches = 0;

function tree(texts: readonly string[]): Branch {
  const root: Branch = { id: branches++, children: new Map(), ends: false };
  for (const text of texts) {
    let node = root;
    for (const byte of Buffer.from(text)) {
      let child = node.children.get(byte);
      if (!child) node.children.set(byte, (child = { id: branches++, children: new Map(), ends: false }));
      node = child;
    }
    node.ends = true;
  }
  return root;
}

const literal = (bytes: Uint8Array, at: number): Place => ({
  key: `${at}`,
  canEnd: at === bytes.length,
  step: (byte) => (byte === bytes[at] ? literal(bytes, at + 1) : undefined),
});

const branch = (node: Branch): Place => ({
  key: `${node.id}`,
  canEnd: node.ends,
  step: (byte) => {
    const child = node.children.get(byte);
    return child && branch(child);
  },
});

/** One to `max` words of a list. */
function listedWords(root: Branch, max: number): Place {
  const at = (node: Branch, count: number): Place => ({
    key: `${node.id}×${count}`,
    canEnd: node.ends,
    step: (byte) => {
      const child = node.children.get(byte);
      if (child) return at(child, count);
      return byte === SPACE && node.ends && count < max ? at(root, count + 1) : undefined;
    },
  });
  return at(root, 1);
}

/** One to `max` words of any characters that a tidy action can have. `pending` are the bytes of a character that is not complete yet. */
const openWords = (count: number, inside: boolean, pending: readonly number[], max: number): Place => ({
  key: `${max - count} ${inside} ${pending.join(',')}`,
  canEnd: inside && pending.length === 0,
  step: (byte) => {
    if (pending.length > 0 || byte >= 0x80) {
      const bytes = [...pending, byte];
      const state = characterState(bytes);
      if (state === 'wrong' || (!inside && count >= max)) return undefined;
      return state === 'open' ? openWords(count, inside, bytes, max) : openWords(inside ? count : count + 1, true, [], max);
    }
    if (byte === SPACE) return inside && count < max ? openWords(count, false, [], max) : undefined;
    const plain = byte > SPACE && byte < 0x7f && !(byte >= 0x41 && byte <= 0x5a);
    if (!plain) return undefined;
    if (inside) return openWords(count, true, [], max);
    return count < max ? openWords(count + 1, true, [], max) : undefined;
  },
});

const completable = new Map<string, boolean>();

/** Whether bytes are the beginning of a character, a whole one that stays as it is in a tidy action, or neither. */
function characterState(bytes: readonly number[]): 'open' | 'whole' | 'wrong' {
  const [first = 0] = bytes;
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
  if (length === 0 || first >= 0xf5 || bytes.slice(1).some((byte) => (byte & 0xc0) !== 0x80)) return 'wrong';
  if (bytes.length < length) return bytes.length === 1 || canComplete(bytes) ? 'open' : 'wrong';
  const text = Buffer.from(bytes).toString('utf8');
  return !text.includes('\ufffd') && tidy(text) === text ? 'whole' : 'wrong';
}

/** Some beginnings lead to no allowed character (forms that are never written, characters that tidying replaces): they would be dead ends. */
function canComplete(bytes: readonly number[]): boolean {
  const key = bytes.join();
  let cached = completable.get(key);
  if (cached === undefined) {
    cached = Array.from({ length: 64 }, (_, i) => characterState([...bytes, 0x80 + i])).some((state) => state !== 'wrong');
    completable.set(key, cached);
  }
  return cached;
}

const characters = (from: ReadonlySet<number>, count: number, max: number): Place => ({
  key: `${count}`,
  canEnd: count > 0,
  step: (byte) => (from.has(byte) && count < max ? characters(from, count + 1, max) : undefined),
});
