// Where the engine maps a model's weights from. A float32 safetensors file is mapped as it is; every other format and precision is made once,
// as a file beside the registration. One file serves all sessions and all runs: the operating system keeps it in memory once.

import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { ExternalData } from '../../../engine/graph/graph.ts';
import { at } from '../../../base/indexed.ts';
import { weightSpecs } from '../architecture.ts';
import { toHalf } from './numbers.ts';
import { BLOCK, type Precision, quantise } from './quantise.ts';
import { writeAll } from '../../../engine/runtime/atomic-file.ts';
import type { ModelSource } from './source.ts';
import { countOf, readAll, readNumbers } from './tensor-source.ts';
import type { TensorSource } from './tensor-source.ts';

/** A weight in a file: float32, float16, or blocks of 4 or 8 bits with their scales and (all equal) zero points. */
export type MappedWeight =
  | { readonly kind: 'f32' | 'f16'; readonly place: ExternalData }
  | {
      readonly kind: 'int8' | 'int4';
      readonly place: ExternalData;
      readonly scales: ExternalData;
      readonly zeros: ExternalData;
    };

/** By Hugging Face name; quantised models have the product with the vocabulary under HEAD beside the embedding. */
export type MappedWeights = ReadonlyMap<string, MappedWeight>;
export const HEAD = 'lm_head.weight';
export const EMBEDDING = 'model.embed_tokens.weight';

/** `folder` keeps what had to be converted, under the model's hash. */
export function mapWeights(
  source: ModelSource,
  hash: string,
  folder: string,
  { precision = 'f32', progress = () => {} }: { precision?: Precision; progress?: (share: number) => void } = {},
): MappedWeights {
  if (precision === 'f32' && mappable(source))
    return new Map([...source.tensors].map(([name, { file, offset, bytes }]) => [name, { kind: 'f32', place: { file, offset, bytes } }]));
  // Files of few bits that were made before neighbours were written side by side have the name without `joined`.
  const name = join(folder, `${hash.slice(0, 16)}-${precision}${precision === 'int8' || precision === 'int4' ? '-joined' : ''}`);
  if (!existsSync(`${name}.json`)) convert(source, name, precision, progress);
  return readIndex(name);
}

const mappable = (source: ModelSource): boolean =>
  [...source.tensors.values()].every(({ format, offset, interleavedHeads }) => format === 'F32' && offset % 4 === 0 && !interleavedHeads);

const placeSchema = z.tuple([z.int().min(0), z.int().min(0)]);
const indexSchema = z.record(
  z.string(),
  z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.enum(['f32', 'f16']), place: placeSchema }),
    z.strictObject({ kind: z.enum(['int8', 'int4']), place: placeSchema, scales: placeSchema, zeros: placeSchema }),
  ]),
);
type Index = z.infer<typeof indexSchema>;

function readIndex(name: string): MappedWeights {
  const at = ([offset, bytes]: readonly [number, number]): ExternalData => ({ file: `${name}.bin`, offset, bytes });
  return new Map(
    Object.entries(indexSchema.parse(JSON.parse(readFileSync(`${name}.json`, 'utf8')))).map(([weight, entry]) => [
      weight,
      'scales' in entry
        ? { kind: entry.kind, place: at(entry.place), scales: at(entry.scales), zeros: at(entry.zeros) }
        : { kind: entry.kind, place: at(entry.place) },
    ]),
  );
}

/** What becomes of a weight: matrices of products are quantised, the embedding (which is read row by row) is halved, vectors stay. */
export function kindOf(name: string, shape: readonly number[], precision: Precision): MappedWeight['kind'] {
  if (precision === 'f32' || shape.length === 1) return 'f32';
  if (precision === 'f16' || name === EMBEDDING) return 'f16';
  if ((shape[1] ?? 0) % BLOCK !== 0) return 'f32';
  return name === HEAD ? 'int8' : precision;
}

