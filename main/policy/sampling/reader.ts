// The network on many rows at once, a few tokens each, with what was read before kept in a cache: what every way of decoding shares. A row
// that has read all of its tokens gets the logits of the next one. Rows are addressed by their place in the list, which is their place in the cache.

import { at } from '../../base/indexed.ts';
import { laneNumber, lanesOf } from '../../engine/runtime/lanes.ts';
import { sharedNumbers } from '../../engine/runtime/shared-memory.ts';
import type { Flat, Group } from '../../engine/graph/parameters.ts';
import type { MemoryPool } from '../../engine/runtime/session-cache.ts';
import { Session, float, floats, integer, value } from '../../engine/runtime/session.ts';
import type { Feeds, Value } from '../../engine/runtime/session.ts';
import { Cache, timeFor } from './cache.ts';
import { JoinedParameters } from '../transformer/joined-parameters.ts';
import { networkOf } from '../transformer/network.ts';
import type { PolicyModel, PolicyNetwork } from '../transformer/network.ts';
import { parameterFeeds, parameterInputs } from './sampling-graph.ts';

export interface SamplerOptions {
  /** Most episodes at once. */
  readonly capacity?: number;
  readonly threads?: number;
  /** Where room is asked for before keys and values grow. */
  readonly pool?: MemoryPool;
}

/** A sequence being read. */
export interface ReadRow {
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
/** Tokens from which a row reads rather than writes. */
const PAGE = 8;
/** Fewer tokens in a call are computed by one thread. */
const ALONE = 48;
/** What the process grows by for every byte that the keys and values grow by: the runtime works on copies of them. */
const GROWTH = 2;

/** What every way of decoding reads with. */
export interface Reader {
  readonly network: PolicyNetwork;
  readonly capacity: number;
  /** Nothing has been read: what comes next may be shorter than what came before, and the weights may be others. */
  begin(): void;
  /** What row `from` has read, row `to` has read as well. */
  copy(from: number, to: number): void;
  /** One call of the model: every row reads some of its tokens; those that have read all are handed their logits. */
  read<Row extends ReadRow>(rows: readonly Row[], arrived: (row: Row, logits: Float32Array) => void): Promise<void>;
  dispose(): Promise<void>;
}

/** Reads with sessions of the runtime. */
export class GraphReader implements Reader {
  readonly network: PolicyNetwork;
  readonly capacity: number;
  readonly #options: SamplerOptions;
  readonly #sessions = new Map<string, Session>();
  readonly #cache: Cache;
  readonly #feeds: Record<string, Value>;
  readonly #weights: Flat;
  /** Rows that were given several tokens to read and have not read all of them. */
  readonly #reading = new WeakSet<ReadRow>();
  /** Parameters that are put together when a game begins. */
  readonly #joined: JoinedParameters | undefined;
  /** Where lanes read the weights: a copy, made when a game begins. */
  readonly #shared: Readonly<Record<Group, Float32Array>> | undefined;

