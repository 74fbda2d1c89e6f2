// A language model's weights on a device: read from their file once, and fed to every graph there, of the policy, of the reference, in
// sampling, scoring and training. As constants of the graphs, every session would have a copy of the whole model.

import { closeSync, openSync } from 'node:fs';
import { DeviceBuffers } from '../../engine/gpu/device-buffers.ts';
import type { Graph, Tensor } from '../../engine/graph/graph.ts';
import { float } from '../../engine/runtime/session.ts';
import type { Feeds, SessionOptions, Value } from '../../engine/runtime/session.ts';
import type { LanguageModelConfig } from './architecture.ts';
import { weightSpecs } from './architecture.ts';
import type { MappedWeight, MappedWeights } from './files/mapped-weights.ts';
import { decode } from './files/numbers.ts';
import { readFully } from './files/tensor-source.ts';

/** Whether the weights can be taken to a device: as numbers of 16 or 32 bits, not as blocks of a few. */
export const fitForDevice = (weights: MappedWeights): boolean =>
  [...weights.values()].every(({ kind }) => kind === 'f32' || kind === 'f16');

/** A weight as an input of a graph. */
export function weightInput(graph: Graph, name: string, shape: readonly number[]): Tensor {
  const key = `base.${name}`;
  return graph.inputs.get(key) ?? graph.input(key, 'float32', shape);
}

/** One copy for everybody: policy and reference are made of the same files. */
const placed = new WeakMap<MappedWeights, DeviceWeights>();

export function deviceWeights(config: LanguageModelConfig, weights: MappedWeights): DeviceWeights {
  const weightsOnDevice = placed.get(weights) ?? new DeviceWeights(config, weights);
  placed.set(weights, weightsOnDevice);
  return weightsOnDevice;
}

class DeviceWeights {
  readonly #config: LanguageModelConfig;
  readonly #weights: MappedWeights;
  #buffers: DeviceBuffers | undefined;
  #values: Record<string, Value> | undefined;

  constructor(config: LanguageModelConfig, weights: MappedWeights) {
    this.#config = config;
    this.#weights = weights;
  }

  /** The weights by the names of their inputs; they are sent when first asked for. */
  async feeds(session: SessionOptions): Promise<Feeds> {
    if (this.#values) return this.#values;
    this.#buffers = new DeviceBuffers(session);
    const values: Record<string, Value> = {};
    for (const { name, shape } of weightSpecs(this.#config)) {
      const weight = this.#weights.get(name);
      if (weight) values[`base.${name}`] = await this.#buffers.upload(float(readMapped(name, weight), [...shape]));
    }
    this.#values = values;
    return values;
  }

  /** Gives the device's memory back. */
  async release(): Promise<void> {
    this.#values = undefined;
    await this.#buffers?.dispose();
    this.#buffers = undefined;
  }
}

function readMapped(name: string, { kind, place }: MappedWeight): Float32Array<ArrayBuffer> {
  const bytes = new Uint8Array(place.bytes);
  const handle = openSync(place.file, 'r');
  try {
    readFully(handle, bytes, place.offset, `${place.file} (${name})`);
  } finally {
    closeSync(handle);
  }
  return decode(kind === 'f16' ? 'F16' : 'F32', bytes);
}
