// Reads GGUF files (versions 2 and 3), the format of llama.cpp: typed metadata, then the places of the tensors. Every count and
// length is checked against the file before it is used, since such files are passed around freely.

import { closeSync, fstatSync, openSync } from 'node:fs';
import { BLOCKS, bytesFor } from './numbers.ts';
import type { Format } from './numbers.ts';
import { ModelError, countOf, readFully } from './tensor-source.ts';
import type { TensorSource } from './tensor-source.ts';

export type GgufValue = number | string | boolean | readonly GgufValue[];

export interface GgufFile {
  readonly metadata: ReadonlyMap<string, GgufValue>;
  /** Under the names of the file; shapes in the order of this lab (rows first). */
  readonly tensors: ReadonlyMap<string, TensorSource>;
}

const MAGIC = 0x46554747;
const MOST_ENTRIES = 100_000;
const LONGEST_TEXT = 1 << 24;
const LONGEST_ARRAY = 5_000_000;
/** GGUF's numbers for the formats that are read here. */
export const GGUF_TYPES: Readonly<Record<number, Format>> = { 0: 'F32', 1: 'F16', 2: 'Q4_0', 8: 'Q8_0', 30: 'BF16' };

/** Reads forwards through a file, a window at a time, and never beyond its end. */
class Reader {
  readonly #handle: number;
  readonly #file: string;
  readonly #size: number;
  #window = Buffer.alloc(0);
  #start = 0;
  position = 0;

  constructor(handle: number, file: string, size: number) {
    this.#handle = handle;
    this.#file = file;
    this.#size = size;
  }

  refuse(reason: string): ModelError {
    return new ModelError(`${this.#file} is not a usable GGUF file: ${reason}`);
  }

