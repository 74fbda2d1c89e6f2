// Reads with the decoder's program: rows of any number of new tokens go together without padding, shared out among threads by rows. A row's numbers are the same
// bit for bit alone, in any company and in any thread.

import { lanesOf } from '../../engine/runtime/lanes.ts';
import type { Flat } from '../../engine/graph/parameters.ts';
import { kernelModule } from '../../engine/kernels/load.ts';
import { rowStride } from '../../engine/kernels/packing.ts';
import { WasmProgram } from '../../engine/kernels/wasm-lanes.ts';
import type { Call } from '../../engine/kernels/wasm-lanes.ts';
import { at } from '../../base/indexed.ts';
import { networkOf } from '../transformer/network.ts';
import type { PolicyNetwork } from '../transformer/network.ts';
import type { Reader, ReadRow, SamplerOptions } from '../sampling/reader.ts';
import type { ModelConfig } from '../transformer/transformer.ts';
import { DecoderMemory, cacheBytes } from './memory.ts';
import { type DecoderPlan, RECORD, TOGETHER, decodable, planDecoder, recordLength } from './plan.ts';

const BYTES = 4;
/** Tokens that a row reads in one call at most: others should not wait longer for their next one. */
const MOST_PER_ROW = 64;
/** Multiplications in a call that are worth a second thread: waking it takes as long as some two million. */
const WORTH_A_LANE = 4e6;
/** Larger models are computed by the runtime's sessions, whose products are half again as fast: from here on that counts for more than what a call costs beside them. */
const MOST_PARAMETERS = 2.5e6;
/** A WebAssembly memory has at most 4 GiB. */
const MOST_BYTES = 3.5 * 2 ** 30;

/** Whether a model is read by a decoder; the answer must not depend on the machine, so that runs can be repeated. */
export function decodes(model: ModelConfig, capacity: number): boolean {
  if (!decodable(model)) return false;
  if (networkOf(model).layout.count > MOST_PARAMETERS) return false;
  const plan = planDecoder(model);
  return plan.bytes + cacheBytes(plan, capacity, model.contextLength) < MOST_BYTES;
}

/** What is there once something has been read. */
interface Opened {
  readonly memory: DecoderMemory;
  readonly program: WasmProgram;
}

export class DecodingReader implements Reader {
  readonly network: PolicyNetwork;
  readonly capacity: number;
  readonly #model: ModelConfig;
  readonly #plan: DecoderPlan;
  readonly #weights: Flat;
  readonly #options: SamplerOptions;
  #opened: Opened | undefined;
  #loaded = false;

  constructor(model: ModelConfig, weights: Flat, options: SamplerOptions = {}) {
    this.network = networkOf(model);
    this.capacity = options.capacity ?? 64;
    this.#model = model;
    this.#plan = planDecoder(model);
    this.#weights = weights;
    this.#options = options;
  }

  /** Nothing has been read, and the weights may have changed. */
  begin(): void {
    this.#opened?.memory.fit(0, 0);
    this.#loaded = false;
  }

  copy(from: number, to: number): void {
    this.#opened?.memory.move(from, to);
  }

  async dispose(): Promise<void> {
    await this.#opened?.program.dispose();
    this.#opened = undefined;
    this.#loaded = false;
  }

