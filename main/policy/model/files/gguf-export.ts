// A model or an adapter as llama.cpp describes it: architecture, sizes, tokenizer, and the rows of queries and keys in its order.

import { z } from 'zod';
import type { Flat, ParameterLayout } from '../../../engine/graph/parameters.ts';
import type { LoraShape } from '../adapter.ts';
import type { LanguageModelConfig } from '../architecture.ts';
import { ggufName, huggingFaceName } from './gguf-model.ts';
import { readGguf } from './gguf.ts';
import type { GgufEntry } from './gguf-write.ts';
import type { NewTensor } from './safetensors.ts';
import type { ModelSource } from './source.ts';
import { ModelError, countOf, interleave, readAll } from './tensor-source.ts';

/** Mistral is a llama there. */
const familyOf = ({ architecture }: LanguageModelConfig): string => (architecture === 'mistral' ? 'llama' : architecture);

export function modelMetadata(source: ModelSource, name: string): Map<string, GgufEntry> {
  const { config } = source;
  if (config.ropeScaling.kind !== 'none')
    throw new ModelError(`A model with rope scaling "${config.ropeScaling.kind}" cannot be written as GGUF; export it as safetensors`);
  const family = familyOf(config);
  const counts = {
    context_length: config.contextLength,
    embedding_length: config.width,
    block_count: config.layers,
    feed_forward_length: config.feedForward,
    'attention.head_count': config.heads,
    'attention.head_count_kv': config.keyValueHeads,
    'attention.key_length': config.headSize,
    'attention.value_length': config.headSize,
    'rope.dimension_count': config.headSize,
    vocab_size: config.vocabulary,
  };
  return new Map<string, GgufEntry>([
    ['general.architecture', { type: 'text', value: family }],
    ['general.name', { type: 'text', value: name }],
    ['general.file_type', { type: 'count', value: 0 }],
    ...Object.entries(counts).map(([key, value]): [string, GgufEntry] => [`${family}.${key}`, { type: 'count', value }]),
    [`${family}.attention.layer_norm_rms_epsilon`, { type: 'float', value: config.epsilon }],
    [`${family}.rope.freq_base`, { type: 'float', value: config.ropeBase }],
    ...tokenizerMetadata(source),
  ]);
}

const tokenizerSchema = z.looseObject({
  added_tokens: z.array(z.looseObject({ id: z.int(), content: z.string(), special: z.boolean().optional() })).optional(),
  pre_tokenizer: z.unknown(),
  model: z.looseObject({
    vocab: z.record(z.string(), z.int()),
    merges: z.array(z.union([z.string(), z.tuple([z.string(), z.string()])])),
  }),
});

const NORMAL = 1;
const CONTROL = 3;
const USER_DEFINED = 4;
const UNUSED = 5;

function tokenizerMetadata({ tokenizer, config }: ModelSource): [string, GgufEntry][] {
  const parsed = tokenizerSchema.safeParse(tokenizer?.tokenizer);
  if (!parsed.success) return [['tokenizer.ggml.model', { type: 'text', value: 'no_vocab' }]];
  const { added_tokens: added = [], model, pre_tokenizer: pre } = parsed.data;
  const tokens = Array.from({ length: config.vocabulary }, (_, id) => `[PAD${id}]`);
  const kinds = tokens.map(() => UNUSED);
  const put = (id: number, content: string, kind: number): void => {
    if (id >= tokens.length) return;
    tokens[id] = content;
    kinds[id] = kind;
  };
  for (const [content, id] of Object.entries(model.vocab)) put(id, content, NORMAL);
  for (const { id, content, special } of added) put(id, content, special ? CONTROL : USER_DEFINED);
  const settings = z.looseObject({ chat_template: z.string().optional() }).safeParse(tokenizer?.settings);
  const template = settings.success ? settings.data.chat_template : undefined;
  const [end] = config.endTokens;
  return [
    ['tokenizer.ggml.model', { type: 'text', value: 'gpt2' }],
    ['tokenizer.ggml.pre', { type: 'text', value: preTokenizer(pre) }],
    ['tokenizer.ggml.tokens', { type: 'texts', value: tokens }],
    ['tokenizer.ggml.token_type', { type: 'integers', value: kinds }],
    ['tokenizer.ggml.merges', { type: 'texts', value: model.merges.map((merge) => (typeof merge === 'string' ? merge : merge.join(' '))) }],
    ...(end === undefined ? [] : [['tokenizer.ggml.eos_token_id', { type: 'count', value: end }] as [string, GgufEntry]]),
    ...(template === undefined ? [] : [['tokenizer.chat_template', { type: 'text', value: template }] as [string, GgufEntry]]),
  ];
}

