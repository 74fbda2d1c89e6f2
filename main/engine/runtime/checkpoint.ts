// Checkpoints: weights, optimizer state and the step in one safetensors file, which any
// safetensors reader opens by name. A file is complete or absent: it is written beside its place, synced and renamed.
// Reading trusts nothing: length, header, offsets and a SHA-256 over the whole file are checked before a single
// number is used, because a checkpoint may come from a crash, a full disk or a stranger.

import { createHash } from 'node:crypto';
import type { Hash } from 'node:crypto';
import { closeSync, fstatSync, fsyncSync, openSync, readSync } from 'node:fs';
import { endianness } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { writeAll, writeAtomically } from './atomic-file.ts';
import { frameHeader, LONGEST_HEADER, parseHeader } from './safetensors-header.ts';

export type TensorData = Float32Array | Float64Array | Int32Array | BigInt64Array | Uint8Array;

export interface StoredTensor {
  readonly shape: readonly number[];
  readonly data: TensorData;
}

export interface Checkpoint {
  /** Weights under their parameter names; optimizer state under names that begin with `optimizer.`. */
  readonly tensors: ReadonlyMap<string, StoredTensor>;
  readonly step: number;
  /** Free text that belongs to the weights, such as the model's config as JSON. */
  readonly notes: Readonly<Record<string, string>>;
}

/** The file is not a checkpoint that can be trusted; the message says why. */
export class CheckpointError extends Error {
  constructor(file: string, reason: string) {
    super(`${file} is not a usable checkpoint: ${reason}`);
    this.name = 'CheckpointError';
  }
}

const ARRAYS = {
  F32: Float32Array,
  F64: Float64Array,
  I32: Int32Array,
  I64: BigInt64Array,
  U8: Uint8Array,
} as const;
type ElementType = keyof typeof ARRAYS;

const CHUNK = 1 << 24;
const NO_SUM = '0'.repeat(64);

const stateSchema = z.object({
  version: z.literal(1),
  step: z.int().min(0),
  notes: z.array(z.tuple([z.string(), z.string()])),
});
const entrySchema = z.strictObject({
  dtype: z.string(),
  shape: z.array(z.int().min(0)),
  data_offsets: z.tuple([z.int().min(0), z.int().min(0)]),
});
const metadataSchema = z.object({ sha256: z.string().regex(/^[0-9a-f]{64}$/), astrolab: z.string() });

/** Writes the file atomically: whoever reads sees the old checkpoint or the new one, never half of one. */
export function writeCheckpoint(file: string, checkpoint: Checkpoint): void {
  if (endianness() !== 'LE') throw new Error('Checkpoints are little-endian and this machine is not; nothing was written');
  const tensors = [...checkpoint.tensors];
  const header = encodeHeader(tensors, checkpoint);
  const hash = createHash('sha256').update(header);
  for (const [, { data }] of tensors) forEachChunk(bytesOf(data), (chunk) => hash.update(chunk));
  header.write(hash.digest('hex'), header.indexOf(NO_SUM), 'latin1');

  writeAtomically(file, join(dirname(file), `.${basename(file)}.${process.pid}.partial`), (handle) => {
    writeAll(handle, header);
    for (const [, { data }] of tensors) writeAll(handle, bytesOf(data));
  });
  syncFolder(dirname(file));
}

export function readCheckpoint(file: string): Checkpoint {
  const handle = openSync(file, 'r');
  try {
    return readOpened(file, handle);
  } finally {
    closeSync(handle);
  }
}

function encodeHeader(tensors: [string, StoredTensor][], checkpoint: Checkpoint): Buffer {
  const state: z.input<typeof stateSchema> = {
    version: 1,
    step: checkpoint.step,
    notes: Object.entries(checkpoint.notes),
  };
  stateSchema.parse(state);
  // Assembled as text, because an object literal can hold neither a tensor named `__proto__` nor a guaranteed order.
  const parts = [`"__metadata__":{"sha256":"${NO_SUM}","format":"pt","astrolab":${JSON.stringify(JSON.stringify(state))}}`];
  let offset = 0;
  for (const [name, { shape, data }] of tensors) {
    if (name === '__metadata__') throw new Error('A tensor cannot be named __metadata__: safetensors reserves that name');
    const size = shape.reduce((product, extent) => product * extent, 1);
    if (size !== data.length)
      throw new Error(`Tensor ${name} has shape [${shape.join(', ')}] = ${size} elements but ${data.length} numbers`);
    const end = offset + data.byteLength;
    const entry: z.input<typeof entrySchema> = { dtype: elementType(data), shape: [...shape], data_offsets: [offset, end] };
    parts.push(`${JSON.stringify(name)}:${JSON.stringify(entry)}`);
    offset = end;
  }
  const text = Buffer.from(`{${parts.join(',')}}`);
  const padded = Math.ceil(text.length / 8) * 8; // keeps the numbers aligned for readers that map the file
  if (padded > LONGEST_HEADER) throw new Error(`The checkpoint's header would take ${padded} bytes; readers stop at ${LONGEST_HEADER}`);
  return frameHeader(text, padded);
}

interface Entry {
  readonly name: string;
  readonly type: ElementType;
  readonly shape: number[];
  readonly begin: number;
  readonly end: number;
}

