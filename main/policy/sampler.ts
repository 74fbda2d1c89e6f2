// Plays many episodes at once, token by token, each row with its keys and values kept across the turns of its episode, so
// that only new tokens are computed. At every call each row either reads what the world said (several tokens at a time) or
// reads the token it drew last; a row that has read everything draws its next token. Finished rows leave, new ones join at once.
// A row's draws come from its episode's generator: what else is in the batch does not matter.

import { at } from '../indexed.ts';
import type { Flat } from '../engine/parameters.ts';
import { Session, float, floats, integer, value } from '../engine/session.ts';
import type { Feeds, Value } from '../engine/session.ts';
import { Cache } from './cache.ts';
import { Drawer } from './draw.ts';
import type { Drawn, DrawSettings } from './draw.ts';
import type { TokenMask } from './grammar-mask.ts';
import { networkOf } from './network.ts';
import type { PolicyModel, PolicyNetwork } from './network.ts';
import { parameterFeeds, parameterInputs } from './sampling-graph.ts';

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
  /** The tokens not read yet, the last one drawn among them. */
  take(): Feed;
  accept(drawn: Drawn): void;
}

/** Has the worlds of all waiting episodes answer, so that worlds in other processes get many messages at once. */
export type Settle = (waiting: readonly SampledEpisode[]) => void;

export interface RunOptions {
  /** Awaited between calls of the model; what it throws ends the run there. */
  readonly poll?: () => Promise<void>;
  readonly settle?: Settle;
  /** At most so many episodes at once, where that is fewer than the sampler's capacity. */
  readonly most?: number;
}

/** Plays episodes to their end: on the CPU (`Sampler`) or on a device (`DeviceSampler`). */
export interface EpisodeSampler {
  /** Plays all episodes to their end; they are taken from the list when there is room. */
  run(episodes: Iterable<SampledEpisode>, settings?: DrawSettings, options?: RunOptions): Promise<void>;
  /** Gives its memory back; when it is used again, it takes it anew. */
  dispose(): Promise<void>;
}

export interface SamplerOptions {
  /** Most episodes at once. */
  readonly capacity?: number;
  readonly threads?: number;
}

export interface Row {
  readonly episode: SampledEpisode;
  /** All tokens the row has read or is to read, and their flags. */
  tokens: number[];
  flags: number[];
  /** How many of them have been read. */
  position: number;
}

const NEVER = -1e9;
/** Tokens per row and call: each is a separate session, made when first needed. */
const COUNTS = [1, 4, 16, 64] as const;
/** What a call costs beside its tokens, in tokens: once, and for every row (its keys and values have to be read). */
const CALL_COST = 10;
const ROW_COST = 2;

export class Sampler implements EpisodeSampler {
  readonly #network: PolicyNetwork;
  readonly #capacity: number;
  readonly #options: SamplerOptions;
  readonly #sessions = new Map<number, Session>();
  readonly #cache: Cache;
  readonly #feeds: Record<string, Value>;

  /** `weights` are read in place: after a training step on the CPU the sampler plays with the new ones at once. */
  constructor(model: PolicyModel, weights: Flat, options: SamplerOptions = {}) {
    this.#network = networkOf(model);
    this.#options = options;
    this.#capacity = options.capacity ?? 64;
    this.#cache = new Cache(this.#network.streams, this.#capacity);
    this.#feeds = parameterFeeds(this.#network.layout, weights);
  }