  /** `weights` are read in place: after a training step on the CPU the new ones count at once. */
  constructor(model: PolicyModel, weights: Flat, options: SamplerOptions = {}) {
    this.network = networkOf(model);
    this.#options = options;
    this.capacity = options.capacity ?? 64;
    this.#weights = weights;
    const { layout, streams } = this.network;
    if (this.#lanes > 1) this.#shared = { decay: sharedNumbers(layout.lengths.decay), plain: sharedNumbers(layout.lengths.plain) };
    this.#cache = new Cache(streams, this.capacity, this.#shared !== undefined);
    const { joined } = this.network;
    if (joined) this.#joined = new JoinedParameters(layout, joined);
    this.#feeds = { ...parameterFeeds(layout, this.#shared ?? weights), ...this.#joined?.feeds };
    this.begin();
  }

  begin(): void {
    this.#cache.fit(0, 0);
    this.#joined?.fill(this.#weights);
    this.#shared?.decay.set(this.#weights.decay);
    this.#shared?.plain.set(this.#weights.plain);
  }

  /** Threads that may read side by side, each with its part of the rows. Mapped weights stay in one session with several threads. */
  get #lanes(): number {
    return this.network.mappedBytes === undefined ? lanesOf(this.#options.threads) : 1;
  }

  copy(from: number, to: number): void {
    this.#cache.move(from, to);
  }

  async dispose(): Promise<void> {
    this.#cache.release();
    for (const session of this.#sessions.values()) await session.dispose();
    this.#sessions.clear();
  }

  async read<Row extends ReadRow>(rows: readonly Row[], arrived: (row: Row, logits: Float32Array) => void): Promise<void> {
    for (const row of rows) if (left(row) > 1) this.#reading.add(row);
    const { rowIndices, least } = this.#apart(rows, this.network.shares ? this.#borrow(rows) : readFirst(rows));
    const group = rowIndices.map((place) => at(rows, place));
    const count = chooseCount(group, CALL_COST, least);
    const apart = rowIndices.length < rows.length;
    const time = apart ? Math.min(this.#cache.time, timeFor(Math.max(...group.map(({ position }) => position)))) : this.#cache.time;
    const lanes = group.length * count < ALONE ? 1 : Math.min(this.#lanes, group.length);
    const parts = await Promise.all(
      Array.from({ length: lanes }, async (_, lane): Promise<ReadPart<Row>> => {
        const [first, end] = [Math.floor((lane * group.length) / lanes), Math.floor(((lane + 1) * group.length) / lanes)];
        const batch = group.slice(first, end);
        const places = rowIndices.slice(first, end);
        const used = batch.map(({ tokens, position }) => Math.min(count, tokens.length - position));
        const session = await this.#session(count, lanes > 1 ? lane : undefined);
        const cached = apart ? this.#cache.gathered(places, time) : this.#cache.values(first, batch.length);
        return { batch, places, used, results: await session.run({ ...this.#inputs(batch, used, count, time), ...cached }) };
      }),
    );
    await this.#keep(parts, rows, count);

    const { vocabulary, aids } = this.network;
    for (const { batch, used, results } of parts) {
      const logits = floats(need(results, 'logits'));
      for (const [i, row] of batch.entries()) {
        row.position += at(used, i);
        if (row.position < row.tokens.length) continue;
        this.#reading.delete(row);
        const rowLogits = logits.subarray(i * vocabulary, (i + 1) * vocabulary);
        if (aids.pointer) point(rowLogits, row, row.position - at(used, i), pointer(results, i, time, count));
        arrived(row, rowLogits);
      }
    }
  }

  /**
   * Where single tokens are computed otherwise than several at once, what a row has drawn is always read alone and what it was given never, also the last token of
   * it: else a row's numbers would depend on how many tokens its company makes worth reading at once.
   */
  #apart(rows: readonly ReadRow[], rowIndices: readonly number[]): { rowIndices: readonly number[]; least: number } {
    if (!this.network.approximateSampling) return { rowIndices, least: 1 };
    const reading = rowIndices.filter((place) => this.#reading.has(at(rows, place)));
    return reading.length > 0 ? { rowIndices: reading, least: COUNTS[1] } : { rowIndices, least: 1 };
  }

  /** Of rows that begin alike one reads, and the others take over what it has read. Gives the places of the rows that read next. */
  #borrow(rows: readonly ReadRow[]): readonly number[] {
    const waiting = new Set<number>();
    const leading: ReadRow[] = [];
    for (const [place, row] of rows.entries()) {
      if (left(row) < PAGE) continue;
      if (leading.some((leader) => common(leader, leader.tokens.length, row) >= row.position + PAGE)) {
        waiting.add(place);
        continue;
      }
      const overlaps = rows.map((other) => (other === row ? 0 : common(other, other.position, row)));
      const most = Math.min(Math.max(...overlaps), row.tokens.length - 1); // the last one is read for its logits
      if (most >= row.position + PAGE) {
        this.#cache.move(overlaps.indexOf(Math.max(...overlaps)), place);
        row.position = most;
      }
      if (left(row) >= PAGE) leading.push(row);
    }
    return readFirst(
      rows,
      rows.map((_, place) => place).filter((place) => !waiting.has(place)),
    );
  }

  /** Puts what was read into the cache. */
  async #keep(parts: readonly ReadPart<ReadRow>[], rows: readonly ReadRow[], count: number): Promise<void> {
    const positions = parts.map(({ batch }) => batch.map(({ position }) => position));
    const read = parts.flatMap(({ used }, part) => used.map((n, i) => at(at(positions, part), i) + n));
    const needed = Math.max(...read, ...rows.map(({ position }) => position));
    const growth = this.#cache.growth(needed);
    if (growth > 0) await this.#options.pool?.makeRoom(GROWTH * growth);
    this.#cache.fit(needed, rows.length);
    for (const [part, { places, used, results }] of parts.entries()) {
      this.#cache.append(freshNumbers(results), count, places, at(positions, part), used);
    }
  }

  /** `time`: places of the cache that are handed over with them. */
  #inputs(rows: readonly ReadRow[], used: readonly number[], count: number, time: number): Record<string, Value> {
    const { aids, contextLength } = this.network;
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
      ...(count === 1 ? { split: value('int64', BigInt64Array.of(BigInt(time), 1n), [2]) } : {}),
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

  async #session(count: number, lane: number | undefined): Promise<Session> {
    const key = `${count} ${lane ?? 'here'}`;
    const cached = this.#sessions.get(key);
    if (cached) return cached;
    const graph = this.network.samplingGraph(count, (target) => parameterInputs(target, this.network.layout));
    const { threads } = this.#options;
    const alone = this.#shared
      ? { threads: 1, lane: lane === undefined ? undefined : laneNumber(lane) }
      : threads !== undefined && { threads };
    // A language model's token takes hundreds of short operators, in all threads.
    const spinning = this.network.mappedBytes === undefined ? false : 'briefly';
    const session = await Session.create(graph, { spinning, plannedMemory: false, ...alone });
    await session.bind(this.#feeds);
    this.#sessions.set(key, session);
    return session;
  }
}

/** What one lane has read of some of the rows. */
interface ReadPart<Row extends ReadRow> {
  readonly batch: readonly Row[];
  /** Their places in the cache. */
  readonly places: readonly number[];
  readonly used: readonly number[];
  readonly results: Feeds;
}

/**
 * The places of the rows that read next. Rows with much to read go before those that are writing, without them: in one call with them
 * each of the others would be computed for as many tokens.
 */
export function readFirst(rows: readonly ReadRow[], places: readonly number[] = rows.map((_, place) => place)): readonly number[] {
  const reading = places.filter((place) => left(at(rows, place)) >= PAGE);
  return reading.length > 0 ? reading : places;
}

/** How many of the first `most` tokens of a row are those of another. */
function common({ tokens }: ReadRow, most: number, { tokens: others }: ReadRow): number {
  const end = Math.min(most, others.length);
  let count = 0;
  while (count < end && tokens[count] === others[count]) count++;
  return count;
}

const left = ({ tokens, position }: ReadRow): number => tokens.length - position;

/** Tokens per row that make the call worth most: useful tokens over what the call costs. */
export function chooseCount(rows: readonly ReadRow[], callCost = CALL_COST, least = 1): number {
  let best = least;
  let rate = 0;
  for (const count of COUNTS) {
    if (count < least) continue;
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
function point(logits: Float32Array, { tokens, position }: ReadRow, old: number, { weights, time, amount }: Pointer): void {
  for (let place = 0; place < position; place++) {
    const token = tokens[place]!;
    const weight = weights[place < old ? place : time + place - old]!;
    logits[token]! += amount * weight;
  }
}

/** The new keys and values: all in one, or by name. */
function freshNumbers(results: Feeds): Float32Array | Record<string, Float32Array> {
  if (results.new) return floats(results.new);
  const fresh: Record<string, Float32Array> = {};
  for (const [name, result] of Object.entries(results)) if (name.startsWith('new.')) fresh[name.slice(4)] = floats(result);
  return fresh;
}

function need(results: Feeds, name: string): Value {
  const result = results[name];
  if (!result) throw new Error(`The model gave no "${name}"`);
  return result;
}
