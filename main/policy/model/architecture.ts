// The language models that can be used: the Llama family (Llama, SmolLM2, Mistral without a sliding window, Qwen2 and 2.5, Qwen3).
// They differ in a few switches, which are read from a Hugging Face config.json here. What is not supported is refused by name:
// a model that runs but computes something else would be worse.

import { z } from 'zod';
import { ModelError } from './files/tensor-source.ts';

export type RopeScaling =
  | { readonly kind: 'none' }
  | { readonly kind: 'linear'; readonly factor: number }
  | {
      readonly kind: 'llama3';
      readonly factor: number;
      readonly lowFrequency: number;
      readonly highFrequency: number;
      readonly originalLength: number;
    };

export interface LanguageModelConfig {
  readonly architecture: 'llama' | 'mistral' | 'qwen2' | 'qwen3';
  readonly vocabulary: number;
  readonly width: number;
  readonly layers: number;
  readonly heads: number;
  readonly keyValueHeads: number;
  readonly headSize: number;
  readonly feedForward: number;
  readonly contextLength: number;
  readonly epsilon: number;
  readonly ropeBase: number;
  readonly ropeScaling: RopeScaling;
  /** The output matrix is the embedding. */
  readonly tied: boolean;
  /** Biases of query, key and value; and of the attention's output. */
  readonly projectionBias: boolean;
  readonly outputBias: boolean;
  /** Queries and keys are normalised by head. */
  readonly headNorm: boolean;
  /** Tokens that end an answer. */
  readonly endTokens: readonly number[];
}

const FAMILIES = ['llama', 'mistral', 'qwen2', 'qwen3'] as const;
const count = (most: number) => z.int().min(1).max(most);
const tokenIds = z.union([z.int(), z.array(z.int())]).nullish();
const ropeSchema = z
  .looseObject({
    rope_type: z.string().optional(),
    type: z.string().optional(),
    rope_theta: z.number().positive().optional(),
    factor: z.number().positive().optional(),
    low_freq_factor: z.number().positive().optional(),
    high_freq_factor: z.number().positive().optional(),
    original_max_position_embeddings: count(10_000_000).optional(),
  })
  .nullish();
const fileSchema = z.looseObject({
  model_type: z.string(),
  vocab_size: count(2_000_000),
  hidden_size: count(65_536),
  num_hidden_layers: count(1000),
  num_attention_heads: count(1024),
  num_key_value_heads: count(1024).nullish(),
  head_dim: count(4096).nullish(),
  intermediate_size: count(1_000_000),
  max_position_embeddings: count(100_000_000),
  rms_norm_eps: z.number().positive().max(1),
  rope_theta: z.number().positive().optional(),
  rope_scaling: ropeSchema,
  rope_parameters: ropeSchema,
  partial_rotary_factor: z.number().optional(),
  tie_word_embeddings: z.boolean().optional(),
  attention_bias: z.boolean().optional(),
  mlp_bias: z.boolean().optional(),
  hidden_act: z.string().optional(),
  sliding_window: z.int().nullish(),
  use_sliding_window: z.boolean().optional(),
  layer_types: z.array(z.string()).nullish(),
  eos_token_id: tokenIds,
  quantization_config: z.unknown().optional(),
});

/** Reads a Hugging Face config.json; `where` names it in errors. */
export function parseModelConfig(json: unknown, where: string): LanguageModelConfig {
  const kind = z.looseObject({ model_type: z.string() }).safeParse(json);
  if (!kind.success) throw new ModelError(`${where} names no model_type; it is not the config.json of a Hugging Face model`);
  const architecture = FAMILIES.find((family) => family === kind.data.model_type);
  if (!architecture) {
    const experts = /moe|mixtral/i.test(kind.data.model_type) ? ' (a mixture of experts)' : '';
    throw new ModelError(
      `${where}: models of type "${kind.data.model_type}"${experts} are not supported; expected ${FAMILIES.join(', ')} (SmolLM2 is a llama)`,
    );
  }
  const parsed = fileSchema.safeParse(json);
  if (!parsed.success) throw new ModelError(`${where} cannot be used: ${z.prettifyError(parsed.error)}`);
  const file = parsed.data;
  refuseUnsupported(file, architecture, where);
  const heads = file.num_attention_heads;
  const config: LanguageModelConfig = {
    architecture,
    vocabulary: file.vocab_size,
    width: file.hidden_size,
    layers: file.num_hidden_layers,
    heads,
    keyValueHeads: file.num_key_value_heads ?? heads,
    headSize: file.head_dim ?? file.hidden_size / heads,
    feedForward: file.intermediate_size,
    contextLength: file.max_position_embeddings,
    epsilon: file.rms_norm_eps,
    ropeBase: file.rope_parameters?.rope_theta ?? file.rope_theta ?? 10_000,
    ropeScaling: scalingOf(file.rope_parameters ?? file.rope_scaling, where),
    tied: file.tie_word_embeddings ?? false,
    projectionBias: architecture === 'qwen2' || file.attention_bias === true,
    outputBias: architecture !== 'qwen2' && file.attention_bias === true,
    headNorm: architecture === 'qwen3',
    endTokens: [file.eos_token_id ?? []].flat(),
  };
  checkConfig(config, where);
  return config;
}

