// A tensor as it lies in some file, and how its numbers are read from there in portions. What a model folder and a GGUF file have in
// common: everything above them sees names, shapes and places.

import { closeSync, openSync, readSync } from 'node:fs';
import { BLOCKS, bytesFor, decode } from './numbers.ts';
import type { Format } from './numbers.ts';

/** Models that cannot be used say why; the message names the file and what was expected. */
export class ModelError extends Error {
  override name = 'ModelError';
}

export interface TensorSource {
  readonly name: string;
  readonly shape: readonly number[];
  readonly format: Format;
  /** Absolute path, and where the numbers begin in it. */
  readonly file: string;
  readonly offset: number;
  readonly bytes: number;
  /** GGUF files of the Llama architecture store the rows of each head interleaved: row 2j + s stands for row s · half + j. */
  readonly interleavedHeads?: number;
}

export const countOf = (shape: readonly number[]): number => shape.reduce((product, size) => product * size, 1);

/** Numbers decoded at once: whole blocks of every format. */
const PORTION = 1 << 22;

/** The numbers of a tensor in order, a few million at a time. */
export function* readNumbers(source: TensorSource): Generator<Float32Array<ArrayBuffer>> {
  if (source.interleavedHeads !== undefined) {
    yield untangled(source, source.interleavedHeads);
    return;
  }
  yield* inOrder(source);
}

/** All numbers of a tensor at once. */
export function readAll(source: TensorSource): Float32Array<ArrayBuffer> {
  const all = new Float32Array(countOf(source.shape));
  let done = 0;
  for (const part of readNumbers(source)) {
    all.set(part, done);
    done += part.length;
  }
  return all;
}

function* inOrder({ file, offset, shape, format, name }: TensorSource): Generator<Float32Array<ArrayBuffer>> {
  const handle = openSync(file, 'r');
  try {
    const total = countOf(shape);
    for (let start = 0; start < total; start += PORTION) {
      const bytes = new Uint8Array(bytesFor(format, Math.min(PORTION, total - start)));
      readFully(handle, bytes, offset + (start / BLOCKS[format].numbers) * BLOCKS[format].bytes, `${file} (${name})`);
      yield decode(format, bytes);
    }
  } finally {
    closeSync(handle);
  }
}

function untangled(source: TensorSource, heads: number): Float32Array<ArrayBuffer> {
  const all = new Float32Array(countOf(source.shape));
  let done = 0;
  for (const part of inOrder(source)) {
    all.set(part, done);
    done += part.length;
  }
  return interleave(all, source.shape, heads, 'undo');
}

/** Reorders the rows of each head: `do` writes them as llama.cpp wants them, `undo` brings them back. */
export function interleave(numbers: Float32Array, shape: readonly number[], heads: number, way: 'do' | 'undo'): Float32Array<ArrayBuffer> {
  const [rows = 0] = shape;
  const width = numbers.length / rows;
  const size = rows / heads;
  const half = size / 2;
  const out = new Float32Array(numbers.length);
  for (let row = 0; row < rows; row++) {
    const within = row % size;
    const tangled = row - within + 2 * (within % half) + Math.floor(within / half);
    const [from, to] = way === 'do' ? [row, tangled] : [tangled, row];
    out.set(numbers.subarray(from * width, (from + 1) * width), to * width);
  }
  return out;
}

/** Fills `bytes` from a place in an open file; a shorter file is an error that names `what`. */
export function readFully(handle: number, bytes: Uint8Array, position: number, what: string): void {
  for (let done = 0; done < bytes.length;) {
    const count = readSync(handle, bytes, done, bytes.length - done, position + done);
    if (count === 0) throw new ModelError(`${what} ends at byte ${position + done}; it is truncated`);
    done += count;
  }
}
