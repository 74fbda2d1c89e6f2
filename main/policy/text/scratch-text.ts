// How a small policy reads and writes: its prompt of marked turns, the grammar's masks over its vocabulary, an optional thought.

import type { Grammar } from '../../environment/environment.ts';
import { Random } from '../../base/random.ts';
import type { Answer, AnswerPath, EpisodeText } from './episode-text.ts';
import type { Cursor, GrammarMasks, TokenMask } from './grammar-mask.ts';
import { type EncodedRow, type NameGroups, Prompt, type PromptSettings, Relabelling } from './prompt.ts';
import { type Tokenizer, mark } from './tokenizer.ts';

/** What an episode needs to know of a small policy. */
export interface ScratchCodec {
  readonly tokenizer: Tokenizer;
  readonly masks: GrammarMasks;
  readonly prompt: PromptSettings;
  /** What trades places in each relabelled episode. */
  readonly names: NameGroups;
}

export class ScratchText implements EpisodeText {
  readonly #codec: ScratchCodec;
  readonly #prompt: Prompt;
  #grammar: Grammar = [];
  #cursor: Cursor | undefined;
  #thought: number[] | undefined;
  #thoughtText = '';

  /** With a seed for names, the world's interchangeable names trade places. */
  constructor(codec: ScratchCodec, instruction: string, names: number | undefined) {
    this.#codec = codec;
    const relabelling =
      names !== undefined && codec.names.length > 0 ? new Relabelling(codec.names, Random.from('labels', names)) : undefined;
    this.#prompt = new Prompt(codec.tokenizer, codec.prompt, instruction, relabelling);
  }

  get rows(): readonly EncodedRow[] {
    return this.#prompt.rows;
  }

  get mask(): TokenMask {
    return this.#prompt.mask(this.#trueMask());
  }

  get path(): AnswerPath {
    return this.#pathFrom(this.#place(), this.#thought?.length);
  }

  /** `thought` is the number of its words so far, undefined once it is over. */
  #pathFrom(cursor: Cursor, thought: number | undefined): AnswerPath {
    const { masks, prompt } = this.#codec;
    const mask = thought === undefined ? cursor.mask : masks.thought(prompt.maxThoughtTokens - thought);
    return {
      mask: this.#prompt.mask(mask),
      next: (drawn) => {
        const token = this.#prompt.original(drawn);
        if (thought !== undefined) return this.#pathFrom(cursor, token === mark('</think>') ? undefined : thought + 1);
        const after = cursor.next(token);
        return after.action === undefined ? this.#pathFrom(after, undefined) : undefined;
      },
    };
  }

  observe(text: string, grammar: Grammar): void {
    this.#prompt.observe(text);
    this.#thought = this.#codec.prompt.thoughts ? [] : undefined;
    this.#thoughtText = '';
    this.#grammar = grammar;
    this.#cursor = this.#codec.masks.start(grammar);
  }

  accept(drawn: number): Answer | undefined {
    const mask = this.#trueMask();
    const token = this.#prompt.original(drawn);
    this.#prompt.say(drawn, mask);
    if (this.#thought) {
      if (token !== mark('</think>')) this.#thought.push(token);
      else {
        this.#thoughtText = this.#codec.tokenizer.decode(this.#thought);
        this.#thought = undefined;
      }
      return undefined;
    }
    this.#cursor = this.#place().next(token);
    const { action } = this.#cursor;
    return action === undefined ? undefined : { thought: this.#thoughtText, action };
  }

  encode({ thought, action }: Answer): number[] {
    const { tokenizer, masks, prompt } = this.#codec;
    const words = prompt.thoughts ? [...tokenizer.encode(thought).slice(0, prompt.maxThoughtTokens), mark('</think>')] : [];
    return [...words, ...masks.encode(this.#grammar, action).tokens].map((token) => this.#prompt.relabel(token));
  }

  original(token: number): number {
    return this.#prompt.original(token);
  }

  #place(): Cursor {
    if (!this.#cursor) throw new Error('Nothing may be said before the first page was shown');
    return this.#cursor;
  }

  #trueMask(): TokenMask {
    if (!this.#thought) return this.#place().mask;
    return this.#codec.masks.thought(this.#codec.prompt.maxThoughtTokens - this.#thought.length);
  }
}
