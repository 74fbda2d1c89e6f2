// Keys and values of what each row has read, in buffers on the device that the sampling graph changes in place. All rows share one length
// of time. Rows and time take few sizes, because each change of them moves everything once (on the device).

import type { DeviceBuffers } from '../../engine/gpu/device-buffers.ts';
import { elementCount } from '../../engine/graph/graph.ts';
import { integer, value } from '../../engine/runtime/session.ts';
import type { Feeds, Value } from '../../engine/runtime/session.ts';
import type { DeviceStream } from './device-graph.ts';

/** Time grows by this much. */
const STEP = 32;
const FEWEST_ROWS = 8;

/** 8, 16, 32, 64, 96, 128, …: the rows of the cache that hold so many. Idle rows travel like the others. */
export const rowBucket = (rows: number): number =>
  rows > 32 ? 32 * Math.ceil(rows / 32) : Math.max(FEWEST_ROWS, 2 ** Math.ceil(Math.log2(Math.max(1, rows))));

export class DeviceCache {
  readonly #streams: readonly DeviceStream[];
  readonly #buffers: DeviceBuffers;
  readonly #held = new Map<string, Value>();
  #times: Value | undefined;
  #rows = 0;
  #time = 0;

  constructor(streams: readonly DeviceStream[], buffers: DeviceBuffers) {
    this.#streams = streams;
    this.#buffers = buffers;
  }

  get rows(): number {
    return this.#rows;
  }

  /**
   * Makes room for so many rows and for positions below `time`. `kept` names the old rows that become the first ones, in order; all stay
   * where they are by default. What lies in places that were not written since holds old numbers, which the attention's mask leaves out.
   */
  async fit(rows: number, time: number, kept?: readonly number[]): Promise<void> {
    if (this.#held.size === 0) await this.#create();
    const size = rowBucket(rows);
    const length = Math.max(STEP, Math.ceil(time / STEP) * STEP);
    const grown = length > this.#time || 2 * length < this.#time;
    if (size !== this.#rows || kept) {
      const entries = Int32Array.from({ length: size }, (_, row) => kept?.[row] ?? Math.min(row, this.#rows - 1));
      await this.#choose(() => 0, entries);
      this.#rows = size;
    }
    if (!grown) return;
    const entries = Int32Array.from({ length }, (_, place) => Math.min(place, this.#time - 1));
    await this.#choose((stream) => stream.shape.indexOf('time'), entries);
    this.#time = length;
    const counting = Int32Array.from({ length }, (_, place) => place);
    const old = this.#times;
    this.#times = await this.#buffers.upload(integer(counting, [length]));
    if (old) this.#buffers.free(old);
  }

  /** What the graph reads, and where it writes: the same buffers. */
  bindings(): { feeds: Feeds; fetches: Feeds } {
    if (!this.#times) throw new Error('The cache has no room yet');
    const entries = [...this.#held];
    return {
      feeds: { times: this.#times, ...Object.fromEntries(entries.map(([name, buffer]) => [`cache.${name}`, buffer])) },
      fetches: Object.fromEntries(entries.map(([name, buffer]) => [`next.${name}`, buffer])),
    };
  }

  /** Gives all memory back. */
  release(): void {
    for (const buffer of this.#held.values()) this.#buffers.free(buffer);
    if (this.#times) this.#buffers.free(this.#times);
    this.#held.clear();
    this.#times = undefined;
    this.#rows = 0;
    this.#time = 0;
  }

  async #create(): Promise<void> {
    for (const { name, dtype, shape } of this.#streams) {
      const one = shape.map((size) => (typeof size === 'string' ? 1 : size));
      const length = elementCount(one);
      const zeros = dtype === 'int32' ? new Int32Array(length) : new Float32Array(length);
      this.#held.set(name, await this.#buffers.upload(value(dtype, zeros, one)));
    }
    this.#rows = 1;
    this.#time = 1;
  }

  async #choose(axis: (stream: DeviceStream) => number, entries: Int32Array): Promise<void> {
    const sent = await this.#buffers.upload(integer(entries, [entries.length]));
    for (const stream of this.#streams) {
      const old = this.#held.get(stream.name);
      if (!old) throw new Error(`The cache has no "${stream.name}"`);
      this.#held.set(stream.name, await this.#buffers.choose(old, axis(stream), sent));
      this.#buffers.free(old);
    }
    this.#buffers.free(sent);
  }
}
