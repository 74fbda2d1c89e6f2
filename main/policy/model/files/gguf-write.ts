// Writes GGUF files (version 3), for whole models and for stand-alone adapters, so that what was trained here runs in llama.cpp. Tensors are
// float32 unless they come encoded.

import { writeAll, writeAtomically } from '../../../engine/runtime/atomic-file.ts';
import type { NewTensor } from './safetensors.ts';
import { countOf } from './tensor-source.ts';

/** Metadata with the types that llama.cpp expects. */
export type GgufEntry =
  | { readonly type: 'text'; readonly value: string }
  | { readonly type: 'count' | 'float'; readonly value: number }
  | { readonly type: 'texts'; readonly value: readonly string[] }
  | { readonly type: 'integers'; readonly value: readonly number[] };

/** A tensor in one of GGML's own formats, as bytes. */
export interface EncodedTensor {
  readonly name: string;
  readonly shape: readonly number[];
  /** GGML's number of the format. */
  readonly format: number;
  readonly bytes: number;
  readonly parts: () => Iterable<Uint8Array>;
}

const ALIGNMENT = 32;
const F32 = 0;

const encoded = (tensor: NewTensor | EncodedTensor): EncodedTensor => {
  if ('parts' in tensor) return tensor;
  const { name, shape, numbers } = tensor;
  return {
    name,
    shape,
    format: F32,
    bytes: 4 * countOf(shape),
    *parts() {
      for (const part of numbers()) yield new Uint8Array(part.buffer, part.byteOffset, part.byteLength);
    },
  };
};

/** The file appears only when it is complete. */
export function writeGguf(file: string, metadata: ReadonlyMap<string, GgufEntry>, given: readonly (NewTensor | EncodedTensor)[]): void {
  const tensors = given.map(encoded);
  const parts = [Buffer.from('GGUF'), u32(3), u64(tensors.length), u64(metadata.size)];
  for (const [key, entry] of metadata) parts.push(text(key), encode(entry));
  let offset = 0;
  for (const { name, shape, format, bytes } of tensors) {
    parts.push(text(name), u32(shape.length), ...shape.toReversed().map(u64), u32(format), u64(offset));
    offset += padded(bytes);
  }
  const header = Buffer.concat(parts);
  writeAtomically(file, `${file}.${process.pid}.partial`, (handle) => {
    writeAll(handle, Buffer.concat([header, Buffer.alloc(padded(header.length) - header.length)]));
    for (const { bytes, parts: partsOf } of tensors) {
      for (const part of partsOf()) writeAll(handle, part);
      writeAll(handle, Buffer.alloc(padded(bytes) - bytes));
    }
  });
}

const padded = (bytes: number): number => Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function u64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([u64(bytes.length), bytes]);
}

/** The number of the type, then the value. */
function encode(entry: GgufEntry): Buffer {
  switch (entry.type) {
    case 'text':
      return Buffer.concat([u32(8), text(entry.value)]);
    case 'count':
      return Buffer.concat([u32(4), u32(entry.value)]);
    case 'float': {
      const bytes = Buffer.alloc(4);
      bytes.writeFloatLE(entry.value);
      return Buffer.concat([u32(6), bytes]);
    }
    case 'texts':
      return Buffer.concat([u32(9), u32(8), u64(entry.value.length), ...entry.value.map(text)]);
    case 'integers': {
      const bytes = Buffer.alloc(4 * entry.value.length);
      for (const [i, value] of entry.value.entries()) bytes.writeInt32LE(value, 4 * i);
      return Buffer.concat([u32(9), u32(5), u64(entry.value.length), bytes]);
    }
  }
}