function readOpened(file: string, handle: number): Checkpoint {
  const refuse = (reason: string) => new CheckpointError(file, reason);
  const size = fstatSync(handle).size;
  if (size < 10) throw refuse(`it has ${size} bytes, and even an empty safetensors file has 10`);
  const prefix = readExactly(handle, 0, 8);
  const length = prefix.readBigUInt64LE(0);
  if (length > LONGEST_HEADER)
    throw refuse(`its header claims ${length} bytes, more than the ${LONGEST_HEADER} that safetensors allows; it is another kind of file`);
  const dataStart = 8 + Number(length);
  if (dataStart > size)
    throw refuse(`its header claims ${length} bytes, but the file ends after ${size}; it is truncated or another kind of file`);
  const header = readExactly(handle, 8, Number(length));

  const fields = parseHeader(header, refuse);
  const metadata = metadataSchema.safeParse(fields.get('__metadata__'));
  if (!metadata.success) throw refuse('it is a safetensors file, but not one written by this lab (no checksum and state in its metadata)');
  fields.delete('__metadata__');
  const entries = parseEntries(fields, size - dataStart, refuse);
  const state = parseState(metadata.data.astrolab, refuse);

  const { sha256 } = metadata.data;
  const at = header.indexOf(sha256);
  header.write(NO_SUM, at, 'latin1');
  const hash = createHash('sha256').update(prefix).update(header);
  const tensors = new Map<string, StoredTensor>();
  for (const entry of entries) tensors.set(entry.name, { shape: entry.shape, data: readTensor(handle, dataStart, entry, hash) });
  const found = hash.digest('hex');
  if (found !== sha256)
    throw refuse(`its checksum is ${found.slice(0, 12)}… where ${sha256.slice(0, 12)}… was written; the file was damaged or changed`);

  return { tensors, step: state.step, notes: record(state.notes) };
}

/** Checks that the tensors cover the data once, in order and without gaps, as the format demands. */
function parseEntries(fields: Map<string, unknown>, dataLength: number, refuse: (reason: string) => Error): Entry[] {
  const entries: Entry[] = [];
  for (const [name, value] of fields) {
    const parsed = entrySchema.safeParse(value);
    if (!parsed.success) throw refuse(`tensor ${JSON.stringify(name)} is described wrongly: ${z.prettifyError(parsed.error)}`);
    const { dtype, shape, data_offsets } = parsed.data;
    if (!isElementType(dtype))
      throw refuse(`tensor ${JSON.stringify(name)} has type ${dtype}; this lab reads ${Object.keys(ARRAYS).join(', ')}`);
    const [begin, end] = data_offsets;
    const bytes = shape.reduce((product, extent) => product * extent, ARRAYS[dtype].BYTES_PER_ELEMENT);
    if (end - begin !== bytes)
      throw refuse(`tensor ${JSON.stringify(name)} of shape [${shape.join(', ')}] needs ${bytes} bytes and is given ${end - begin}`);
    entries.push({ name, type: dtype, shape, begin, end });
  }
  entries.sort((a, b) => a.begin - b.begin || a.end - b.end);
  let expected = 0;
  for (const { name, begin, end } of entries) {
    if (begin !== expected)
      throw refuse(`tensor ${JSON.stringify(name)} begins at byte ${begin} where ${expected} was expected; tensors overlap or leave a gap`);
    expected = end;
  }
  if (expected > dataLength) throw refuse(`its tensors need ${expected} bytes and ${dataLength} are there; it is truncated`);
  if (expected < dataLength) throw refuse(`${dataLength - expected} bytes follow the last tensor; it was not written by this lab`);
  return entries;
}

function parseState(text: string, refuse: (reason: string) => Error): z.infer<typeof stateSchema> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw refuse('the training state in its metadata is not JSON');
  }
  const parsed = stateSchema.safeParse(json);
  if (!parsed.success) throw refuse(`the training state in its metadata is wrong: ${z.prettifyError(parsed.error)}`);
  return parsed.data;
}

function readTensor(handle: number, dataStart: number, entry: Entry, hash: Hash): TensorData {
  const data = new ARRAYS[entry.type]((entry.end - entry.begin) / ARRAYS[entry.type].BYTES_PER_ELEMENT);
  const bytes = bytesOf(data);
  let position = dataStart + entry.begin;
  forEachChunk(bytes, (chunk) => {
    fillExactly(handle, position, chunk);
    position += chunk.length;
    hash.update(chunk);
  });
  return data;
}

function record<T>(entries: readonly (readonly [string, T])[]): Record<string, T> {
  const result: Record<string, T> = {};
  for (const [name, value] of entries) Object.defineProperty(result, name, { value, enumerable: true, configurable: true, writable: true });
  return result;
}

function isElementType(name: string): name is ElementType {
  return Object.hasOwn(ARRAYS, name);
}

function elementType(data: TensorData): ElementType {
  if (data instanceof Float32Array) return 'F32';
  if (data instanceof Float64Array) return 'F64';
  if (data instanceof Int32Array) return 'I32';
  if (data instanceof BigInt64Array) return 'I64';
  return 'U8';
}

function bytesOf(data: TensorData): Uint8Array {
  return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
}

function forEachChunk(bytes: Uint8Array, visit: (chunk: Uint8Array) => void): void {
  for (let start = 0; start < bytes.length; start += CHUNK) visit(bytes.subarray(start, start + CHUNK));
}

function readExactly(handle: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  fillExactly(handle, position, bytes);
  return bytes;
}

function fillExactly(handle: number, position: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length;) {
    const count = readSync(handle, bytes, done, bytes.length - done, position + done);
    if (count === 0)
      throw new Error(`The file became shorter while it was read, at byte ${position + done}; try again when nothing writes to it`);
    done += count;
  }
}

/** Makes the rename itself survive a power loss. Windows has no such call and its file system journals renames. */
function syncFolder(folder: string): void {
  if (process.platform === 'win32') return;
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
