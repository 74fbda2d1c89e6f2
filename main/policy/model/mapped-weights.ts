// Where the engine maps a model's weights from. A float32 safetensors file is mapped as it is; every other format is converted once, into
// a file beside the registration. One file serves all sessions and all runs: the operating system keeps it in memory once.

import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ExternalData } from '../../engine/graph.ts';
import { weightSpecs } from './architecture.ts';
import { readSafetensors, writeSafetensors } from './safetensors.ts';
import type { ModelSource } from './source.ts';
import { countOf, readNumbers } from './tensor-source.ts';

/** The place of every weight as float32, by its Hugging Face name. */
export type MappedWeights = ReadonlyMap<string, ExternalData>;

const mappable = (source: ModelSource): boolean =>
  [...source.tensors.values()].every(({ format, offset, interleavedHeads }) => format === 'F32' && offset % 4 === 0 && !interleavedHeads);

/** `folder` keeps what had to be converted, under the model's hash. */
export function mapWeights(source: ModelSource, hash: string, folder: string, progress: (share: number) => void = () => {}): MappedWeights {
  if (mappable(source)) return places(source.tensors);
  const file = join(folder, `${hash.slice(0, 16)}-f32.safetensors`);
  if (!existsSync(file)) convert(source, file, folder, progress);
  return places(readSafetensors(file));
}

function places(tensors: ReadonlyMap<string, ExternalData>): MappedWeights {
  return new Map([...tensors].map(([name, { file, offset, bytes }]) => [name, { file, offset, bytes }]));
}

function convert({ config, tensors }: ModelSource, file: string, folder: string, progress: (share: number) => void): void {
  mkdirSync(folder, { recursive: true });
  const specs = weightSpecs(config);
  const total = specs.reduce((sum, { shape }) => sum + countOf(shape), 0);
  let done = 0;
  writeSafetensors(
    file,
    specs.map(({ name, shape }) => ({
      name,
      shape,
      *numbers() {
        const tensor = tensors.get(name);
        if (!tensor) throw new Error(`The tensor ${name} was there before`);
        for (const part of readNumbers(tensor)) {
          yield part;
          done += part.length;
          progress(done / total);
        }
      },
    })),
  );
}
