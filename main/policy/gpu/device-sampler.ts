// Plays many episodes at once on a device. As sampler.ts does, but the cache, the masks and the draw are on the device: a call sends a few
// numbers per row and brings the drawn token and its numbers back. A device wants few, large calls: rows have fixed slots that waiting
// episodes take over, and a token that is the only one allowed is drawn here and read together with the next ones.

import { at } from '../../base/indexed.ts';
import { DeviceBuffers } from '../../engine/gpu/device-buffers.ts';
import { type DeviceParameters, deviceInputs } from '../../engine/gpu/device-parameters.ts';
import { NotFiniteError } from '../../engine/runtime/errors.ts';
import { Session, float, floats, integer, scalarValue } from '../../engine/runtime/session.ts';
import type { Value } from '../../engine/runtime/session.ts';
import { DeviceCache, rowBucket } from './device-cache.ts';
import { packDigits } from './device-batch.ts';
import { DRAWN_NUMBERS, readCode, tokenBase, withFlag } from './device-graph.ts';
import type { DeviceSampling } from './device-graph.ts';
import { DeviceMasks } from './device-masks.ts';
import { TOP_ALTERNATIVES, drawNumbers } from '../sampling/draw.ts';
import type { Drawn, DrawSettings } from '../sampling/draw.ts';
import { networkOf } from '../transformer/network.ts';
import type { PolicyModel, PolicyNetwork } from '../transformer/network.ts';
import { chooseCount } from '../sampling/reader.ts';
import { feedRow } from '../sampling/sampler.ts';
import type { EpisodeSampler, Row, RunOptions, SampledEpisode } from '../sampling/sampler.ts';

/** What a call costs beside its tokens, in tokens: on a device nearly everything. */
const CALL_COST = 256;
/** The largest number below 1 that stays below it when multiplied in single precision. */
const BELOW_ONE = 1 - 2 ** -22;

type Slots = (Row | undefined)[];

export class DeviceSampler implements EpisodeSampler {
  readonly #network: PolicyNetwork;
  readonly #sampling: DeviceSampling;
  readonly #parameters: DeviceParameters;
  readonly #capacity: number;
  readonly #buffers: DeviceBuffers;
  readonly #cache: DeviceCache;
  readonly #masks: DeviceMasks;
  readonly #sessions = new Map<number, Session>();
  #drawn = 0;

  constructor(model: PolicyModel, parameters: DeviceParameters, { capacity = 64 }: { readonly capacity?: number } = {}) {
    this.#network = networkOf(model);
    const { device } = this.#network;
    if (!device) throw new Error('This network cannot be sampled on a device');
    this.#sampling = device;
    this.#parameters = parameters;
    this.#capacity = capacity;
    this.#buffers = new DeviceBuffers(parameters.session);
    this.#cache = new DeviceCache(device.streams, this.#buffers);
    this.#masks = new DeviceMasks(this.#network.vocabulary, parameters.session, this.#buffers);
  }

