// Models for the benchmark of language models: random weights in the shapes of SmolLM2-135M and Qwen2.5-0.5B, as a Hugging Face folder, and the same
// as GGUF in the formats of llama.cpp that have our bits. Made once, in .cache/bench-models (about 7 GB).

import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseModelConfig, weightSpecs } from '../../main/policy/model/architecture.ts';
import { ggufTensors, modelMetadata } from '../../main/policy/model/files/gguf-export.ts';
import { writeGguf } from '../../main/policy/model/files/gguf-write.ts';
import type { EncodedTensor } from '../../main/policy/model/files/gguf-write.ts';
import { ModelRegistry } from '../../main/policy/model/files/registry.ts';
import type { NewTensor } from '../../main/policy/model/files/safetensors.ts';
import { writeSafetensors } from '../../main/policy/model/files/safetensors.ts';
import { openSource } from '../../main/policy/model/files/source.ts';
import { Random } from '../../main/base/random.ts';
import { projectFolder } from '../../main/base/paths.ts';
import { TOKENIZERS } from '../policy/model/tokenizers.ts';

export const SHAPES = {
  'smollm2-135m': {
    model_type: 'llama',
    architectures: ['LlamaForCausalLM'],
    vocab_size: 49_152,
    hidden_size: 576,
    num_hidden_layers: 30,
    num_attention_heads: 9,
    num_key_value_heads: 3,
    intermediate_size: 1536,
    rope_theta: 100_000,
  },
  'qwen2.5-0.5b': {
    model_type: 'qwen2',
    architectures: ['Qwen2ForCausalLM'],
    vocab_size: 151_936,
    hidden_size: 896,
    num_hidden_layers: 24,
    num_attention_heads: 14,
    num_key_value_heads: 2,
    intermediate_size: 4864,
    rope_theta: 1_000_000,
  },
} as const;
export type ModelName = keyof typeof SHAPES;

/** The model of `lab models get`. */
export const MINIMIND = {
  model_type: 'llama',
  architectures: ['LlamaForCausalLM'],
  vocab_size: 6400,
  hidden_size: 512,
  num_hidden_layers: 8,
  num_attention_heads: 8,
  num_key_value_heads: 2,
  intermediate_size: 1408,
  rope_theta: 1_000_000,
} as const;

/** What config.json says beside the shape. */
export const FURTHER = {
  max_position_embeddings: 2048,
  rms_norm_eps: 1e-6,
  tie_word_embeddings: true,
  hidden_act: 'silu',
  eos_token_id: 0,
};

/**
 * Our precision and the format of llama.cpp with as many bits, tensor by tensor: our int4 has the product with the vocabulary in 8 bits, and so has the peer's
 * file (llama.cpp's own tool never writes it in 4 bits either; it takes Q6_K, of which we have none).
 */
export const PRECISIONS = { f32: 'F32', int8: 'Q8_0', int4: 'Q4_0 (head Q8_0)' } as const;
export type BenchPrecision = keyof typeof PRECISIONS;

export const benchFolder = join(projectFolder(), '.cache', 'bench-models');
export const modelFolder = (name: ModelName): string => join(benchFolder, name);
export const ggufFile = (name: ModelName, format: string): string =>
  join(benchFolder, `${name}.${format.replaceAll(/[()]/g, '').replaceAll(' ', '-')}.gguf`);

/**
 * Random numbers once; every tensor is written from them again and again, each from another place on: the runtime keeps one copy of quantised matrices that are
 * equal, which then never leaves the processor's cache.
 */
const PORTION = 1 << 20;
const STEP = 7919 * 32;
let noise: Float32Array | undefined;

function numbersOf(shape: readonly number[], index: number): () => Iterable<Float32Array> {
  const count = shape.reduce((product, extent) => product * extent, 1);
  return function* () {
    if (!noise) {
      const random = Random.from('bench-llm');
      noise = Float32Array.from({ length: PORTION }, () => 0.02 * random.normal());
    }
    const ones = shape.length === 1 ? new Float32Array(count).fill(1) : undefined;
    if (ones) {
      yield ones;
      return;
    }
    for (let done = 0, start = (index * STEP) % PORTION; done < count; start = 0) {
      const part = noise.subarray(start, Math.min(PORTION, start + count - done));
      yield part;
      done += part.length;
    }
  };
}

