// Keys and values of what each row has read, as [row, head, time, channel]. All rows share one length of time, which grows
// and shrinks in steps; what lies beyond a row's position is masked by whoever reads. A row that leaves is overwritten by
// the last one, so the rows in use are always the first ones and are handed over without a copy.

import { at } from '../../base/indexed.ts';
import { float } from '../../engine/runtime/session.ts';
import type { Value } from '../../engine/runtime/session.ts';
import type { Stream } from './sampling-graph.ts';

/** Time grows by this much: larger wastes attention on empty places, smaller copies more often. */
export const TIME_STEP = 32;
const FEW = 96;

export class Cache {
  readonly #streams: readonly Stream[];
  readonly #capacity: number;
  readonly #shared: boolean;
  #data: Float32Array[];
  #time = TIME_STEP;

  /** `shared`: other threads read the memory as well. */
  constructor(streams: readonly Stream[], capacity: number, shared = false) {
    this.#streams = streams;
    this.#capacity = capacity;
    this.#shared = shared;
    this.#data = this.#empty();
  }

  /** Gives everything beyond the smallest size back. */
  release(): void {
    this.#time = TIME_STEP;
    this.#data = this.#empty();
  }

  #empty(): Float32Array[] {
    return this.#streams.map(({ heads, size }) => this.#numbers(this.#capacity * heads * TIME_STEP * size));
  }

  #numbers(length: number): Float32Array {
    return new Float32Array(
      this.#shared
        ? new SharedArrayBuffer(length * Float32Array.BYTES_PER_ELEMENT)
        : new ArrayBuffer(length * Float32Array.BYTES_PER_ELEMENT),
    );
  }

  /** Places per row; positions beyond what was appended hold old or no numbers. */
  get time(): number {
    return this.#time;
  }

  /** Bytes of the arrays that `fit` would make, beyond those they replace. */
  growth(needed: number): number {
    const time = timeFor(needed);
    const longer = this.#streams.map(({ heads, size }, i) => {
      const { length } = at(this.#data, i);
      return roomyLength(length, this.#capacity * heads * time * size) - length;
    });
    return longer.reduce((sum, numbers) => sum + numbers * Float32Array.BYTES_PER_ELEMENT, 0);
  }

  /** Makes room for positions below `needed` in the first `rows` rows, or gives room back. */
  fit(needed: number, rows: number): void {
    const time = timeFor(needed);
    if (time === this.#time || (time < this.#time && 2 * time > this.#time)) return;
    const kept = Math.min(time, this.#time);
    for (const [i, { heads, size }] of this.#streams.entries()) {
      const data = this.#roomy(i, this.#capacity * heads * time * size);
      const lanes = rows * heads;
      for (let k = 0; k < lanes; k++) {
        const lane = time > this.#time ? lanes - 1 - k : k; // such that no lane is overwritten before it has moved
        const start = lane * this.#time * size;
        data.copyWithin(lane * time * size, start, start + kept * size);
      }
    }
    this.#time = time;
  }

  /** What so many rows from `first` on have read, for the graph to look at. */
  values(first: number, rows: number): Record<string, Value> {
    const values: Record<string, Value> = {};
    for (const [i, { name, heads, size }] of this.#streams.entries()) {
      const row = heads * this.#time * size;
      const numbers = at(this.#data, i).subarray(first * row, (first + rows) * row);
      values[`cache.${name}`] = float(numbers, [rows, heads, this.#time, size]);
    }
    return values;
  }

  /** Copies of rows from anywhere side by side, as far as `time` only. */
  gathered(places: readonly number[], time: number): Record<string, Value> {
    const values: Record<string, Value> = {};
    for (const [i, { name, heads, size }] of this.#streams.entries()) {
      const source = at(this.#data, i);
      const numbers = this.#numbers(places.length * heads * time * size);
      for (const [k, place] of places.entries()) {
        for (let head = 0; head < heads; head++) {
          const from = (place * heads + head) * this.#time * size;
          numbers.set(source.subarray(from, from + time * size), (k * heads + head) * time * size);
        }
      }
      values[`cache.${name}`] = float(numbers, [places.length, heads, time, size]);
    }
    return values;
  }

  /**
   * Puts the first `used[row]` of `count` new tokens per row at the row's position; the row's place in the cache is `places[row]`. The results are those
   * of each stream under its name, or of all one after the other in every row.
   */
  append(
    results: Readonly<Record<string, Float32Array>> | Float32Array,
    count: number,
    places: readonly number[],
    positions: readonly number[],
    used: readonly number[],
  ): void {
    const all = results instanceof Float32Array ? count * this.#streams.reduce((sum, { heads, size }) => sum + heads * size, 0) : 0;
    let start = 0;
    for (const [i, { name, heads, size }] of this.#streams.entries()) {
      const source = results instanceof Float32Array ? results : results[name];
      const target = this.#data[i];
      if (!source || !target) throw new Error(`The model gave no new "${name}" to keep`);
      const numbers = heads * count * size;
      for (let row = 0; row < positions.length; row++) {
        const length = at(used, row) * size;
        for (let head = 0; head < heads; head++) {
          const from = start + row * (all || numbers) + head * count * size;
          const to = ((at(places, row) * heads + head) * this.#time + at(positions, row)) * size;
          // A loop for few numbers, because making two views for `set` takes longer.
          if (length > FEW) target.set(source.subarray(from, from + length), to);
          else for (let k = 0; k < length; k++) target[to + k] = source[from + k]!;
        }
      }
      if (all > 0) start += numbers;
    }
  }

  /** Row `to` becomes a copy of row `from`. */
  move(from: number, to: number): void {
    for (const [i, { heads, size }] of this.#streams.entries()) {
      const length = heads * this.#time * size;
      at(this.#data, i).copyWithin(to * length, from * length, (from + 1) * length);
    }
  }

  /** The stream's array, replaced by a longer one where it is too short. */
  #roomy(index: number, length: number): Float32Array {
    const old = at(this.#data, index);
    if (old.length >= length) return old;
    const longer = this.#numbers(roomyLength(old.length, length));
    longer.set(old);
    this.#data[index] = longer;
    return longer;
  }
}

/** The length of time that holds positions below `needed`. */
export const timeFor = (needed: number): number => Math.max(TIME_STEP, Math.ceil(needed / TIME_STEP) * TIME_STEP);

/** Grows geometrically: allocation is expensive. */
const roomyLength = (old: number, needed: number): number => (old >= needed ? old : Math.max(needed, 2 * old));
