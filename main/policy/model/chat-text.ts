// An episode as a chat in the model's template: a system text, pages as turns of the user, answers of the assistant with or without a
// thought. Token ids are appended turn by turn; what the model has said is never tokenised again. When the context is full, a new row
// begins with the system text, the first page (the task) and the latest turns that fit.

import type { Grammar, GrammarPart, Task } from '../../environment/environment.ts';
import { Random } from '../../base/random.ts';
import type { Answer, EpisodeText, TokenNames } from '../text/episode-text.ts';
import { type Cursor, EVERYTHING, type TokenMask } from '../text/grammar-mask.ts';
import type { EncodedRow } from '../text/prompt.ts';
import type { ActionAutomaton } from './automaton.ts';
import type { ModelText } from './text.ts';

export interface ChatSettings {
  readonly system: string;
  readonly contextLength: number;
  readonly thoughts: boolean;
  readonly maxThoughtTokens: number;
  /** Longest answer after the thought, its end included; a longer one is cut and counts as what it says. */
  readonly maxAnswerTokens: number;
  /** Whether answers are held to the grammar, or free and only parsed. */
  readonly constrained: boolean;
  /** Pages are shown in lower case. Set only where they are, like `emptyThought`: equal settings, equal recipe as before they existed. */
  readonly lowerCase?: true;
  /** Without thoughts, answers begin without the template's empty one. */
  readonly emptyThought?: false;
}

/** How a language model reads and writes in a world. */
export interface ChatCodec {
  readonly chat: ModelText;
  readonly tokenizer: TokenNames;
  readonly automaton: ActionAutomaton;
  readonly prompt: ChatSettings;
  readonly template: ChatTemplate;
  readonly endTokens: readonly number[];
  /** What trades places in each relabelled episode: groups of names, and a name is the words that mean the same (a word with its synonyms). */
  readonly names: readonly (readonly (readonly string[])[])[];
  /** The same for what only trades places in episodes of this task. */
  readonly namesIn?: (task: Task) => ChatCodec['names'];
}

/** The pieces of the chat template around what is said, as token ids. */
export interface ChatTemplate {
  /** Before the first page: the system text included. */
  readonly opening: readonly number[];
  /** After a page, before the answer. */
  readonly answering: readonly number[];
  /** After an answer's end token, before the next page. */
  readonly turning: readonly number[];
}

const FIRST_PAGE = 'PAGEONE';
const ANSWER = 'ANSWERONE';
const SECOND_PAGE = 'PAGETWO';
const THINK = '<think>\n';
const END_OF_THOUGHT = '</think>';

/** Finds the pieces by rendering a chat of known words. */
export function chatTemplate(
  text: ModelText,
  { system, thoughts, emptyThought }: Pick<ChatSettings, 'system' | 'thoughts' | 'emptyThought'>,
  endTokens: readonly number[],
): ChatTemplate {
  const thinking = thoughts || emptyThought === false ? undefined : false;
  const render = (messages: Parameters<ModelText['render']>[0]): string => text.render(messages, true, thinking);
  const chat = [
    { role: 'user', content: FIRST_PAGE },
    { role: 'assistant', content: ANSWER },
    { role: 'user', content: SECOND_PAGE },
  ] as const;
  const whole = withSystem(render, system, chat);
  const [opening = '', rest = ''] = cut(whole, FIRST_PAGE);
  const [, after = ''] = cut(rest, ANSWER);
  const [between = '', answering = ''] = cut(after, SECOND_PAGE);
  const turning = text.encodeTemplate(between);
  const ended = turning.findIndex((token) => endTokens.includes(token));
  return {
    opening: text.encodeTemplate(opening),
    answering: text.encodeTemplate(thoughts && !answering.endsWith(THINK) ? answering + THINK : answering),
    turning: turning.slice(ended + 1),
  };
}

type Chat = Parameters<ModelText['render']>[0];

/** Some templates have no system turn; the text then stands before the first page. */
function withSystem(render: (messages: Chat) => string, system: string, chat: Chat): string {
  try {
    return render([{ role: 'system', content: system }, ...chat]);
  } catch {
    return render(chat.map((message, i) => (i === 0 ? { ...message, content: `${system}\n\n${message.content}` } : message)));
  }
}

function cut(text: string, word: string): [string, string] {
  const at = text.indexOf(word);
  if (at < 0)
    throw new Error(`The model's chat template does not show what a turn says (${word} is missing); it cannot be used for an episode`);
  return [text.slice(0, at), text.slice(at + word.length)];
}

/** A page as the model reads it. */
export const encodePage = ({ chat, prompt }: Pick<ChatCodec, 'chat' | 'prompt'>, text: string): number[] =>
  chat.encode(prompt.lowerCase ? text.toLowerCase() : text);