/** The models of these names; `gguf` as files of llama.cpp as well. */
export function makeModels(names: readonly ModelName[], gguf: readonly string[], say: (text: string) => void): void {
  mkdirSync(benchFolder, { recursive: true });
  const registry = new ModelRegistry(join(benchFolder, 'data'));
  for (const name of names) {
    const shape = SHAPES[name];
    const folder = modelFolder(name);
    const json = { ...shape, ...FURTHER };
    const tensors = weightSpecs(parseModelConfig(json, name)).map((spec, i): NewTensor => ({ ...spec, numbers: numbersOf(spec.shape, i) }));
    if (!existsSync(join(folder, 'model.safetensors'))) {
      say(`making ${name}`);
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, 'config.json'), JSON.stringify(json));
      const { tokenizer, settings } = TOKENIZERS.bytes(); // llama.cpp does not start without one
      writeFileSync(join(folder, 'tokenizer.json'), JSON.stringify(tokenizer));
      writeFileSync(join(folder, 'tokenizer_config.json'), JSON.stringify(settings));
      writeSafetensors(join(folder, 'model.safetensors'), tensors);
    }
    if (!registry.names().includes(name)) registry.add(folder, name);
    const source = openSource(folder);
    for (const format of Object.values(PRECISIONS)) {
      if (!gguf.includes(format) || existsSync(ggufFile(name, format))) continue;
      say(`making ${name} as ${format}`);
      const own = ggufTensors(source.config, tensors);
      writeGguf(
        ggufFile(name, format),
        modelMetadata(source, name),
        own.map((tensor) => inFormat(tensor, format)),
      );
    }
  }
}

/** Tied models have the head as their embedding. */
const HEADS = ['token_embd.weight', 'output.weight'];

function inFormat(tensor: NewTensor, format: (typeof PRECISIONS)[BenchPrecision]): NewTensor | EncodedTensor {
  if (format === 'F32') return tensor;
  return blocks(tensor, format === 'Q8_0' || HEADS.includes(tensor.name) ? 'Q8_0' : 'Q4_0');
}

const BLOCK = 32;

/** Matrices in blocks of 32 with one scale, as llama.cpp's own tool writes them; vectors stay float32. */
function blocks(tensor: NewTensor, format: 'Q8_0' | 'Q4_0'): NewTensor | EncodedTensor {
  const { name, shape, numbers } = tensor;
  const [, inner = 0] = shape;
  if (shape.length < 2 || inner % BLOCK !== 0) return tensor;
  const size = format === 'Q8_0' ? 2 + BLOCK : 2 + BLOCK / 2;
  const write = format === 'Q8_0' ? writeQ8 : writeQ4;
  const count = shape.reduce((product, extent) => product * extent, 1);
  return {
    name,
    shape,
    format: format === 'Q8_0' ? 8 : 2,
    bytes: (count / BLOCK) * size,
    *parts() {
      for (const part of numbers()) {
        const bytes = new Uint8Array((part.length / BLOCK) * size);
        const view = new DataView(bytes.buffer);
        for (let block = 0; block < part.length / BLOCK; block++) write(part, block * BLOCK, view, block * size);
        yield bytes;
      }
    },
  };
}

function writeQ8(numbers: Float32Array, from: number, view: DataView, at: number): void {
  let largest = 0;
  for (let i = 0; i < BLOCK; i++) largest = Math.max(largest, Math.abs(numbers[from + i] ?? 0));
  const scale = largest / 127 || 1;
  view.setFloat16(at, scale, true);
  for (let i = 0; i < BLOCK; i++) view.setInt8(at + 2 + i, Math.round((numbers[from + i] ?? 0) / scale));
}

function writeQ4(numbers: Float32Array, from: number, view: DataView, at: number): void {
  let extreme = 0;
  for (let i = 0; i < BLOCK; i++) if (Math.abs(numbers[from + i] ?? 0) > Math.abs(extreme)) extreme = numbers[from + i] ?? 0;
  const scale = extreme / -8 || 1;
  view.setFloat16(at, scale, true);
  const level = (i: number): number => Math.min(15, Math.floor((numbers[from + i] ?? 0) / scale + 8.5));
  for (let i = 0; i < BLOCK / 2; i++) view.setUint8(at + 2 + i, level(i) | (level(i + BLOCK / 2) << 4));
}
