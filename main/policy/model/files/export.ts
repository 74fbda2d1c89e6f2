// What was trained, written for others: an adapter in PEFT's format or as GGUF, or the model with its adapter merged in, as safetensors or
// GGUF. Every file is opened again after writing and must give the probabilities of the trained policy: an export that has lost the
// training is worse than none.

import { copyFileSync, existsSync, lstatSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Flat, ParameterLayout } from '../../../engine/graph/parameters.ts';
import { Random } from '../../../base/random.ts';
import { openAdapter, writeAdapter } from '../adapter.ts';
import type { LoraShape } from '../adapter.ts';
import { weightSpecs } from '../architecture.ts';
import { scoreTokens } from '../continuation.ts';
import { adapterMetadata, adapterTensors, ggufTensors, modelMetadata, readGgufAdapter } from './gguf-export.ts';
import { writeGguf } from './gguf-write.ts';
import { mapWeights } from './mapped-weights.ts';
import { modelNetwork } from '../model-network.ts';
import type { OpenModel } from './registry.ts';
import { writeSafetensors } from './safetensors.ts';
import type { NewTensor } from './safetensors.ts';
import { openSource } from './source.ts';
import { ModelError, readAll } from './tensor-source.ts';
import { ModelText } from '../text.ts';

export const EXPORTS = ['peft', 'safetensors', 'gguf', 'gguf-adapter'] as const;
export type ExportFormat = (typeof EXPORTS)[number];

/** A model with what training has made of it. */
export interface TrainedModel {
  readonly source: OpenModel;
  /** The adapter's shape, or that every weight was trained. */
  readonly trained: LoraShape | 'all';
  readonly layout: ParameterLayout;
  readonly values: Flat;
}

export interface ExportReport {
  readonly path: string;
  /** Largest difference of a log-probability between the file and the trained policy, over ten prompts. */
  readonly difference: number;
}

const PROMPTS = 10;
const PROMPT_TOKENS = 24;
/** Float32 is written as it is; merging rounds once more. */
const TOLERANCE = 1e-3;

/** Writes to `path` (a folder for peft and safetensors, else a file) and verifies what was written; a failed export is removed. */
export async function exportModel(model: TrainedModel, format: ExportFormat, path: string): Promise<ExportReport> {
  if (lstatSync(path, { throwIfNoEntry: false })) throw new ModelError(`${path} exists already; choose another place`);
  try {
    write(model, format, path);
    const prompts = promptsFor(model.source);
    const expected = await score(model, prompts);
    const found = await scoreWritten(model, format, path, prompts);
    const difference = Math.max(
      ...expected.flatMap((row, r) => Array.from(row, (number, i) => Math.abs(number - (found[r]?.[i] ?? Number.NaN)))),
    );
    if (!(difference <= TOLERANCE))
      throw new ModelError(
        `${path} was written, but its log-probabilities differ from the trained policy's by ${difference}; it was removed`,
      );
    return { path, difference };
  } catch (error) {
    rmSync(path, { recursive: true, force: true });
    throw error;
  }
}

function write(model: TrainedModel, format: ExportFormat, path: string): void {
  const { source, layout, values } = model;
  const { config } = source;
  if (format === 'safetensors') {
    mkdirSync(path, { recursive: true });
    writeSafetensors(join(path, 'model.safetensors'), mergedTensors(model));
    copyDescription(source, path);
  } else if (format === 'gguf') writeGguf(path, modelMetadata(source, source.name), ggufTensors(config, mergedTensors(model)));
  else if (format === 'peft') writeAdapter(path, loraOf(model), layout, values, source.path);
  else writeGguf(path, adapterMetadata(config, loraOf(model)), adapterTensors(config, layout, values));
}

function loraOf({ trained }: TrainedModel): LoraShape {
  if (trained === 'all')
    throw new ModelError('Every weight of this run was trained, so there is no adapter; export it as safetensors or gguf');
  return trained;
}

/** Config and tokenizer go along unchanged; the weights are float32 now. */
function copyDescription(source: OpenModel, path: string): void {
  if (source.kind === 'folder') {
    for (const name of [
      'config.json',
      'generation_config.json',
      'tokenizer.json',
      'tokenizer_config.json',
      'chat_template.jinja',
      'special_tokens_map.json',
    ]) {
      if (existsSync(join(source.path, name))) copyFileSync(join(source.path, name), join(path, name));
    }
    return;
  }
  const { config } = source;
  const json = {
    model_type: config.architecture,
    architectures: [
      { llama: 'LlamaForCausalLM', mistral: 'MistralForCausalLM', qwen2: 'Qwen2ForCausalLM', qwen3: 'Qwen3ForCausalLM' }[
        config.architecture
      ],
    ],
    vocab_size: config.vocabulary,
    hidden_size: config.width,
    num_hidden_layers: config.layers,
    num_attention_heads: config.heads,
    num_key_value_heads: config.keyValueHeads,
    head_dim: config.headSize,
    intermediate_size: config.feedForward,
    max_position_embeddings: config.contextLength,
    rms_norm_eps: config.epsilon,
    rope_theta: config.ropeBase,
    tie_word_embeddings: config.tied,
    hidden_act: 'silu',
    attention_bias: config.architecture === 'llama' && config.projectionBias,
    eos_token_id: [...config.endTokens],
  };
  writeFileSync(join(path, 'config.json'), `${JSON.stringify(json, null, 2)}\n`);
  if (source.tokenizer) {
    writeFileSync(join(path, 'tokenizer.json'), JSON.stringify(source.tokenizer.tokenizer));
    writeFileSync(join(path, 'tokenizer_config.json'), JSON.stringify(source.tokenizer.settings));
  }
}