/** Tokens that an answer may take, its thought included. */
export const answerReserve = ({ maxAnswerTokens, thoughts, maxThoughtTokens }: ChatSettings): number =>
  maxAnswerTokens + (thoughts ? maxThoughtTokens + 8 : 0);

export class ChatText implements EpisodeText {
  readonly rows: EncodedRow[] = [];
  readonly #codec: ChatCodec;
  readonly #names: NameSwap | undefined;
  #opening: number[] = [];
  /** Where the first page ends in the opening. */
  #taskEnd = 0;
  #turns: number[][] = [];
  #cursor: Cursor | undefined;
  /** Tokens of the thought, and of the answer after it. */
  #thought: number[] | undefined;
  #said: number[] = [];
  #thoughtText = '';
  /** Tokens that close a thought which has become too long. */
  #closing: number[] = [];

  /** With a seed for names, the world's interchangeable names trade places. */
  constructor(codec: ChatCodec, names: number | undefined, task?: Task) {
    this.#codec = codec;
    const groups = [...codec.names, ...((task && codec.namesIn?.(task)) ?? [])];
    this.#names = names !== undefined && groups.length > 0 ? new NameSwap(groups, Random.from('labels', names)) : undefined;
  }

  get mask(): TokenMask | undefined {
    const mask = this.#mask();
    return mask === EVERYTHING ? undefined : mask;
  }