/** What must hold of a config wherever it was read from. */
export function checkConfig(
  { heads, keyValueHeads, headSize, width, vocabulary, layers, feedForward }: LanguageModelConfig,
  where: string,
): void {
  if (heads % keyValueHeads !== 0)
    throw new ModelError(`${where}: ${heads} attention heads cannot share ${keyValueHeads} key-value heads evenly`);
  if (!Number.isInteger(headSize) || headSize % 2 !== 0)
    throw new ModelError(`${where}: a head of ${headSize} channels cannot be turned by its position; an even number is needed`);
  const parameters = vocabulary * width + layers * width * (2 * heads * headSize + 2 * keyValueHeads * headSize + 3 * feedForward);
  if (parameters > 2e11)
    throw new ModelError(`${where} describes ${(parameters / 1e9).toFixed(0)} billion parameters; that is not a model for this lab`);
}

function refuseUnsupported(file: z.infer<typeof fileSchema>, architecture: string, where: string): void {
  const refuse = (what: string): ModelError => new ModelError(`${where}: ${what}`);
  if (file.quantization_config !== undefined && file.quantization_config !== null)
    throw refuse('weights quantised by GPTQ, AWQ, bitsandbytes and the like are not supported; use the original weights or a GGUF file');
  if (file.hidden_act !== undefined && file.hidden_act !== 'silu')
    throw refuse(`the activation "${file.hidden_act}" is not supported; expected silu`);
  if (file.mlp_bias) throw refuse('biases in the feed-forward part (mlp_bias) are not supported');
  const sliding =
    architecture === 'mistral'
      ? typeof file.sliding_window === 'number'
      : file.use_sliding_window === true || (architecture === 'llama' && typeof file.sliding_window === 'number');
  if (sliding) throw refuse('attention with a sliding window is not supported');
  const other = file.layer_types?.find((kind) => kind !== 'full_attention');
  if (other !== undefined) throw refuse(`layers of type "${other}" are not supported; expected full_attention`);
  if (file.partial_rotary_factor !== undefined && file.partial_rotary_factor !== 1)
    throw refuse(`turning only a part of each head (partial_rotary_factor ${file.partial_rotary_factor}) is not supported`);
}

function scalingOf(scaling: z.infer<typeof ropeSchema>, where: string): RopeScaling {
  const kind = scaling?.rope_type ?? scaling?.type ?? 'default';
  if (kind === 'default') return { kind: 'none' };
  const { factor, low_freq_factor: low, high_freq_factor: high, original_max_position_embeddings: length } = scaling ?? {};
  if (kind === 'linear' && factor !== undefined) return { kind: 'linear', factor };
  if (kind === 'llama3' && factor !== undefined && low !== undefined && high !== undefined && length !== undefined)
    return { kind: 'llama3', factor, lowFrequency: low, highFrequency: high, originalLength: length };
  throw new ModelError(
    `${where}: rope scaling of the kind "${kind}" is not supported; expected default, linear or llama3 with all its factors`,
  );
}

export interface WeightSpec {
  readonly name: string;
  readonly shape: readonly number[];
}

export const layerName = (layer: number, part: string): string => `model.layers.${layer}.${part}`;

/** Every tensor that the model consists of, under its Hugging Face name, matrices as [out, in]. */
export function weightSpecs(config: LanguageModelConfig): WeightSpec[] {
  const { width, layers, feedForward, vocabulary, heads, keyValueHeads, headSize } = config;
  const specs: WeightSpec[] = [{ name: 'model.embed_tokens.weight', shape: [vocabulary, width] }];
  for (let layer = 0; layer < layers; layer++) {
    const add = (part: string, ...shape: number[]): void => void specs.push({ name: layerName(layer, part), shape });
    add('input_layernorm.weight', width);
    for (const [part, count] of [
      ['q', heads],
      ['k', keyValueHeads],
      ['v', keyValueHeads],
    ] as const) {
      add(`self_attn.${part}_proj.weight`, count * headSize, width);
      if (config.projectionBias) add(`self_attn.${part}_proj.bias`, count * headSize);
      if (config.headNorm && part !== 'v') add(`self_attn.${part}_norm.weight`, headSize);
    }
    add('self_attn.o_proj.weight', width, heads * headSize);
    if (config.outputBias) add('self_attn.o_proj.bias', width);
    add('post_attention_layernorm.weight', width);
    add('mlp.gate_proj.weight', feedForward, width);
    add('mlp.up_proj.weight', feedForward, width);
    add('mlp.down_proj.weight', width, feedForward);
  }
  specs.push({ name: 'model.norm.weight', shape: [width] });
  if (!config.tied) specs.push({ name: 'lm_head.weight', shape: [vocabulary, width] });
  return specs;
}

export const parameterCount = (config: LanguageModelConfig): number =>
  weightSpecs(config).reduce((sum, { shape }) => sum + shape.reduce((product, size) => product * size, 1), 0);