  async read<Row extends ReadRow>(rows: readonly Row[], arrived: (row: Row, logits: Float32Array) => void): Promise<void> {
    const { memory, program } = this.#opened ?? (await this.#open());
    if (!this.#loaded) memory.load(this.network.layout, this.#weights);
    this.#loaded = true;
    const used = rows.map(({ tokens, position }) => Math.min(MOST_PER_ROW, tokens.length - position));
    await this.#makeRoom(memory, rows, used);
    await program.run(this.#shares(memory, rows, used));

    const { vocabulary } = this.network;
    let logits = memory.regions.logits / BYTES;
    let index = 0;
    for (const [i, row] of rows.entries()) {
      row.position += at(used, i);
      if (row.position < row.tokens.length) continue;
      const own = memory.numbers.subarray(logits, logits + vocabulary);
      if (this.#model.aids.pointer) this.#point(memory, own, row, index);
      logits += this.#plan.logitStride;
      index++;
      arrived(row, own);
    }
  }

  async #open(): Promise<Opened> {
    const tokens = this.capacity * MOST_PER_ROW;
    const memory = new DecoderMemory(this.#plan, { capacity: this.capacity, lanes: lanesOf(this.#options.threads), tokens });
    this.#opened = { memory, program: await WasmProgram.open(kernelModule('decoder'), 'decode', memory.memory) };
    return this.#opened;
  }

  async #makeRoom(memory: DecoderMemory, rows: readonly ReadRow[], used: readonly number[]): Promise<void> {
    let needed = 0;
    for (const [i, { position }] of rows.entries()) needed = Math.max(needed, position + at(used, i));
    const growth = memory.growth(needed);
    if (growth > 0) await this.#options.pool?.makeRoom(growth);
    memory.fit(needed, rows.length);
  }

  /** Writes the tokens' records, row by row, and says which thread computes which of them. */
  #shares(memory: DecoderMemory, rows: readonly ReadRow[], used: readonly number[]): Call[][] {
    const total = used.reduce((sum, count) => sum + count, 0);
    const worth = Math.floor((total * this.network.layout.count) / WORTH_A_LANE);
    const lanes = Math.max(1, Math.min(lanesOf(this.#options.threads), worth, rows.length));
    const shares: Call[][] = Array.from({ length: lanes }, () => []);
    let [first, wanted, lane, token] = [0, 0, 0, 0];
    let begun = { token: 0, wanted: 0 };
    const close = (): void => {
      if (token > begun.token) at(shares, lane).push(this.#call(memory, lane, begun, { token, wanted }));
      begun = { token, wanted };
    };
    for (const [i, row] of rows.entries()) {
      const count = at(used, i);
      if (lane + 1 < lanes && first + count / 2 > ((lane + 1) * total) / lanes) {
        close();
        lane++;
      }
      first += count;
      for (let k = 0; k < count; k++) {
        if (token - begun.token === TOGETHER) close();
        const last = row.position + k + 1 === row.tokens.length;
        this.#record(memory, token++, i, row, row.position + k, last);
        if (last) wanted++;
      }
    }
    close();
    return shares;
  }

  #call(memory: DecoderMemory, lane: number, from: Progress, to: Progress): Call {
    const { scratch, records, logits, pointers, amounts } = memory.regions;
    const { scratchBytes, logitStride, pointerStride } = this.#plan;
    return [
      this.#plan.address,
      scratch + lane * scratchBytes,
      records + from.token * recordLength(this.#model) * BYTES,
      to.token - from.token,
      to.wanted - from.wanted,
      logits + from.wanted * logitStride * BYTES,
      pointers + from.wanted * pointerStride * BYTES,
      amounts + from.wanted * rowStride(1) * BYTES,
    ];
  }

  #record(
    { words, numbers, regions, time }: DecoderMemory,
    index: number,
    row: number,
    read: ReadRow,
    position: number,
    last: boolean,
  ): void {
    const { width, vocabulary, aids } = this.#model;
    const start = regions.records / BYTES + index * recordLength(this.#model);
    words[start + RECORD.rowStart] = row * time;
    words[start + RECORD.position] = position;
    words[start + RECORD.last] = last ? 1 : 0;
    for (let back = 0; back <= aids.tokenShift; back++) {
      const place = position - back;
      const at = start + RECORD.seen + 2 * back;
      words[at] = this.#plan.embedding + (place < 0 ? vocabulary : read.tokens[place]!) * width * BYTES;
      numbers[at + 1] = place < 0 ? 0 : read.flags[place]!;
    }
  }

  /** Adds the pointer's share to the logits of the tokens it looks at. */
  #point({ numbers, regions }: DecoderMemory, logits: Float32Array, { tokens, position }: ReadRow, index: number): void {
    const weights = regions.pointers / BYTES + index * this.#plan.pointerStride;
    const amount = numbers[regions.amounts / BYTES + index * rowStride(1)]! + numbers[this.#plan.pointer.amount / BYTES]!;
    for (let place = 0; place < position; place++) logits[tokens[place]!]! += amount * numbers[weights + place]!;
  }
}

/** How many tokens there were, and how many of those whose logits are wanted. */
interface Progress {
  readonly token: number;
  readonly wanted: number;
}