/** llama.cpp's name of the way texts are cut. */
function preTokenizer(pre: unknown): string {
  const json = JSON.stringify(pre ?? null);
  if (json.includes('{1,3}')) return 'llama-bpe';
  if (json.includes('"Digits"')) return 'smollm';
  return json.includes('"Split"') ? 'qwen2' : 'gpt-2';
}

/** The heads of a matrix whose rows llama.cpp interleaves; undefined for all others. */
function interleavedHeads(config: LanguageModelConfig, name: string): number | undefined {
  const part = familyOf(config) === 'llama' ? /self_attn\.([qk])_proj/.exec(name)?.[1] : undefined;
  return part === undefined ? undefined : part === 'q' ? config.heads : config.keyValueHeads;
}

/** Tensors under their GGUF names and in its order of rows. */
export function ggufTensors(config: LanguageModelConfig, tensors: readonly NewTensor[]): NewTensor[] {
  return tensors.map(({ name, shape, numbers }) => {
    const heads = interleavedHeads(config, name);
    const numbersOf = (): Iterable<Float32Array> =>
      heads === undefined ? numbers() : [interleave(joined(numbers(), countOf(shape)), shape, heads, 'do')];
    return { name: ggufName(name), shape, numbers: numbersOf };
  });
}

function joined(parts: Iterable<Float32Array>, count: number): Float32Array {
  const all = new Float32Array(count);
  let done = 0;
  for (const part of parts) {
    all.set(part, done);
    done += part.length;
  }
  return all;
}

export function adapterMetadata(config: LanguageModelConfig, { alpha }: LoraShape): Map<string, GgufEntry> {
  return new Map<string, GgufEntry>([
    ['general.architecture', { type: 'text', value: familyOf(config) }],
    ['general.type', { type: 'text', value: 'adapter' }],
    ['adapter.type', { type: 'text', value: 'lora' }],
    ['adapter.lora.alpha', { type: 'float', value: alpha }],
  ]);
}

const adapterName = (name: string): string => {
  const [, matrix = '', side = ''] = /^(.+)\.lora_([AB])$/.exec(name) ?? [];
  return `${ggufName(`${matrix}.weight`)}.lora_${side.toLowerCase()}`;
};

/** An adapter's tensors as llama.cpp names them; B's rows follow those of its matrix. */
export function adapterTensors(config: LanguageModelConfig, layout: ParameterLayout, values: Flat): NewTensor[] {
  return layout.specs
    .filter(({ name }) => /\.lora_[AB]$/.test(name))
    .map(({ name, shape }) => {
      const heads = name.endsWith('.lora_B') ? interleavedHeads(config, name) : undefined;
      const view = layout.view(values, name);
      return { name: adapterName(name), shape, numbers: () => [heads === undefined ? view : interleave(view, shape, heads, 'do')] };
    });
}

/** Reads an adapter back from a GGUF file, for verification. */
export function readGgufAdapter(file: string, config: LanguageModelConfig, layout: ParameterLayout): Flat {
  const { tensors } = readGguf(file);
  const values = layout.zeros();
  for (const { name, shape } of layout.specs) {
    if (!/\.lora_[AB]$/.test(name)) continue;
    const tensor = tensors.get(adapterName(name));
    if (tensor?.shape.join() !== shape.join()) throw new ModelError(`${file} has no tensor ${adapterName(name)} [${shape.join(', ')}]`);
    const heads = name.endsWith('.lora_B') ? interleavedHeads(config, name) : undefined;
    const numbers = readAll(tensor);
    layout.view(values, name).set(heads === undefined ? numbers : interleave(numbers, shape, heads, 'undo'));
  }
  const superfluous = [...tensors.keys()].find((name) => huggingFaceName(name.replace(/\.lora_[ab]$/, '')) === undefined);
  if (superfluous !== undefined) throw new ModelError(`${file} holds the tensor ${superfluous}, which belongs to no matrix of the model`);
  return values;
}
