// A GGUF file as a language model: llama.cpp's names and metadata translated into those of Hugging Face, in both directions (exports
// use the same tables). Its tokenizer becomes a tokenizer.json where it is a byte-level BPE.

import { ModelError } from './tensor-source.ts';
import type { TensorSource } from './tensor-source.ts';
import { checkConfig } from '../architecture.ts';
import type { LanguageModelConfig } from '../architecture.ts';
import { readGguf } from './gguf.ts';
import type { GgufValue } from './gguf.ts';

const FAMILIES = ['llama', 'qwen2', 'qwen3'] as const;

/** llama.cpp's name of a part of a layer → Hugging Face's. */
const LAYER_PARTS: Readonly<Record<string, string>> = {
  attn_norm: 'input_layernorm',
  attn_q: 'self_attn.q_proj',
  attn_k: 'self_attn.k_proj',
  attn_v: 'self_attn.v_proj',
  attn_output: 'self_attn.o_proj',
  attn_q_norm: 'self_attn.q_norm',
  attn_k_norm: 'self_attn.k_norm',
  ffn_norm: 'post_attention_layernorm',
  ffn_gate: 'mlp.gate_proj',
  ffn_up: 'mlp.up_proj',
  ffn_down: 'mlp.down_proj',
};
const TOP_PARTS: Readonly<Record<string, string>> = { token_embd: 'model.embed_tokens', output_norm: 'model.norm', output: 'lm_head' };

/** The Hugging Face name of a GGUF tensor; undefined for one that has none. */
export function huggingFaceName(name: string): string | undefined {
  const layer = /^blk\.(\d+)\.([a-z_]+)\.(weight|bias)$/.exec(name);
  if (layer) {
    const part = LAYER_PARTS[layer[2] ?? ''];
    return part && `model.layers.${layer[1]}.${part}.${layer[3]}`;
  }
  const top = /^([a-z_]+)\.(weight|bias)$/.exec(name);
  const part = TOP_PARTS[top?.[1] ?? ''];
  return part && `${part}.${top?.[2]}`;
}

/** The opposite. */
export function ggufName(name: string): string {
  const layer = /^model\.layers\.(\d+)\.(.+)\.(weight|bias)$/.exec(name);
  const parts = layer ? LAYER_PARTS : TOP_PARTS;
  const wanted = layer ? layer[2] : name.replace(/\.(weight|bias)$/, '');
  const found = Object.entries(parts).find(([, part]) => part === wanted)?.[0];
  if (found === undefined) throw new ModelError(`The tensor ${name} has no name in GGUF`);
  return layer ? `blk.${layer[1]}.${found}.${layer[3]}` : `${found}.weight`;
}

export interface GgufModel {
  readonly config: LanguageModelConfig;
  readonly tensors: ReadonlyMap<string, TensorSource>;
  readonly metadata: ReadonlyMap<string, GgufValue>;
}

export function openGguf(file: string): GgufModel {
  const { metadata, tensors: raw } = readGguf(file);
  const config = configOf(metadata, raw, file);
  const tensors = new Map<string, TensorSource>();
  for (const [ggufName, tensor] of raw) {
    if (ggufName === 'rope_freqs.weight')
      throw new ModelError(`${file}: rope factors by frequency (rope_freqs) are not supported in a GGUF file`);
    const name = huggingFaceName(ggufName);
    if (name === undefined)
      throw new ModelError(`${file} holds the tensor "${ggufName}", which a ${config.architecture} model does not have`);
    const rows = /self_attn\.([qk])_proj\.(weight|bias)$/.exec(name);
    const heads = rows?.[1] === 'q' ? config.heads : config.keyValueHeads;
    tensors.set(name, { ...tensor, name, ...(rows && config.architecture === 'llama' && { interleavedHeads: heads }) });
  }
  return { config, tensors, metadata };
}