  async run(episodes: Iterable<SampledEpisode>, settings: DrawSettings = {}, options: RunOptions = {}): Promise<void> {
    const { poll, settle = () => {}, most = this.#capacity } = options;
    const capacity = Math.min(most, this.#capacity);
    const waiting = episodes[Symbol.iterator]();
    const drawer = new Drawer(this.#network.vocabulary, settings);
    const rows: Row[] = [];
    this.#cache.fit(0, 0); // the last episodes of the run before may have been the longest
    for (;;) {
      while (rows.length < capacity) {
        const { value: episode, done } = waiting.next();
        if (done) break;
        if (!episode.done) rows.push(this.#feed({ episode, tokens: [], flags: [], position: 0 }));
      }
      if (rows.length === 0) return;
      await poll?.();
      await this.#read(rows, drawer);
      this.#settle(rows, settle);
      for (let i = rows.length - 1; i >= 0; i--) {
        if (rows[i]?.episode.done) this.#remove(rows, i);
      }
    }
  }

  async dispose(): Promise<void> {
    this.#cache.release();
    for (const session of this.#sessions.values()) await session.dispose();
    this.#sessions.clear();
  }

  #feed(row: Row): Row {
    return feedRow(row, this.#network.contextLength);
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
    this.#cache.move(rows.length, index);
  }

  /** One call of the model: every row reads up to `count` tokens, and those that have read all draw one. */
  async #read(rows: readonly Row[], drawer: Drawer): Promise<void> {
    const count = chooseCount(rows);
    const session = await this.#session(count);
    const time = this.#cache.time;
    const used = rows.map(({ tokens, position }) => Math.min(count, tokens.length - position));
    const results = await session.run({ ...this.#feeds, ...this.#inputs(rows, used, count), ...this.#cache.values(rows.length) });

    const fresh: Record<string, Float32Array> = {};
    for (const [name, result] of Object.entries(results)) if (name.startsWith('new.')) fresh[name.slice(4)] = floats(result);
    const positions = rows.map(({ position }) => position);
    this.#cache.fit(Math.max(...positions.map((position, i) => position + at(used, i))), rows.length);
    this.#cache.append(fresh, count, positions, used);

    const { vocabulary } = this.#network;
    const logits = floats(need(results, 'logits'));
    for (const [i, row] of rows.entries()) {
      row.position += at(used, i);
      if (row.position < row.tokens.length) continue;
      const rowLogits = logits.subarray(i * vocabulary, (i + 1) * vocabulary);
      if (this.#network.aids.pointer) point(rowLogits, row, row.position - at(used, i), pointer(results, i, time, count));
      const { episode } = row;
      episode.accept(drawer.draw(rowLogits, episode.mask?.allowed, () => episode.random.next()));
      if (!episode.done && !episode.waiting) this.#feed(row);
    }
  }

  #inputs(rows: readonly Row[], used: readonly number[], count: number): Record<string, Value> {
    const { aids, contextLength } = this.#network;
    const time = this.#cache.time;
    const total = time + count;
    const size = rows.length * count;
    const window = count + aids.tokenShift;
    const tokens = new Int32Array(rows.length * window);
    const flags = new Float32Array(rows.length * window);
    const present = new Float32Array(rows.length * window);
    const positions = new BigInt64Array(size);
    const mask = new Float32Array(size * total);
    const lastMask = new Float32Array(rows.length * total);
    for (const [r, { tokens: all, flags: marks, position }] of rows.entries()) {
      const real = at(used, r);
      for (let i = 0; i < count; i++) {
        const slot = r * count + i;
        const place = position + i;
        positions[slot] = BigInt(Math.min(place, contextLength - 1)); // padding may lie beyond the end
        const start = slot * total;
        mask.fill(NEVER, start + position, start + time);
        mask.fill(NEVER, start + time + i + 1, start + total);
      }
      for (let place = Math.max(0, position - aids.tokenShift); place < position + real; place++) {
        const slot = r * window + place - position + aids.tokenShift;
        tokens[slot] = all[place]!;
        flags[slot] = marks[place]!;
        present[slot] = 1;
      }
      const last = (r * count + real - 1) * total;
      lastMask.set(mask.subarray(last, last + total), r * total);
    }
    const shape = [rows.length, count];
    return {
      tokens: integer(tokens, [rows.length, window]),
      positions: value('int64', positions, shape),
      mask: float(mask, [rows.length, 1, count, total]),
      ...(aids.matchFlag ? { flags: float(flags, [rows.length, window]) } : {}),
      ...(aids.tokenShift > 0 ? { present: float(present, [rows.length, window]) } : {}),
      ...(count > 1
        ? {
            last: value(
              'int64',
              BigInt64Array.from(used, (n) => BigInt(n - 1)),
              [rows.length, 1],
            ),
          }
        : {}),
      ...(count > 1 && aids.pointer ? { lastMask: float(lastMask, [rows.length, 1, 1, total]) } : {}),
    };
  }

  async #session(count: number): Promise<Session> {
    const known = this.#sessions.get(count);
    if (known) return known;
    const graph = this.#network.samplingGraph(count, (target) => parameterInputs(target, this.#network.layout));
    const { threads } = this.#options;
    const session = await Session.create(graph, { spinning: false, plannedMemory: false, ...(threads !== undefined && { threads }) });
    this.#sessions.set(count, session);
    return session;
  }
}

/** Adds what the episode has not read yet to its row. */
export function feedRow(row: Row, contextLength: number): Row {
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

/** Tokens per row that make the call worth most: useful tokens over what the call costs. */
export function chooseCount(rows: readonly Row[], callCost = CALL_COST): number {
  let best = 1;
  let rate = 0;
  for (const count of COUNTS) {
    const useful = rows.reduce((sum, { tokens, position }) => sum + Math.min(count, tokens.length - position), 0);
    const value = useful / (callCost + rows.length * (ROW_COST + count));
    if (value > rate) [best, rate] = [count, value];
  }
  return best;
}

/** Where a row's pointer looks: its weights over the `time` old places and the new ones after them, and how much they count. */
interface Pointer {
  readonly weights: Float32Array;
  readonly time: number;
  readonly amount: number;
}

function pointer(results: Feeds, row: number, time: number, count: number): Pointer {
  const total = time + count;
  const weights = floats(need(results, 'attention')).subarray(row * total, (row + 1) * total);
  return { weights, time, amount: at(floats(need(results, 'amount')), row) };
}

/** Adds the pointer's share to the logits of the tokens it looks at; the first `old` tokens were read by earlier calls. */
function point(logits: Float32Array, { tokens, position }: Row, old: number, { weights, time, amount }: Pointer): void {
  for (let place = 0; place < position; place++) {
    const token = tokens[place]!;
    const weight = weights[place < old ? place : time + place - old]!;
    logits[token]! += amount * weight;
  }
}

function need(results: Feeds, name: string): Value {
  const result = results[name];
  if (!result) throw new Error(`The model gave no "${name}"`);
  return result;
}
