// How a policy reads and writes during one episode. A small policy reads words of its world and says one token for a verb; a language model
// holds a chat. Whoever plays an episode knows neither: it shows pages, hands over drawn tokens and hears when an action is complete.

import type { Grammar } from '../../environment/environment.ts';
import type { TokenMask } from './grammar-mask.ts';
import type { EncodedRow } from './prompt.ts';

/** What was said in one turn. */
export interface Answer {
  readonly thought: string;
  readonly action: string;
}

/** A place in an answer that is only tried out: nothing is said by following it. */
export interface AnswerPath {
  /** What may come next; undefined: anything. */
  readonly mask: TokenMask | undefined;
  /** The place after a token; undefined where it completes the answer. */
  next(token: number): AnswerPath | undefined;
}

export interface EpisodeText {
  readonly rows: readonly EncodedRow[];
  /** What the next token may be; undefined: anything. */
  readonly mask: TokenMask | undefined;
  /** Shows what the world says; `grammar` is what may be answered. */
  observe(text: string, grammar: Grammar): void;
  /** Takes a token that was drawn under `mask`; the answer, when this completes it. */
  accept(token: number): Answer | undefined;
  /** The beginning of the answer, to be tried out; only for policies whose answers can be searched. */
  readonly path?: AnswerPath;
  /** The tokens of a given answer at this place. */
  encode(answer: Answer): readonly number[];
  /** The token as the record knows it, where an episode relabels names. */
  original(token: number): number;
}

/** Token ids as a person reads them. */
export interface TokenNames {
  readonly size: number;
  token(id: number): string;
  /** Place of the token that ends the thought among the tokens of a step, −1 where there is none; by default that of the mark. */
  endOfThought?(ids: readonly number[]): number;
  /** The tokenizer as data, for checkpoints and hashes. */
  readonly json: unknown;
}
