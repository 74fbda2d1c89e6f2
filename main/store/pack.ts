// Packs the numbers of an episode's tokens into one small blob and back, without loss (but for the probabilities of
// alternatives, kept to 1/65535). Column by column, floats split into byte planes so that deflate finds the sameness
// of signs and exponents; many tokens are forced by the grammar (log-prob 0) and cost almost nothing.

import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { StepTokens } from '../rollout/trajectory.ts';
import { type Budget, mayInflateTo, MEGABYTE } from './limits.ts';

const FORMAT = 1;
/** Several episodes in one blob. */
const BLOCK_FORMAT = 2;
const BLOCK_BYTES = 32 * 1024;

/**
 * What the store deflates comes in pieces of a few hundred bytes, so most of the time goes into setting up: the window and the output are kept
 * small. Level 3 instead of 6 makes them about 1% larger. Whatever the settings were, `inflateRawSync` reads it.
 */
export function deflate(bytes: Uint8Array): Buffer {
  return deflateRawSync(bytes, { level: 3, memLevel: 5, windowBits: 13, chunkSize: Math.max(256, bytes.length + 64) });
}

/** Inflates to at most `most` bytes. */
export function inflate(bytes: Uint8Array, most: number, what: string): Buffer {
  try {
    return inflateRawSync(bytes, { maxOutputLength: most, chunkSize: Math.max(256, Math.min(most, 8 * bytes.length, 65_536)) });
  } catch {
    throw new RangeError(`${what} is damaged, or inflates to more than ${most} bytes`);
  }
}

const FLOAT_COLUMNS = ['logProbs', 'referenceLogProbs', 'entropies', 'values', 'advantages'] as const;
type Column = 'ids' | 'topIds' | (typeof FLOAT_COLUMNS)[number];

/** Growing byte buffer with the few encodings the store needs. */
export class ByteWriter {
  #bytes = new Uint8Array(1024);
  #view = new DataView(this.#bytes.buffer);
  #length = 0;

  #room(count: number): number {
    const at = this.#length;
    this.#length += count;
    if (this.#length > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(this.#length, this.#bytes.length * 2));
      grown.set(this.#bytes);
      this.#bytes = grown;
      this.#view = new DataView(grown.buffer);
    }
    return at;
  }

  byte(value: number): void {
    const at = this.#room(1);
    this.#bytes[at] = value;
  }

  /** Unsigned, 7 bits a byte. */
  varint(value: number): void {
    let rest = value;
    while (rest >= 0x80) {
      this.byte((rest % 0x80) | 0x80);
      rest = Math.floor(rest / 0x80);
    }
    this.byte(rest);
  }

  float32(value: number): void {
    const at = this.#room(4);
    this.#view.setFloat32(at, value, true);
  }

  float64(value: number): void {
    const at = this.#room(8);
    this.#view.setFloat64(at, value, true);
  }

  /** A column of all steps, all first bytes, then all second bytes, …: neighbours look alike. */
  planes(steps: readonly StepTokens[], column: Column): void {
    let count = 0;
    for (const step of steps) count += step[column].length;
    const at = this.#room(4 * count);
    const bytes = this.#bytes;
    let i = at;
    for (const step of steps) {
      const values = step[column];
      const bits = values instanceof Int32Array ? values : new Int32Array(values.buffer, values.byteOffset, values.length);
      for (let k = 0; k < bits.length; k++, i++) {
        // A byte array takes the lowest eight bits.
        const value = bits[k]!;
        bytes[i] = value;
        bytes[i + count] = value >>> 8;
        bytes[i + 2 * count] = value >>> 16;
        bytes[i + 3 * count] = value >>> 24;
      }
    }
  }

  /** The alternatives' probabilities as whole 65535ths, low bytes before high ones. */
  shares(steps: readonly StepTokens[]): void {
    let count = 0;
    for (const step of steps) count += step.topProbs.length;
    let i = this.#room(2 * count);
    for (const { topProbs } of steps) {
      for (let k = 0; k < topProbs.length; k++, i++) {
        const share = Math.round(topProbs[k]! * 65535);
        this.#bytes[i] = share;
        this.#bytes[i + count] = share >>> 8;
      }
    }
  }