  observe(text: string, grammar: Grammar): void {
    const { prompt, template, automaton } = this.#codec;
    const room = prompt.contextLength - this.#reserve - template.opening.length - template.turning.length - template.answering.length;
    const first = this.rows.length === 0;
    const shown = this.#names?.forward(text) ?? text;
    const page = encodePage(this.#codec, shown).slice(0, Math.max(8, first ? room : room - this.#opening.length));
    const last = this.rows.at(-1)?.tokens.at(-1) ?? 0;
    // An answer that was cut has no end token.
    const ended = this.#codec.endTokens.includes(last) ? template.turning : [...this.#codec.endTokens.slice(0, 1), ...template.turning];
    const turn = [...(first ? template.opening : ended), ...page, ...template.answering];
    if (first) {
      this.#opening = [...turn];
      this.#taskEnd = template.opening.length + page.length;
      this.rows.push(newRow(turn));
    } else {
      this.#turns.push([...turn]);
      const row = this.#row();
      if (row.tokens.length + turn.length + this.#reserve <= prompt.contextLength) push(row, turn);
      else this.rows.push(this.#reopened());
    }
    this.#thought = prompt.thoughts ? [] : undefined;
    this.#closing = [];
    this.#thoughtText = '';
    this.#said = [];
    this.#cursor = prompt.constrained ? automaton.start(this.#names?.grammar(grammar) ?? grammar) : undefined;
  }

  accept(token: number): Answer | undefined {
    const row = this.#row();
    row.agent.push({ position: row.tokens.length - 1, target: token, mask: this.#mask() });
    push(row, [token]);
    (this.#turns.at(-1) ?? this.#opening).push(token);
    return this.#thought ? this.#think(this.#thought, token) : this.#answer(token);
  }

  encode({ thought, action }: Answer): number[] {
    const { chat, prompt, endTokens } = this.#codec;
    const swap = (text: string): string => this.#names?.forward(text) ?? text;
    const words = prompt.thoughts
      ? [...chat.encode(swap(thought)).slice(0, prompt.maxThoughtTokens - 1), ...chat.encode(`\n${END_OF_THOUGHT}`)]
      : [];
    const said = chat.encode((prompt.thoughts ? '\n\n' : '') + swap(action));
    if (said.length >= prompt.maxAnswerTokens)
      throw new RangeError(
        `The answer '${action.slice(0, 80)}' takes ${said.length + 1} tokens, but only ${prompt.maxAnswerTokens} are allowed; raise policy.model.answerTokens`,
      );
    return [...words, ...said, endTokens[0] ?? 0];
  }

  original(token: number): number {
    return token;
  }

  #mask(): TokenMask {
    const [forced] = this.#closing;
    if (forced !== undefined) return { allowed: Int32Array.of(forced) };
    return this.#thought ? EVERYTHING : (this.#cursor?.mask ?? EVERYTHING);
  }

  #think(thought: number[], token: number): undefined {
    const { chat, prompt } = this.#codec;
    thought.push(token);
    if (this.#closing.length > 0) this.#closing.shift();
    const text = chat.decode(thought);
    const end = text.indexOf(END_OF_THOUGHT);
    if (end >= 0) {
      this.#thought = undefined;
      this.#closing = [];
      this.#thoughtText = this.#back(text.slice(0, end).trim());
    } else if (this.#closing.length === 0 && thought.length >= prompt.maxThoughtTokens) {
      this.#closing = unsaid(chat.encode(`\n${END_OF_THOUGHT}`), thought);
    }
    return undefined;
  }

  #answer(token: number): Answer | undefined {
    const { chat, prompt, endTokens } = this.#codec;
    const over = this.#said.length + 1 >= prompt.maxAnswerTokens;
    const ended = endTokens.includes(token);
    if (this.#cursor) this.#cursor = this.#cursor.next(token);
    if (!ended) this.#said.push(token);
    if (!ended && !over) return undefined;
    return { thought: this.#thoughtText, action: this.#back(chat.decode(this.#said).trim()) };
  }

  #back(text: string): string {
    return this.#names?.backward(text) ?? text;
  }

  get #reserve(): number {
    return answerReserve(this.#codec.prompt);
  }

  #row(): EncodedRow {
    const row = this.rows.at(-1);
    if (!row) throw new Error('Nothing may be said before the first page was shown');
    return row;
  }

  /** The task, then the latest turns: the last one always, earlier ones as long as half of the room is left for what follows. */
  #reopened(): EncodedRow {
    const room = this.#codec.prompt.contextLength - this.#reserve - this.#opening.length;
    let from = this.#turns.length - 1;
    let used = this.#turns[from]?.length ?? 0;
    while (from > 0 && used + (this.#turns[from - 1]?.length ?? 0) <= room / 2) used += this.#turns[--from]?.length ?? 0;
    this.#turns = this.#turns.slice(from);
    // A task that alone fills the context loses its end; the frame of its turn stays.
    const excess = Math.max(0, used - room);
    return newRow([...this.#opening.slice(0, this.#taskEnd - excess), ...this.#opening.slice(this.#taskEnd), ...this.#turns.flat()]);
  }
}

/** What is left of an ending of which the tokens so far may have said the beginning. */
function unsaid(ending: readonly number[], tokens: readonly number[]): number[] {
  let said = Math.min(ending.length, tokens.length);
  while (said > 0 && !ending.slice(0, said).every((token, index) => token === tokens[tokens.length - said + index])) said--;
  return ending.slice(said);
}

const newRow = (tokens: readonly number[]): EncodedRow => ({ tokens: [...tokens], flags: tokens.map(() => 0), agent: [] });

function push(row: EncodedRow, tokens: readonly number[]): void {
  for (const token of tokens) {
    row.tokens.push(token);
    row.flags.push(0);
  }
}

/** Names whose every word can be told apart in a text; the others stay. */
export const swappable = (names: readonly (readonly string[])[]): readonly (readonly string[])[] =>
  names.filter((words) => words.every((word) => /^[\p{L}\p{N}]+$/u.test(word)));

/** A permutation of names within texts, group by group: whole words only, and prices with their sign. A word that begins with a capital is replaced by one that does. */
class NameSwap {
  readonly #forward = new Map<string, string>();
  readonly #backward = new Map<string, string>();

  constructor(groups: ChatCodec['names'], random: Random) {
    for (const names of groups) {
      const shuffled = random.shuffle(names);
      for (const [index, name] of names.entries()) {
        for (const [place, word] of name.entries()) {
          const other = shuffled[index]?.[place] ?? word;
          this.#forward.set(word, other);
          this.#backward.set(other, word);
        }
      }
    }
  }

  forward(text: string): string {
    return swapped(text, this.#forward);
  }

  backward(text: string): string {
    return swapped(text, this.#backward);
  }

  grammar(grammar: Grammar): Grammar {
    const renamed = (part: GrammarPart): GrammarPart => {
      if (part.kind === 'choice') return { ...part, options: part.options.map((option) => this.forward(option)) };
      return part.kind === 'words' && part.from ? { ...part, from: part.from.map((word) => this.forward(word)) } : part;
    };
    // A choice among all names stays the choice that it is, and keeps what was compiled for it.
    const same = (part: GrammarPart): boolean => {
      if (part.kind === 'choice') return this.#closed(part.options);
      return part.kind !== 'words' || !part.from || this.#closed(part.from);
    };
    if (grammar.every((parts) => parts.every(same))) return grammar;
    return grammar.map((parts) => parts.map((part) => (same(part) ? part : renamed(part))));
  }

  #closed(options: readonly string[]): boolean {
    let members = choices.get(options);
    if (!members) choices.set(options, (members = new Set(options)));
    return options.every((option) => members.has(this.#forward.get(option) ?? this.forward(option)));
  }
}

/** What a choice offers, by its list. */
const choices = new WeakMap<readonly string[], ReadonlySet<string>>();

const swapped = (text: string, names: ReadonlyMap<string, string>): string =>
  text.replaceAll(/(?<![\p{L}\p{N}$.])\$?[\p{L}\p{N}]+(?![\p{L}\p{N}]|\.\d)/gu, (word) => names.get(word) ?? capitalised(word, names));

function capitalised(word: string, names: ReadonlyMap<string, string>): string {
  const other = names.get(word.toLowerCase());
  return other === undefined ? word : other.slice(0, 1).toUpperCase() + other.slice(1);
}