/** The index comes last, renamed into place: with it, the numbers are complete. */
function convert(source: ModelSource, name: string, precision: Precision, progress: (share: number) => void): void {
  mkdirSync(join(name, '..'), { recursive: true });
  const specs: { name: string; shape: readonly number[]; from: string }[] = weightSpecs(source.config).map((spec) => ({
    ...spec,
    from: spec.name,
  }));
  const embedding = specs.find((spec) => spec.name === EMBEDDING);
  if (embedding && source.config.tied && (precision === 'int8' || precision === 'int4')) specs.push({ ...embedding, name: HEAD });
  const total = specs.reduce((sum, { shape }) => sum + countOf(shape), 0);
  const temporary = `${name}.${process.pid}.partial`;
  const handle = openSync(temporary, 'w');
  try {
    const file = new AlignedFile(handle);
    const index: Index = {};
    let done = 0;
    for (const group of Map.groupBy(specs, (spec) => siblings(spec.name)).values()) {
      const weights = group.map(({ name: weight, shape, from }) => {
        const tensor = source.tensors.get(from);
        if (!tensor) throw new Error(`The tensor ${from} was there before`);
        return { name: weight, tensor, kind: kindOf(weight, shape, precision) };
      });
      Object.assign(index, writeWeights(file, weights));
      done += group.reduce((sum, { shape }) => sum + countOf(shape), 0);
      progress(done / total);
    }
    fsyncSync(handle);
    renameSync(temporary, `${name}.bin`);
    writeFileSync(`${temporary}.json`, JSON.stringify(index));
    renameSync(`${temporary}.json`, `${name}.json`);
  } finally {
    closeSync(handle);
    rmSync(temporary, { force: true });
  }
}

/** Weights of one name here lie side by side, so that they can be multiplied as one. */
const siblings = (name: string): string => name.replace(/\b[qkv]_proj\b/, 'q, k, v').replace(/\b(?:gate|up)_proj\b/, 'gate, up');

interface WrittenWeight {
  readonly name: string;
  readonly tensor: TensorSource;
  readonly kind: MappedWeight['kind'];
}

/** The blocks of all, then their scales, then their zero points. */
function writeWeights(file: AlignedFile, weights: readonly WrittenWeight[]): Index {
  const index: Index = {};
  const quantised = weights.flatMap(({ name, tensor, kind }) => {
    if (kind === 'int8' || kind === 'int4') return [{ name, kind, bits: kind === 'int8' ? (8 as const) : (4 as const), tensor }];
    const start = file.align();
    for (const part of readNumbers(tensor)) file.write(kind === 'f16' ? toHalf(part) : part);
    index[name] = { kind, place: [start, file.at - start] };
    return [];
  });
  const blocks = quantised.map(({ tensor, bits }) => quantise(readAll(tensor), bits));
  const places = blocks.map(({ packed }) => file.put(packed));
  const scales = blocks.map((made) => file.put(made.scales));
  for (const [i, { name, kind, bits }] of quantised.entries()) {
    const zeros = new Uint8Array((at(blocks, i).scales.length * bits) / 8).fill(bits === 8 ? 128 : 0x88);
    index[name] = { kind, place: at(places, i), scales: at(scales, i), zeros: file.put(zeros) };
  }
  return index;
}

/** Every tensor begins at a multiple of 64 bytes. */
class AlignedFile {
  readonly #handle: number;
  at = 0;

  constructor(handle: number) {
    this.#handle = handle;
  }

  align(): number {
    const gap = -this.at & 63;
    if (gap > 0) this.write(new Uint8Array(gap));
    return this.at;
  }

  write(part: ArrayBufferView): void {
    writeAll(this.#handle, new Uint8Array(part.buffer, part.byteOffset, part.byteLength));
    this.at += part.byteLength;
  }

  put(part: ArrayBufferView): [number, number] {
    const start = this.align();
    this.write(part);
    return [start, part.byteLength];
  }
}
