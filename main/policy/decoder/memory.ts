// The memory of a decoder: its weights, what its lanes work in, what they hand over, and behind all that the cache, [stream, row, head, time, channel]. All rows share one
// length of time, which doubles as it grows: moving the cache costs more than room that nothing was written to. The memory itself only grows, and is given back as a whole.

import { at } from '../../base/indexed.ts';
import type { Group, ParameterLayout } from '../../engine/graph/parameters.ts';
import { pack, packedLength, roundUp, rowStride } from '../../engine/kernels/packing.ts';
import { growTo, sharedMemory } from '../../engine/runtime/shared-memory.ts';
import { embeddingRows, spellingRows } from '../text/spelling.ts';
import { rotaryAngle } from '../transformer/transformer.ts';
import { TIME_STEP, timeFor } from '../sampling/cache.ts';
import { type DecoderPlan, planWords, recordLength } from './plan.ts';

const BYTES = 4;
/** Bytes behind the cache that attention may read; what they are does not matter. */
const BEHIND = 128;

/** What depends on the number of rows. */
interface Regions {
  readonly scratch: number;
  readonly records: number;
  readonly logits: number;
  readonly pointers: number;
  readonly amounts: number;
  readonly cache: number;
}

export interface DecoderSize {
  /** Most rows. */
  readonly capacity: number;
  readonly lanes: number;
  /** Most tokens of all rows in one call. */
  readonly tokens: number;
}

export class DecoderMemory {
  readonly memory: WebAssembly.Memory;
  readonly regions: Regions;
  readonly #plan: DecoderPlan;
  readonly #capacity: number;
  #time = TIME_STEP;
  #numbers: Float32Array;
  #words: Int32Array;

  constructor(plan: DecoderPlan, { capacity, lanes, tokens }: DecoderSize) {
    this.#plan = plan;
    this.#capacity = capacity;
    let next = plan.bytes;
    const take = (bytes: number): number => {
      const address = next;
      next = roundUp(next + bytes, 64);
      return address;
    };
    this.regions = {
      scratch: take(lanes * plan.scratchBytes),
      records: take(tokens * recordLength(plan.config) * BYTES),
      logits: take(capacity * plan.logitStride * BYTES),
      pointers: take(capacity * plan.pointerStride * BYTES),
      amounts: take(capacity * rowStride(1) * BYTES),
      cache: take(0),
    };
    this.memory = sharedMemory(this.#bytesFor(TIME_STEP));
    this.#numbers = new Float32Array(this.memory.buffer);
    this.#words = new Int32Array(this.memory.buffer);
    this.#writePlan();
    this.#fillRotary();
  }

  get numbers(): Float32Array {
    return this.#numbers;
  }

  get words(): Int32Array {
    return this.#words;
  }

  /** Places per row. */
  get time(): number {
    return this.#time;
  }

  /** Bytes that `fit` would add. */
  growth(needed: number): number {
    return Math.max(0, this.#bytesFor(this.#timeFor(needed)) - this.memory.buffer.byteLength);
  }

  /** Makes room for positions below `needed` in the first `rows` rows; where there is none, time becomes short again. */
  fit(needed: number, rows: number): void {
    const time = this.#timeFor(needed);
    if (time === this.#time || (time < this.#time && rows > 0)) return;
    growTo(this.memory, this.#bytesFor(time));
    this.#numbers = new Float32Array(this.memory.buffer);
    this.#words = new Int32Array(this.memory.buffer);
    const before = this.#time;
    const [from, to] = [this.#streamStarts(before), this.#streamStarts(time)];
    for (const [stream, heads] of [...this.#plan.streamHeads.entries()].reverse()) {
      const size = at(this.#plan.streamSizes, stream) / heads;
      // From the last to the first, such that none is overwritten before it has moved.
      for (let line = rows * heads - 1; line >= 0; line--) {
        const start = at(from, stream) / BYTES + line * before * size;
        this.#numbers.copyWithin(at(to, stream) / BYTES + line * time * size, start, start + before * size);
      }
    }
    this.#time = time;
    this.#writePlan();
  }

  /** Row `to` becomes a copy of row `from`. */
  move(from: number, to: number): void {
    for (const [stream, start] of this.#streamStarts(this.#time).entries()) {
      const length = this.#time * at(this.#plan.streamSizes, stream);
      const first = start / BYTES;
      this.#numbers.copyWithin(first + to * length, first + from * length, first + (from + 1) * length);
    }
  }

  /** Takes the weights over, rearranged. */
  load(layout: ParameterLayout, weights: Readonly<Record<Group, Float32Array>>): void {
    const { matrices, vectors, embedding, config } = this.#plan;
    const { width, vocabulary } = config;
    const table = this.#numbers.subarray(embedding / BYTES, embedding / BYTES + vocabulary * width);
    this.#embed(table, layout.view(weights, 'embedding'));
    for (const { address, name } of vectors) this.#numbers.set(layout.view(weights, name), address / BYTES);
    for (const { address, inputs, outputs, parts } of matrices) {
      const packed = this.#numbers.subarray(address / BYTES, address / BYTES + packedLength(inputs, outputs));
      for (const { name, first } of parts) {
        const matrix = name === 'embedding' ? table : layout.view(weights, name);
        pack(packed, matrix, columnsOf(layout, name), inputs, first);
      }
    }
  }

  /** One vector a token; a spelled one is the sum of its letters'. */
  #embed(table: Float32Array, embedding: Float32Array): void {
    const { spellings, width } = this.#plan.config;
    if (!spellings) return table.set(embedding);
    table.fill(0);
    if (embedding.length !== embeddingRows(spellings) * width) throw new RangeError('The embedding does not fit the spellings');
    for (const [token, rows] of spellingRows(spellings).entries())
      for (const row of rows) for (let i = 0; i < width; i++) table[token * width + i]! += embedding[row * width + i]!;
  }

  #fillRotary(): void {
    const { rotary, config } = this.#plan;
    const half = config.width / config.heads / 2;
    for (let position = 0; position < config.contextLength; position++) {
      const start = rotary / BYTES + position * 2 * half;
      for (let i = 0; i < half; i++) {
        const angle = rotaryAngle(position, i, half);
        this.#numbers[start + i] = Math.cos(angle);
        this.#numbers[start + half + i] = Math.sin(angle);
      }
    }
  }

  #timeFor(needed: number): number {
    const most = timeFor(this.#plan.config.contextLength);
    return Math.min(most, TIME_STEP * 2 ** Math.ceil(Math.log2(Math.max(1, needed / TIME_STEP))));
  }

  #streamStarts(time: number): number[] {
    let next = this.regions.cache;
    return this.#plan.streamSizes.map((size) => {
      const start = next;
      next += this.#capacity * time * size * BYTES;
      return start;
    });
  }

  #writePlan(): void {
    this.#words.set(planWords(this.#plan, this.#streamStarts(this.#time), this.#time), this.#plan.address / BYTES);
  }

  #bytesFor(time: number): number {
    return this.regions.cache + cacheBytes(this.#plan, this.#capacity, time) + BEHIND;
  }
}

export const cacheBytes = ({ streamSizes }: DecoderPlan, capacity: number, time: number): number =>
  capacity * time * streamSizes.reduce((sum, size) => sum + size, 0) * BYTES;

function columnsOf(layout: ParameterLayout, name: string): number {
  const columns = layout.specs.find((spec) => spec.name === name)?.shape[1];
  if (columns === undefined) throw new Error(`The parameter "${name}" is no matrix`);
  return columns;
}