  async run(episodes: Iterable<SampledEpisode>, settings: DrawSettings = {}, options: RunOptions = {}): Promise<void> {
    const work = async (): Promise<number> => {
      this.#drawn = 0;
      await this.#play(episodes, settings, options);
      return this.#drawn;
    };
    await (this.#parameters.session.counters?.sampling(work) ?? work());
  }

  async #play(episodes: Iterable<SampledEpisode>, settings: DrawSettings, options: RunOptions): Promise<void> {
    if (options.beam) throw new RangeError('Beam search runs on the CPU only: set device=cpu, or a beam width of 1');
    const { signal, settle = () => {}, most = this.#capacity } = options;
    const capacity = Math.min(most, this.#capacity);
    const waiting = episodes[Symbol.iterator]();
    const { greedy, minP } = drawNumbers(settings);
    if (minP > 0) throw new RangeError('min-p sampling runs on the CPU only: set device=cpu, or training.minP=0');
    const slots: Slots = [];
    this.#cache.release(); // the last episodes of the run before may have been the longest
    for (;;) {
      const exhausted = this.#join(slots, waiting, capacity, greedy);
      if (!slots.some(Boolean)) return;
      signal?.throwIfAborted();
      if (exhausted) await this.#compact(slots);
      await this.#read(slots, settings);
      const acted = slots.flatMap((row) => (row?.episode.waiting ? [row] : []));
      if (acted.length > 0) {
        settle(acted.map(({ episode }) => episode));
        for (const row of acted) if (!row.episode.done) this.#feed(row, greedy);
      }
      for (const [i, row] of slots.entries()) if (row?.episode.done) slots[i] = undefined;
    }
  }

  /** Gives its memory back; when it is used again, it takes it anew. */
  async dispose(): Promise<void> {
    this.#cache.release();
    await this.#masks.dispose();
    await this.#buffers.dispose();
    for (const session of this.#sessions.values()) await session.dispose();
    this.#sessions.clear();
  }

  /** Waiting episodes take the free slots. True when none is left. */
  #join(slots: Slots, waiting: Iterator<SampledEpisode>, capacity: number, greedy: boolean): boolean {
    for (let slot = 0; slot < capacity; slot++) {
      while (slots[slot] === undefined) {
        const { value: episode, done } = waiting.next();
        if (done) return true;
        const row: Row = { episode, tokens: [], flags: [], position: 0 };
        if (!episode.done) this.#feed(row, greedy);
        if (!episode.done) slots[slot] = row;
      }
    }
    return false;
  }

  /** When few are left, they move together and the cache becomes smaller. */
  async #compact(slots: Slots): Promise<void> {
    const kept = [...slots.keys()].filter((slot) => slots[slot]);
    if (this.#cache.rows === 0 || rowBucket(kept.length) >= this.#cache.rows) return;
    const rows = kept.map((slot) => slots[slot]);
    await this.#cache.fit(kept.length, this.#needed(rows, 1), kept);
    slots.splice(0, slots.length, ...rows);
  }

  /** What an episode has not read yet; as long as it has no choice, its next token is drawn here. */
  #feed(row: Row, greedy: boolean): void {
    const { episode } = row;
    for (;;) {
      feedRow(row, this.#network.contextLength);
      const allowed = episode.mask?.allowed;
      if (allowed?.length === 0) throw new RangeError('No token is allowed here: the mask is empty, or the action was already complete');
      const [token] = allowed ?? [];
      if (allowed?.length !== 1 || token === undefined) return;
      if (!greedy) episode.random.next(); // as if it had been drawn
      this.#drawn++;
      episode.accept({ token, logProb: 0, policyLogProb: 0, entropy: 0, top: [{ token, probability: 1 }] });
      if (episode.done || episode.waiting) return;
    }
  }

  /** Places that the cache must have for the next call. */
  #needed(rows: readonly (Row | undefined)[], count: number): number {
    return Math.max(...rows.map((row) => (row?.position ?? 0) + count));
  }

  /** One call of the model: every row reads up to `count` tokens, and those that have read all draw one. */
  async #read(slots: Slots, settings: DrawSettings): Promise<void> {
    const rows = slots.filter((row) => row !== undefined);
    const count = chooseCount(rows, CALL_COST);
    await this.#cache.fit(slots.length, this.#needed(slots, count));
    const session = await this.#session(count);
    const used = slots.map((row) => (row ? Math.min(count, row.tokens.length - row.position) : 0));
    const draws = slots.map((row, i) => row !== undefined && row.position + at(used, i) === row.tokens.length);
    const { feeds, fetches } = this.#cache.bindings();
    const results = await session.run(
      {
        ...(await this.#parameters.feeds()),
        ...(await this.#network.base?.feeds(this.#parameters.session)),
        ...feeds,
        ...this.#inputs(slots, used),
        ...(await this.#draws(slots, draws, settings)),
      },
      { ...fetches, drawn: null },
    );
    const { drawn } = results;
    if (!drawn) throw new Error('The model gave no "drawn"');
    const numbers = floats(drawn);
    const { greedy } = drawNumbers(settings);
    for (const [i, row] of slots.entries()) {
      if (!row) continue;
      row.position += at(used, i);
      if (!draws[i]) continue;
      const { episode } = row;
      this.#drawn++;
      episode.accept(readDrawn(numbers.subarray(i * DRAWN_NUMBERS, (i + 1) * DRAWN_NUMBERS)));
      if (!episode.done && !episode.waiting) this.#feed(row, greedy);
    }
  }

  /** The tokens that are read, without gaps, each row's with the few before them that they see directly. */
  #inputs(slots: Slots, used: readonly number[]): Record<string, Value> {
    const { aids, vocabulary } = this.#network;
    const rows = this.#cache.rows;
    const tokens: number[] = [];
    const starts = new Int32Array(rows);
    const reads = new Int32Array(rows);
    for (const [r, row] of slots.entries()) {
      if (!row) continue;
      const { position } = row;
      starts[r] = tokens.length;
      reads[r] = readCode(position, Math.max(0, at(used, r) - 1));
      for (let at = Math.max(0, position - aids.tokenShift); at < position + Math.max(1, used[r] ?? 0); at++) {
        tokens.push(withFlag(row.tokens[at] ?? 0, row.flags[at] ?? 0));
      }
    }
    const words = packDigits(tokens, tokenBase(vocabulary));
    return {
      words: integer(words, [words.length]),
      starts: integer(starts, [rows, 1]),
      reads: integer(reads, [rows, 1]),
    };
  }

  /** What the draw needs: a uniform number and a mask for every row that draws. */
  async #draws(slots: Slots, draws: readonly boolean[], settings: DrawSettings): Promise<Record<string, Value>> {
    const rows = this.#cache.rows;
    const { temperature, greedy } = drawNumbers(settings);
    const uniform = new Float32Array(rows);
    const wanted = Array.from({ length: rows }, (_, i) => (draws[i] ? slots[i]?.episode.mask : undefined));
    for (const [i, row] of slots.entries()) if (row && draws[i] && !greedy) uniform[i] = Math.min(BELOW_ONE, row.episode.random.next());
    const { numbers, table } = await this.#masks.numbers(wanted);
    return {
      uniform: float(uniform, [rows, 1]),
      mask: integer(numbers, [rows, 1]),
      maskTable: table,
      inverseTemperature: scalarValue(1 / temperature),
      greedy: scalarValue(Number(greedy)),
    };
  }

  async #session(count: number): Promise<Session> {
    const cached = this.#sessions.get(count);
    if (cached) return cached;
    const graph = this.#sampling.graph(count, (target) => deviceInputs(target, this.#network.layout, this.#parameters.session));
    const session = await Session.create(graph, this.#parameters.session);
    this.#sessions.set(count, session);
    return session;
  }
}

function readDrawn(numbers: Float32Array): Drawn {
  const [token = 0, logProb = 0, policyLogProb = 0, entropy = 0, ...rest] = numbers;
  if (!Number.isFinite(logProb) || !Number.isFinite(policyLogProb))
    throw new NotFiniteError(`The policy's logits are not finite (log-probability ${policyLogProb}); its weights are damaged`);
  const top = Array.from({ length: TOP_ALTERNATIVES }, (_, i) => ({ token: at(rest, i), probability: at(rest, TOP_ALTERNATIVES + i) }));
  return { token, logProb, policyLogProb, entropy, top: top.filter(({ probability }) => probability > 0) };
}