  get length(): number {
    return this.#length;
  }

  /** Begins again; what `bytes` gave is no longer valid. */
  clear(): void {
    this.#length = 0;
  }

  bytes(): Buffer {
    return Buffer.from(this.#bytes.buffer, 0, this.#length);
  }
}

export class ByteReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Bytes that were not read yet. */
  get left(): number {
    return this.#bytes.length - this.#at;
  }

  get done(): boolean {
    return this.#at >= this.#bytes.length;
  }

  byte(): number {
    return this.#view.getUint8(this.#at++);
  }

  varint(): number {
    let value = 0;
    let scale = 1;
    for (;;) {
      const next = this.byte();
      value += (next & 0x7f) * scale;
      if (next < 0x80) return value;
      scale *= 0x80;
    }
  }

  float32(): number {
    this.#at += 4;
    return this.#view.getFloat32(this.#at - 4, true);
  }

  float64(): number {
    this.#at += 8;
    return this.#view.getFloat64(this.#at - 8, true);
  }

  planes<T extends Float32Array | Int32Array | Uint16Array>(values: T): T {
    const target = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
    const width = values.BYTES_PER_ELEMENT;
    if (this.#at + target.length > this.#bytes.length) throw new RangeError('The packed data ends too early');
    for (let plane = 0; plane < width; plane++) {
      const base = this.#at + plane * values.length;
      for (let i = 0; i < values.length; i++) target[i * width + plane] = this.#bytes[base + i] ?? 0;
    }
    this.#at += target.length;
    return values;
  }
}

/** The numbers of an episode's steps as bytes, not yet deflated. */
function writeTokens(into: ByteWriter, steps: readonly StepTokens[]): void {
  into.varint(steps.length);
  for (const step of steps) {
    into.varint(step.ids.length);
    // A column may be empty (no critic, not scored): one bit each. Alternatives: how many a token.
    let present = 0;
    FLOAT_COLUMNS.forEach((column, bit) => {
      const length = step[column].length;
      if (length !== 0 && length !== step.ids.length) {
        throw new RangeError(`A step has ${step.ids.length} tokens but ${length} ${column}; expected as many, or none`);
      }
      if (length > 0) present |= 1 << bit;
    });
    into.byte(present);
    const top = step.ids.length === 0 ? 0 : step.topIds.length / step.ids.length;
    if (!Number.isInteger(top) || step.topIds.length !== step.topProbs.length) {
      throw new RangeError(
        `A step has ${step.ids.length} tokens, ${step.topIds.length} alternative ids and ${step.topProbs.length} probabilities; expected a multiple`,
      );
    }
    into.byte(top);
  }
  into.planes(steps, 'ids');
  for (const column of FLOAT_COLUMNS) into.planes(steps, column);
  into.planes(steps, 'topIds');
  into.shares(steps);
}

/** One blob for all steps of an episode. */
export function packTokens(steps: readonly StepTokens[]): Buffer {
  const writer = new ByteWriter();
  writeTokens(writer, steps);
  return Buffer.concat([Uint8Array.of(FORMAT), deflate(writer.bytes())]);
}

/** Several episodes in one blob, deflated together: small episodes cost more to begin than to deflate. Read one by one with `unpackFrom`. */
export class TokenBlock {
  readonly #writer = new ByteWriter();
  #ends: number[] = [];

