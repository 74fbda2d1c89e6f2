// What may be drawn, as rows of a table on the device: a call names a row's mask by its number. A mask is sent once, when it first occurs,
// as bits (24 in a number); equal masks share a row. When the table is full, it is begun anew.

import type { DeviceBuffers } from '../../engine/gpu/device-buffers.ts';
import { Graph } from '../../engine/graph/graph.ts';
import * as op from '../../engine/graph/operators.ts';
import { Session, float, integer } from '../../engine/runtime/session.ts';
import type { SessionOptions, Value } from '../../engine/runtime/session.ts';
import type { TokenMask } from '../text/grammar-mask.ts';

/** Bits that a float32 holds exactly. */
const BITS = 24;
const FIRST_ROWS = 64;
/** Numbers in the largest table: 64 MB. */
const MOST_NUMBERS = 2 ** 24;

export class DeviceMasks {
  readonly #vocabulary: number;
  readonly #options: SessionOptions;
  readonly #buffers: DeviceBuffers;
  readonly #mostRows: number;
  readonly #rowOf = new Map<TokenMask | undefined, number>();
  readonly #byContent = new Map<string, number>();
  /** Masks that have a number, but are not on the device yet. */
  #fresh: { row: number; allowed: Int32Array | undefined }[] = [];
  #table: Value | undefined;
  #rows = 0;
  #writer: Session | undefined;

  constructor(vocabulary: number, options: SessionOptions, buffers: DeviceBuffers) {
    this.#vocabulary = vocabulary;
    this.#options = options;
    this.#buffers = buffers;
    this.#mostRows = Math.max(64, Math.floor(MOST_NUMBERS / vocabulary));
  }

  /** The numbers of the masks of one call (undefined: everything is allowed), and the table that has them. */
  async numbers(masks: readonly (TokenMask | undefined)[]): Promise<{ numbers: Int32Array; table: Value }> {
    if (this.#byContent.size + masks.length > this.#mostRows) this.#forget();
    const numbers = Int32Array.from(masks, (mask) => this.#number(mask));
    return { numbers, table: await this.#current() };
  }

  async dispose(): Promise<void> {
    this.#forget();
    if (this.#table) this.#buffers.free(this.#table);
    this.#table = undefined;
    this.#rows = 0;
    await this.#writer?.dispose();
    this.#writer = undefined;
  }

  #forget(): void {
    this.#rowOf.clear();
    this.#byContent.clear();
    this.#fresh = [];
  }

  #number(mask: TokenMask | undefined): number {
    const cached = this.#rowOf.get(mask);
    if (cached !== undefined) return cached;
    const content = mask ? mask.allowed.join(',') : 'everything';
    let row = this.#byContent.get(content);
    if (row === undefined) {
      row = this.#byContent.size;
      this.#byContent.set(content, row);
      this.#fresh.push({ row, allowed: mask?.allowed });
    }
    // Masks by identity are many where worlds make a grammar for every page; they are looked up by content again after a while.
    if (this.#rowOf.size > 4 * this.#mostRows) this.#rowOf.clear();
    this.#rowOf.set(mask, row);
    return row;
  }

  async #current(): Promise<Value> {
    const table = await this.#roomy(this.#byContent.size);
    if (this.#fresh.length === 0) return table;
    const fresh = this.#fresh;
    this.#fresh = [];
    const words = Math.ceil(this.#vocabulary / BITS);
    const bits = new Float32Array(fresh.length * words);
    for (const [i, { allowed }] of fresh.entries()) {
      for (const token of allowed ?? Array.from({ length: this.#vocabulary }, (_, id) => id))
        bits[i * words + Math.floor(token / BITS)]! += 2 ** (token % BITS);
    }
    this.#writer ??= await Session.create(writeGraph(this.#vocabulary), this.#options);
    const rows = Int32Array.from(fresh, ({ row }) => row);
    await this.#writer.run({ table, rows: integer(rows, [rows.length, 1]), bits: float(bits, [fresh.length, words]) }, { next: table });
    return table;
  }

  /** The table with room for so many rows. */
  async #roomy(rows: number): Promise<Value> {
    if (this.#table && this.#rows >= rows) return this.#table;
    const size = Math.max(FIRST_ROWS, 2 ** Math.ceil(Math.log2(rows)));
    const old = this.#table ?? (await this.#buffers.upload(float(new Float32Array(this.#vocabulary), [1, this.#vocabulary])));
    const entries = Int32Array.from({ length: size }, (_, row) => Math.min(row, Math.max(0, this.#rows - 1)));
    this.#table = await this.#buffers.choose(old, 0, entries);
    this.#buffers.free(old);
    this.#rows = size;
    return this.#table;
  }
}

/** Unpacks bits [n, words] and puts them into rows of the table, in place: 1 for what is allowed. */
function writeGraph(vocabulary: number): Graph {
  const graph = new Graph('masks');
  const words = Math.ceil(vocabulary / BITS);
  const table = graph.input('table', 'float32', ['masks', vocabulary]);
  const rows = graph.input('rows', 'int32', ['n', 1]);
  const bits = op.reshape(graph.input('bits', 'float32', ['n', words]), ['n', words, 1]);
  const shifts = Float32Array.from({ length: BITS }, (_, bit) => 2 ** -bit);
  const [whole] = graph.node(
    'Floor',
    [op.mul(bits, graph.constant(shifts, [BITS], 'float32', 'shifts'))],
    [{ shape: ['n', words, BITS], dtype: 'float32' }],
  );
  if (!whole) throw new Error('Floor gave no output');
  const [half] = graph.node('Floor', [op.mul(whole, 0.5)], [{ shape: whole.shape, dtype: 'float32' }]);
  if (!half) throw new Error('Floor gave no output');
  const unpacked = op.reshape(op.sub(whole, op.mul(half, 2)), ['n', words * BITS]);
  const [allowed] = graph.node('Slice', [unpacked], [{ shape: ['n', vocabulary], dtype: 'float32' }], {
    axis: 1,
    start: 0,
    end: vocabulary,
  });
  if (!allowed) throw new Error('Slice gave no output');
  const [next] = graph.node(
    'ScatterElements',
    [table, op.expand(rows, ['n', vocabulary]), allowed],
    [{ shape: table.shape, dtype: 'float32' }],
    {
      axis: 0,
    },
  );
  if (!next) throw new Error('ScatterElements gave no output');
  graph.output('next', next);
  return graph;
}