/** Every weight with its adapter added: W + alpha / rank · B·A. */
function mergedTensors({ source, trained, layout, values }: TrainedModel): NewTensor[] {
  const adapted = new Set(layout.specs.map(({ name }) => name));
  return weightSpecs(source.config).map(({ name, shape }) => ({
    name,
    shape,
    numbers: () => {
      if (trained === 'all') return [layout.view(values, name)];
      const tensor = source.tensors.get(name);
      if (!tensor) throw new ModelError(`The model has no tensor ${name}`);
      const weight = readAll(tensor);
      const bare = name.replace(/\.weight$/, '');
      if (adapted.has(`${bare}.lora_A`)) {
        const [low, high] = [layout.view(values, `${bare}.lora_A`), layout.view(values, `${bare}.lora_B`)];
        addProduct(weight, high, low, trained.rank, trained.alpha / trained.rank);
      }
      return [weight];
    },
  }));
}

/** W += scale · B·A, with B [out, rank] and A [rank, in]. */
function addProduct(weight: Float32Array, high: Float32Array, low: Float32Array, rank: number, scale: number): void {
  const inner = low.length / rank;
  const rows = high.length / rank;
  const sum = new Float64Array(inner);
  for (let row = 0; row < rows; row++) {
    sum.fill(0);
    for (let r = 0; r < rank; r++) {
      const factor = scale * (high[row * rank + r] ?? 0);
      const start = r * inner;
      for (let i = 0; i < inner; i++) sum[i] = (sum[i] ?? 0) + factor * (low[start + i] ?? 0);
    }
    for (let i = 0; i < inner; i++) weight[row * inner + i] = (weight[row * inner + i] ?? 0) + (sum[i] ?? 0);
  }
}

/** Ten beginnings of sentences, or tokens at random where a model has no tokenizer. */
function promptsFor({ tokenizer, path, config }: OpenModel): number[][] {
  const random = Random.from('export-prompts');
  const text = tokenizer && new ModelText({ tokenizer, path });
  const sentences = ['search red shoes', 'buy 12', 'The capital of France is Paris.', 'Once upon a time there was', '1 + 2 = 3, 4 + 5 = 9'];
  return Array.from({ length: PROMPTS }, (_, index) => {
    const sentence = sentences[index];
    const said = text && sentence !== undefined ? text.encode(sentence) : [];
    const drawn = Array.from({ length: PROMPT_TOKENS }, () => Math.floor(random.next() * config.vocabulary));
    return said.length > 1 ? said : drawn;
  });
}

async function score({ source, trained, layout, values }: TrainedModel, prompts: readonly number[][]): Promise<Float32Array[]> {
  const network = modelNetwork({ ...source, trained, contextLength: 256 });
  return scoreTokens(network, fitting(layout, values, network.layout), prompts);
}

/** Without a value head, which no export has. */
function fitting(layout: ParameterLayout, values: Flat, target: ParameterLayout): Flat {
  const flat = target.zeros();
  for (const { name } of target.specs) target.view(flat, name).set(layout.view(values, name));
  return flat;
}

async function scoreWritten(
  model: TrainedModel,
  format: ExportFormat,
  path: string,
  prompts: readonly number[][],
): Promise<Float32Array[]> {
  const { source } = model;
  if (format === 'peft') {
    const { lora, values } = openAdapter(path, source.config);
    return scoreTokens(modelNetwork({ ...source, trained: lora, contextLength: 256 }), values, prompts);
  }
  if (format === 'gguf-adapter') {
    const network = modelNetwork({ ...source, trained: loraOf(model), contextLength: 256 });
    return scoreTokens(network, readGgufAdapter(path, source.config, network.layout), prompts);
  }
  const work = mkdtempSync(join(tmpdir(), 'astrolab-verify-'));
  try {
    const written = openSource(path);
    const network = modelNetwork({
      ...written,
      weights: mapWeights(written, 'written', work),
      hash: 'written',
      trained: 'none',
      contextLength: 256,
    });
    return await scoreTokens(network, network.layout.zeros(), prompts);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