  take(length: number): { buffer: Buffer; at: number } {
    if (this.position + length > this.#size)
      throw this.refuse(
        `it ends after ${this.#size} bytes, but its header claims to reach byte ${this.position + length}; it is truncated or lies`,
      );
    if (this.position < this.#start || this.position + length > this.#start + this.#window.length) {
      this.#window = Buffer.alloc(Math.min(Math.max(length, 1 << 20), this.#size - this.position));
      this.#start = this.position;
      readFully(this.#handle, this.#window, this.position, this.#file);
    }
    const at = this.position - this.#start;
    this.position += length;
    return { buffer: this.#window, at };
  }

  u32(): number {
    const { buffer, at } = this.take(4);
    return buffer.readUInt32LE(at);
  }

  /** A whole number of 64 bits, which must be one that JavaScript can count with. */
  u64(): number {
    const { buffer, at } = this.take(8);
    const number = buffer.readBigUInt64LE(at);
    if (number > BigInt(Number.MAX_SAFE_INTEGER)) throw this.refuse(`byte ${this.position - 8} claims the number ${number}`);
    return Number(number);
  }

  text(): string {
    const length = this.u64();
    if (length > LONGEST_TEXT) throw this.refuse(`a text of ${length} bytes`);
    const { buffer, at } = this.take(length);
    return buffer.toString('utf8', at, at + length);
  }

  value(type: number, depth = 0): GgufValue {
    if (type === 8) return this.text();
    if (type === 9) {
      if (depth > 2) throw this.refuse('lists within lists within lists');
      const of = this.u32();
      const length = this.u64();
      if (length > LONGEST_ARRAY) throw this.refuse(`a list of ${length} entries`);
      return Array.from({ length }, () => this.value(of, depth + 1));
    }
    return this.#scalar(type);
  }

  #scalar(type: number): number | boolean {
    const size = [1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8][type];
    if (!size) throw this.refuse(`metadata of the unknown type ${type}`);
    const { buffer, at } = this.take(size);
    switch (type) {
      case 0:
        return buffer.readUInt8(at);
      case 1:
        return buffer.readInt8(at);
      case 2:
        return buffer.readUInt16LE(at);
      case 3:
        return buffer.readInt16LE(at);
      case 4:
        return buffer.readUInt32LE(at);
      case 5:
        return buffer.readInt32LE(at);
      case 6:
        return buffer.readFloatLE(at);
      case 7:
        return buffer.readUInt8(at) !== 0;
      case 10:
        return Number(buffer.readBigUInt64LE(at));
      case 11:
        return Number(buffer.readBigInt64LE(at));
      default:
        return buffer.readDoubleLE(at);
    }
  }
}

export function readGguf(file: string): GgufFile {
  const handle = openSync(file, 'r');
  try {
    const { size } = fstatSync(handle);
    return parse(new Reader(handle, file, size), file, size);
  } finally {
    closeSync(handle);
  }
}

function parse(reader: Reader, file: string, size: number): GgufFile {
  if (size < 24 || reader.u32() !== MAGIC) throw reader.refuse('it does not begin with "GGUF"');
  const version = reader.u32();
  if (version !== 2 && version !== 3) throw reader.refuse(`its version is ${version}; expected 2 or 3`);
  const [tensorCount, entryCount] = [reader.u64(), reader.u64()];
  if (tensorCount > MOST_ENTRIES || entryCount > MOST_ENTRIES)
    throw reader.refuse(`it claims ${tensorCount} tensors and ${entryCount} entries of metadata; no model has more than ${MOST_ENTRIES}`);
  const metadata = new Map<string, GgufValue>();
  for (let i = 0; i < entryCount; i++) {
    const key = reader.text();
    metadata.set(key, reader.value(reader.u32()));
  }
  const infos = Array.from({ length: tensorCount }, () => tensorInfo(reader));
  const alignment = metadata.get('general.alignment') ?? 32;
  if (typeof alignment !== 'number' || !(alignment >= 1 && alignment <= 65_536))
    throw reader.refuse(`its alignment is ${String(alignment)}`);
  const start = Math.ceil(reader.position / alignment) * alignment;
  return { metadata, tensors: placed(infos, file, start, size, reader) };
}

interface Info {
  readonly name: string;
  readonly shape: readonly number[];
  readonly type: number;
  readonly offset: number;
}

function tensorInfo(reader: Reader): Info {
  const name = reader.text();
  const rank = reader.u32();
  if (rank > 4) throw reader.refuse(`the tensor ${JSON.stringify(name)} has ${rank} dimensions`);
  const shape = Array.from({ length: rank }, () => reader.u64()).toReversed();
  return { name, shape, type: reader.u32(), offset: reader.u64() };
}

function placed(infos: readonly Info[], file: string, start: number, size: number, reader: Reader): Map<string, TensorSource> {
  const tensors = new Map<string, TensorSource>();
  for (const { name, shape, type, offset } of infos) {
    const format = GGUF_TYPES[type];
    if (!format)
      throw reader.refuse(
        `the tensor ${JSON.stringify(name)} has GGUF type ${type}; supported are F32, F16, BF16, Q8_0 and Q4_0 (K-quants are not)`,
      );
    const count = countOf(shape);
    if (!Number.isSafeInteger(count) || (shape.at(-1) ?? 1) % BLOCKS[format].numbers !== 0)
      throw reader.refuse(`the tensor ${JSON.stringify(name)} ${format} has the impossible shape [${shape.join(', ')}]`);
    const bytes = bytesFor(format, count);
    if (start + offset + bytes > size)
      throw reader.refuse(`the tensor ${JSON.stringify(name)} needs ${bytes} bytes from byte ${start + offset}, but the file has ${size}`);
    if (tensors.has(name)) throw reader.refuse(`it lists the tensor ${JSON.stringify(name)} twice`);
    tensors.set(name, { name, shape, format, file, offset: start + offset, bytes });
  }
  const places = [...tensors.values()].sort((a, b) => a.offset - b.offset);
  for (const [i, { name, offset, bytes }] of places.entries()) {
    const next = places[i + 1];
    if (next && next.offset < offset + bytes)
      throw reader.refuse(`the tensors ${JSON.stringify(name)} and ${JSON.stringify(next.name)} overlap`);
  }
  return tensors;
}
