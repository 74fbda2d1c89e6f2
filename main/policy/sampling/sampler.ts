// Plays many episodes at once, token by token, each row with its keys and values kept across the turns of its episode, so
// that only new tokens are computed. At every call each row either reads what the world said (several tokens at a time) or
// reads the token it drew last; a row that has read everything draws its next token. Finished rows leave, new ones join at once.
// A row's draws come from its episode's generator: what else is in the batch does not matter.

import type { Flat } from '../../engine/graph/parameters.ts';
import { BeamSearch, type BeamSettings } from './beam.ts';
import { Drawer } from './draw.ts';
import type { Drawn, DrawSettings } from './draw.ts';
import type { AnswerPath } from '../text/episode-text.ts';
import type { TokenMask } from '../text/grammar-mask.ts';
import type { PolicyModel } from '../transformer/network.ts';
import { DecodingReader, decodes } from '../decoder/decoding-reader.ts';
import { GraphReader } from './reader.ts';
import type { Reader, ReadRow, SamplerOptions } from './reader.ts';

/** Tokens that the policy has not read yet, with their match flags. */
export interface Feed {
  readonly tokens: readonly number[];
  readonly flags: readonly number[];
  /** The cache starts empty: the first observation, or the context was full. */
  readonly newRow: boolean;
}

/** What the sampler needs of an episode; `EpisodeInPlay` is one. */
export interface SampledEpisode {
  readonly random: { next(): number };
  readonly done: boolean;
  /** It has acted and its world has not answered yet: it takes part again once `settle` has been called for it. */
  readonly waiting?: boolean;
  /** What may be drawn now; undefined: any token. */
  readonly mask: TokenMask | undefined;
  /** The answer that begins now, to be tried out token by token; for beam search. */
  readonly path?: AnswerPath | undefined;
  /** The tokens not read yet, the last one drawn among them. */
  take(): Feed;
  accept(drawn: Drawn): void;
}

/** Has the worlds of all waiting episodes answer, so that worlds in other processes get many messages at once. */
export type Settle = (waiting: readonly SampledEpisode[]) => void;

export interface RunOptions {
  /** Looked at between calls of the model: aborted, it ends the run there. */
  readonly signal?: AbortSignal | undefined;
  readonly settle?: Settle;
  /** At most so many episodes at once, where that is fewer than the sampler's capacity. */
  readonly most?: number;
  /** Instead of drawing: the most probable answer that a beam search finds. */
  readonly beam?: BeamSettings | undefined;
}

/** Plays episodes to their end: on the CPU (`Sampler`) or on a device (`DeviceSampler`). */
export interface EpisodeSampler {
  /** Plays all episodes to their end; they are taken from the list when there is room. */
  run(episodes: Iterable<SampledEpisode>, settings?: DrawSettings, options?: RunOptions): Promise<void>;
  /** Gives its memory back; when it is used again, it takes it anew. */
  dispose(): Promise<void>;
}

export interface Row extends ReadRow {
  readonly episode: SampledEpisode;
}

/** Small Transformers are read by the decoder, everything else by sessions. */
export function openReader(model: PolicyModel, weights: Flat, options: SamplerOptions = {}): Reader {
  if (!('samplingGraph' in model) && decodes(model, options.capacity ?? 64)) return new DecodingReader(model, weights, options);
  return new GraphReader(model, weights, options);
}

export class Sampler implements EpisodeSampler {
  readonly #reader: Reader;

  /** `weights` are looked at when a game begins: after a training step on the CPU the next one is played with the new ones. */
  constructor(model: PolicyModel, weights: Flat, options: SamplerOptions = {}) {
    this.#reader = openReader(model, weights, options);
  }

  async run(episodes: Iterable<SampledEpisode>, settings: DrawSettings = {}, options: RunOptions = {}): Promise<void> {
    if (options.beam) return new BeamSearch(this.#reader, options.beam).run(episodes, options);
    const { signal, settle = () => {}, most = this.#reader.capacity } = options;
    const capacity = Math.min(most, this.#reader.capacity);
    const waiting = episodes[Symbol.iterator]();
    const drawer = new Drawer(this.#reader.network.vocabulary, settings);
    const rows: Row[] = [];
    this.#reader.begin();
    for (;;) {
      while (rows.length < capacity) {
        const { value: episode, done } = waiting.next();
        if (done) break;
        if (!episode.done) rows.push(this.#feed({ episode, tokens: [], flags: [], position: 0 }));
      }
      if (rows.length === 0) return;
      signal?.throwIfAborted();
      await this.#reader.read(rows, (row, logits) => {
        const { episode } = row;
        episode.accept(drawer.draw(logits, episode.mask?.allowed, () => episode.random.next()));
        if (!episode.done && !episode.waiting) this.#feed(row);
      });
      this.#settle(rows, settle);
      for (let i = rows.length - 1; i >= 0; i--) {
        if (rows[i]?.episode.done) this.#remove(rows, i);
      }
    }
  }

  dispose(): Promise<void> {
    return this.#reader.dispose();
  }

  #feed(row: Row): Row {
    return feedRow(row, this.#reader.network.contextLength);
  }

  /** In the order of the rows, which does not depend on how long a world takes. */
  #settle(rows: readonly Row[], settle: Settle): void {
    const waiting = rows.filter(({ episode }) => episode.waiting);
    if (waiting.length === 0) return;
    settle(waiting.map(({ episode }) => episode));
    for (const row of waiting) if (!row.episode.done) this.#feed(row);
  }

  /** The last row takes the place of the one that leaves. */
  #remove(rows: Row[], index: number): void {
    const last = rows.pop();
    if (!last || index === rows.length) return;
    rows[index] = last;
    this.#reader.copy(rows.length, index);
  }
}

/** Adds what the episode has not read yet to its row. */
export function feedRow<Fed extends Row>(row: Fed, contextLength: number): Fed {
  const { tokens, flags, newRow } = row.episode.take();
  if (newRow) {
    row.tokens = [];
    row.flags = [];
    row.position = 0;
  }
  for (const token of tokens) row.tokens.push(token);
  for (const flag of flags) row.flags.push(flag);
  if (row.tokens.length > contextLength)
    throw new RangeError(`An episode of ${row.tokens.length} tokens does not fit the model's context of ${contextLength}; begin a new row`);
  if (row.position >= row.tokens.length) throw new RangeError('An episode gave no token to read before the next draw');
  return row;
}
