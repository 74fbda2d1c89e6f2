// Reads the header of a safetensors file that somebody else wrote, and writes such files. Nothing of a header is believed before it was
// checked: its length, that the tensors lie inside the file, do not overlap and are as long as their shapes say.

import { closeSync, fstatSync, openSync } from 'node:fs';
import { z } from 'zod';
import { writeAll, writeAtomically } from '../../../engine/runtime/atomic-file.ts';
import { frameHeader, LONGEST_HEADER, parseHeader } from '../../../engine/runtime/safetensors-header.ts';
import { bytesFor } from './numbers.ts';
import { ModelError, countOf, readFully } from './tensor-source.ts';
import type { TensorSource } from './tensor-source.ts';

const MOST_TENSORS = 100_000;

const entrySchema = z.object({
  dtype: z.string().max(20),
  shape: z.array(z.int().min(0)).max(8),
  data_offsets: z.tuple([z.int().min(0), z.int().min(0)]),
});

/** The tensors of a file by name. Types that no weight has (integers) are kept out of the answer. */
export function readSafetensors(file: string): Map<string, TensorSource> {
  const handle = openSync(file, 'r');
  try {
    const { size } = fstatSync(handle);
    return parse(file, size, (at, length) => {
      const bytes = Buffer.alloc(length);
      readFully(handle, bytes, at, file);
      return bytes;
    });
  } finally {
    closeSync(handle);
  }
}

function parse(file: string, size: number, read: (at: number, length: number) => Buffer): Map<string, TensorSource> {
  const refuse = (reason: string): ModelError => new ModelError(`${file} is not a usable safetensors file: ${reason}`);
  if (size < 10) throw refuse(`it has ${size} bytes, and even an empty one has 10`);
  const length = read(0, 8).readBigUInt64LE(0);
  if (length > LONGEST_HEADER || length < 2n) throw refuse(`its header claims ${length} bytes; expected 2 to ${LONGEST_HEADER}`);
  const start = 8 + Number(length);
  if (start > size) throw refuse(`its header claims ${length} bytes, but the file has ${size}; it is truncated`);
  const fields = parseHeader(read(8, Number(length)), refuse);
  fields.delete('__metadata__');
  if (fields.size > MOST_TENSORS) throw refuse(`it lists ${fields.size} tensors; no model has more than ${MOST_TENSORS}`);

  const places: { name: string; begin: number; end: number }[] = [];
  const tensors = new Map<string, TensorSource>();
  for (const [name, value] of fields) {
    const parsed = entrySchema.safeParse(value);
    if (!parsed.success) throw refuse(`the tensor ${JSON.stringify(name)} is described wrongly: ${z.prettifyError(parsed.error)}`);
    const { dtype, shape, data_offsets } = parsed.data;
    const [begin, end] = data_offsets;
    if (begin > end || start + end > size)
      throw refuse(
        `the tensor ${JSON.stringify(name)} claims bytes ${begin} to ${end}, but ${size - start} are there; it is truncated or lies`,
      );
    places.push({ name, begin, end });
    if (dtype !== 'F32' && dtype !== 'F16' && dtype !== 'BF16') continue;
    const bytes = bytesFor(dtype, countOf(shape));
    if (end - begin !== bytes)
      throw refuse(`the tensor ${JSON.stringify(name)} ${dtype} [${shape.join(', ')}] needs ${bytes} bytes and is given ${end - begin}`);
    tensors.set(name, { name, shape, format: dtype, file, offset: start + begin, bytes });
  }
  places.sort((a, b) => a.begin - b.begin || a.end - b.end);
  for (const [i, { name, end }] of places.entries()) {
    const next = places[i + 1];
    if (next && next.begin < end) throw refuse(`the tensors ${JSON.stringify(name)} and ${JSON.stringify(next.name)} overlap`);
  }
  return tensors;
}

/** A tensor to be written: its numbers come in portions, so that a model larger than memory can pass through. */
export interface NewTensor {
  readonly name: string;
  readonly shape: readonly number[];
  readonly numbers: () => Iterable<Float32Array>;
}

/** Writes float32 tensors; the file appears only when it is complete. */
export function writeSafetensors(
  file: string,
  tensors: readonly NewTensor[],
  metadata: Readonly<Record<string, string>> = { format: 'pt' },
): void {
  const header = encodeHeader(tensors, metadata);
  writeAtomically(file, `${file}.${process.pid}.partial`, (handle) => {
    writeAll(handle, header);
    for (const { name, shape, numbers } of tensors) {
      let count = 0;
      for (const part of numbers()) {
        writeAll(handle, new Uint8Array(part.buffer, part.byteOffset, part.byteLength));
        count += part.length;
      }
      if (count !== countOf(shape)) throw new RangeError(`${name} [${shape.join(', ')}] got ${count} numbers to write`);
    }
  });
}

function encodeHeader(tensors: readonly NewTensor[], metadata: Readonly<Record<string, string>>): Buffer {
  const parts = [`"__metadata__":${JSON.stringify(metadata)}`];
  let offset = 0;
  for (const { name, shape } of tensors) {
    const end = offset + 4 * countOf(shape);
    parts.push(`${JSON.stringify(name)}:${JSON.stringify({ dtype: 'F32', shape, data_offsets: [offset, end] })}`);
    offset = end;
  }
  const text = Buffer.from(`{${parts.join(',')}}`);
  const padded = Math.ceil(text.length / 64) * 64 - 8; // the numbers begin at a multiple of 64 bytes
  const room = padded < text.length ? padded + 64 : padded;
  return frameHeader(text, room);
}