function configOf(metadata: ReadonlyMap<string, GgufValue>, tensors: ReadonlyMap<string, TensorSource>, file: string): LanguageModelConfig {
  const named = metadata.get('general.architecture');
  const architecture = FAMILIES.find((family) => family === named);
  if (!architecture)
    throw new ModelError(`${file}: GGUF models of the architecture "${String(named)}" are not supported; expected ${FAMILIES.join(', ')}`);
  const optional = (key: string): number | undefined => {
    const found = metadata.get(`${architecture}.${key}`);
    return typeof found === 'number' && Number.isFinite(found) ? found : undefined;
  };
  const need = (key: string): number => {
    const found = optional(key);
    if (found === undefined || found <= 0) throw new ModelError(`${file}: the metadata has no usable ${architecture}.${key}`);
    return found;
  };
  if ((optional('expert_count') ?? 0) > 0) throw new ModelError(`${file}: mixtures of experts are not supported`);
  if ((optional('attention.sliding_window') ?? 0) > 0) throw new ModelError(`${file}: attention with a sliding window is not supported`);
  const scaling = metadata.get(`${architecture}.rope.scaling.type`) ?? 'none';
  if (scaling !== 'none') throw new ModelError(`${file}: rope scaling of the kind "${String(scaling)}" is not supported in a GGUF file`);
  const heads = need('attention.head_count');
  const width = need('embedding_length');
  const [vocabulary = 0] = tensors.get('token_embd.weight')?.shape ?? [];
  const end = metadata.get('tokenizer.ggml.eos_token_id');
  const config: LanguageModelConfig = {
    architecture,
    vocabulary,
    width,
    layers: need('block_count'),
    heads,
    keyValueHeads: optional('attention.head_count_kv') ?? heads,
    headSize: optional('attention.key_length') ?? width / heads,
    feedForward: need('feed_forward_length'),
    contextLength: need('context_length'),
    epsilon: need('attention.layer_norm_rms_epsilon'),
    ropeBase: optional('rope.freq_base') ?? 10_000,
    ropeScaling: { kind: 'none' },
    tied: !tensors.has('output.weight'),
    projectionBias: tensors.has('blk.0.attn_q.bias'),
    outputBias: tensors.has('blk.0.attn_output.bias'),
    headNorm: architecture === 'qwen3',
    endTokens: typeof end === 'number' ? [end] : [],
  };
  for (const size of [
    config.layers,
    config.heads,
    config.keyValueHeads,
    config.width,
    config.feedForward,
    config.contextLength,
    vocabulary,
  ]) {
    if (!Number.isInteger(size) || size < 1 || size > 1e8) throw new ModelError(`${file}: the metadata gives a size of ${size}`);
  }
  checkConfig(config, file);
  return config;
}

/** The pre-tokenizers that llama.cpp knows by name, as the expressions they stand for. */
const SPLITS: Readonly<Record<string, string>> = {
  qwen2: "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
  'llama-bpe':
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
};
/** The kinds of tokens that are never part of a text: control, and defined by the user. */
const MARKED = new Set([3, 4]);

/** The file's tokenizer in the form of tokenizer.json and tokenizer_config.json; undefined where it is not a byte-level BPE. */
export function ggufTokenizer(metadata: ReadonlyMap<string, GgufValue>): { tokenizer: unknown; settings: unknown } | undefined {
  const tokens = metadata.get('tokenizer.ggml.tokens');
  const merges = metadata.get('tokenizer.ggml.merges');
  if (metadata.get('tokenizer.ggml.model') !== 'gpt2' || !Array.isArray(tokens) || !Array.isArray(merges)) return undefined;
  const kinds = metadata.get('tokenizer.ggml.token_type');
  const marked = Array.isArray(kinds) ? kinds.flatMap((kind, id) => (MARKED.has(Number(kind)) ? [id] : [])) : [];
  const pre = SPLITS[String(metadata.get('tokenizer.ggml.pre'))];
  const byteLevel = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: pre === undefined };
  const token = (key: string): string | undefined => {
    const id = metadata.get(`tokenizer.ggml.${key}_token_id`);
    return typeof id === 'number' ? String(tokens[id]) : undefined;
  };
  return {
    tokenizer: {
      version: '1.0',
      added_tokens: marked.map((id) => ({
        id,
        content: String(tokens[id]),
        single_word: false,
        lstrip: false,
        rstrip: false,
        normalized: false,
        special: true,
      })),
      normalizer: null,
      pre_tokenizer:
        pre === undefined
          ? byteLevel
          : {
              type: 'Sequence',
              pretokenizers: [{ type: 'Split', pattern: { Regex: pre }, behavior: 'Isolated', invert: false }, byteLevel],
            },
      post_processor: null,
      decoder: { type: 'ByteLevel' },
      model: {
        type: 'BPE',
        vocab: Object.fromEntries(tokens.map((text, id) => [String(text), id])),
        merges: merges.map(String),
        ignore_merges: false,
      },
    },
    settings: { bos_token: token('bos'), eos_token: token('eos'), chat_template: metadata.get('tokenizer.chat_template') },
  };
}