  add(steps: readonly StepTokens[]): void {
    writeTokens(this.#writer, steps);
    this.#ends.push(this.#writer.length);
  }

  get episodes(): number {
    return this.#ends.length;
  }

  /** Whether the next episode should begin another one: to read an episode its block is inflated whole. */
  get full(): boolean {
    return this.#writer.length >= BLOCK_BYTES;
  }

  /** The blob; the block is empty again afterwards. */
  take(): Buffer {
    const head = new ByteWriter();
    head.varint(this.#ends.length);
    for (const [index, end] of this.#ends.entries()) head.varint(end - (this.#ends[index - 1] ?? 0));
    const blob = Buffer.concat([Uint8Array.of(BLOCK_FORMAT), deflate(Buffer.concat([head.bytes(), this.#writer.bytes()]))]);
    this.#writer.clear();
    this.#ends = [];
    return blob;
  }
}

/** Whether a blob holds several episodes. */
export const isBlock = (blob: Uint8Array): boolean => blob[0] === BLOCK_FORMAT;

/** The bytes of each episode of a block. */
export function openBlock(blob: Uint8Array): Uint8Array[] {
  const inflated = inflate(blob.subarray(1), largestTokens(blob.length), 'a block of token data');
  const reader = new ByteReader(inflated);
  const count = reader.varint();
  if (count > reader.left) throw new RangeError(`a block of ${inflated.length} bytes cannot hold ${count} episodes`);
  const sizes = Array.from({ length: count }, () => reader.varint());
  let at = inflated.length - reader.left;
  const parts = sizes.map((size) => inflated.subarray(at, (at += size)));
  if (at !== inflated.length) throw new RangeError(`a block of token data promises ${at} bytes and has ${inflated.length}`);
  return parts;
}

/** What a blob of this size may hold; forced tokens cost almost nothing, so much more than it weighs. */
const largestTokens = (packed: number): number => Math.min(256 * MEGABYTE, mayInflateTo(packed, MEGABYTE, 200));

/** `budget`: what may be inflated in all, for data from elsewhere. Throws a RangeError for anything but what `packTokens` writes. */
export function unpackTokens(blob: Uint8Array, budget?: Budget): StepTokens[] {
  if (blob[0] !== FORMAT)
    throw new RangeError(`Token data of format ${blob[0]} found, ${FORMAT} expected: written by a newer Astrolab, or damaged`);
  const inflated = inflate(blob.subarray(1), Math.max(1, Math.min(largestTokens(blob.length), budget?.left ?? Infinity)), 'token data');
  budget?.spend(inflated.length);
  return readTokens(inflated);
}

/** The numbers of an episode from its inflated bytes: of a blob, or its part of a block. */
export function readTokens(inflated: Uint8Array): StepTokens[] {
  const reader = new ByteReader(inflated);
  const steps = reader.varint();
  // Each step takes three bytes at least: a count that promises more is a lie.
  if (steps * 3 > reader.left) throw new RangeError(`token data of ${inflated.length} bytes cannot hold ${steps} steps`);
  const shapes = Array.from({ length: steps }, () => ({ tokens: reader.varint(), present: reader.byte(), top: reader.byte() }));
  const sum = (size: (shape: (typeof shapes)[number]) => number): number => shapes.reduce((total, shape) => total + size(shape), 0);
  const promised = sum((s) => s.tokens * (4 + 6 * s.top));
  if (promised > reader.left) throw new RangeError(`token data of ${inflated.length} bytes cannot hold ${sum((s) => s.tokens)} tokens`);
  const ids = reader.planes(new Int32Array(sum((s) => s.tokens)));
  const floats = FLOAT_COLUMNS.map((_column, bit) => reader.planes(new Float32Array(sum((s) => ((s.present >> bit) & 1) * s.tokens))));
  const topIds = reader.planes(new Int32Array(sum((s) => s.tokens * s.top)));
  const topProbs = Float32Array.from(reader.planes(new Uint16Array(topIds.length)), (p) => p / 65535);

  const used = { ids: 0, floats: FLOAT_COLUMNS.map(() => 0), top: 0 };
  return shapes.map((shape) => {
    const column = (bit: number): Float32Array => {
      const length = ((shape.present >> bit) & 1) * shape.tokens;
      const from = used.floats[bit] ?? 0;
      used.floats[bit] = from + length;
      return floats[bit]?.slice(from, from + length) ?? new Float32Array();
    };
    const top = shape.tokens * shape.top;
    used.ids += shape.tokens;
    used.top += top;
    return {
      ids: ids.slice(used.ids - shape.tokens, used.ids),
      logProbs: column(0),
      referenceLogProbs: column(1),
      entropies: column(2),
      values: column(3),
      advantages: column(4),
      topIds: topIds.slice(used.top - top, used.top),
      topProbs: topProbs.slice(used.top - top, used.top),
    };
  });
}
