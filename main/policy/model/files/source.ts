// Opens what somebody has: a Hugging Face folder or a GGUF file. It answers with the model's shape and the place of every tensor, or
// refuses by name before anything is copied: pickles, missing shards, tensors that are missing, superfluous or of another shape.

import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { z } from 'zod';
import { parseModelConfig, weightSpecs } from '../architecture.ts';
import type { LanguageModelConfig } from '../architecture.ts';
import { ggufTokenizer, openGguf } from './gguf-model.ts';
import { readSafetensors } from './safetensors.ts';
import { ModelError } from './tensor-source.ts';
import type { TensorSource } from './tensor-source.ts';

export interface ModelSource {
  readonly kind: 'folder' | 'gguf';
  readonly path: string;
  readonly config: LanguageModelConfig;
  /** Every tensor of `weightSpecs(config)`, by name. */
  readonly tensors: ReadonlyMap<string, TensorSource>;
  /** The files that make the model what it is: weights, config, tokenizer. */
  readonly files: readonly string[];
  /** Contents of tokenizer.json and tokenizer_config.json; undefined where the model has no tokenizer that can be used. */
  readonly tokenizer: { readonly tokenizer: unknown; readonly settings: unknown } | undefined;
}

const indexSchema = z.object({ weight_map: z.record(z.string(), z.string().max(255)) });
const LONGEST_JSON = 200_000_000;

export function openSource(path: string): ModelSource {
  const full = resolve(path);
  if (!existsSync(full)) throw new ModelError(`There is nothing at ${full}; expected a model folder or a .gguf file`);
  return statSync(full).isDirectory() ? openFolder(full) : openFile(full);
}

function openFile(path: string): ModelSource {
  if (!path.toLowerCase().endsWith('.gguf'))
    throw new ModelError(`${path} is a file; expected a folder with config.json and safetensors, or a .gguf file${pickleHint(path)}`);
  const { config, tensors, metadata } = openGguf(path);
  return { kind: 'gguf', path, config, tensors: exactly(config, tensors, path), files: [path], tokenizer: ggufTokenizer(metadata) };
}

function openFolder(path: string): ModelSource {
  const configFile = join(path, 'config.json');
  if (!existsSync(configFile)) {
    const ggufs = readdirSync(path).filter((name) => name.endsWith('.gguf'));
    const hint = ggufs.length > 0 ? `; it holds ${ggufs.slice(0, 3).join(', ')}: give one of these files` : '';
    throw new ModelError(`${path} has no config.json, so it is not a Hugging Face model folder${hint}`);
  }
  const config = withEnds(parseModelConfig(readJson(configFile), configFile), join(path, 'generation_config.json'));
  const shards = shardsOf(path);
  const tensors = new Map<string, TensorSource>();
  for (const shard of shards) {
    for (const [name, tensor] of readSafetensors(shard)) {
      if (tensors.has(name)) throw new ModelError(`${path}: the tensor ${name} is in two files`);
      tensors.set(name, tensor);
    }
  }
  const tokenizerFile = join(path, 'tokenizer.json');
  const settingsFile = join(path, 'tokenizer_config.json');
  const templateFile = join(path, 'chat_template.jinja');
  const extras = [tokenizerFile, settingsFile, templateFile].filter((file) => existsSync(file));
  const settings = existsSync(settingsFile) ? readJson(settingsFile) : {};
  const template = existsSync(templateFile) ? { chat_template: readFileSync(templateFile, 'utf8') } : {};
  return {
    kind: 'folder',
    path,
    config,
    tensors: exactly(config, tensors, path),
    files: [...shards, configFile, ...extras],
    tokenizer: existsSync(tokenizerFile)
      ? { tokenizer: readJson(tokenizerFile), settings: typeof settings === 'object' ? { ...settings, ...template } : template }
      : undefined,
  };
}

/** Chat models often name more ends of an answer in generation_config.json. */
function withEnds(config: LanguageModelConfig, file: string): LanguageModelConfig {
  if (!existsSync(file)) return config;
  const parsed = z.looseObject({ eos_token_id: z.union([z.int(), z.array(z.int())]).nullish() }).safeParse(readJson(file));
  const more = parsed.success ? [parsed.data.eos_token_id ?? []].flat() : [];
  return { ...config, endTokens: [...new Set([...config.endTokens, ...more])] };
}

function shardsOf(path: string): string[] {
  const single = join(path, 'model.safetensors');
  if (existsSync(single)) return [single];
  const index = join(path, 'model.safetensors.index.json');
  if (!existsSync(index)) {
    const pickles = readdirSync(path).find((name) => /\.(bin|pt|pth|ckpt)$/.test(name));
    if (pickles)
      throw new ModelError(
        `${path} holds its weights as a pickle (${pickles}), which can run code when opened; convert it to safetensors first`,
      );
    throw new ModelError(`${path} has neither model.safetensors nor model.safetensors.index.json`);
  }
  const parsed = indexSchema.safeParse(readJson(index));
  if (!parsed.success) throw new ModelError(`${index} is not an index of shards: ${z.prettifyError(parsed.error)}`);
  const names = [...new Set(Object.values(parsed.data.weight_map))].sort();
  for (const name of names) {
    if (name !== basename(name)) throw new ModelError(`${index} names "${name}", which lies outside the folder`);
    if (!existsSync(join(path, name))) throw new ModelError(`${path}: the shard ${name} is missing; the index needs ${names.length} files`);
  }
  return names.map((name) => join(path, name));
}

/** Just the tensors the model needs, each with its shape. */
function exactly(config: LanguageModelConfig, tensors: ReadonlyMap<string, TensorSource>, where: string): Map<string, TensorSource> {
  const exact = new Map<string, TensorSource>();
  for (const { name, shape } of weightSpecs(config)) {
    const tensor = tensors.get(name);
    if (!tensor)
      throw new ModelError(`${where}: the tensor ${name} [${shape.join(', ')}] is missing (or of a type that is not F32, F16 or BF16)`);
    if (tensor.shape.join() !== shape.join())
      throw new ModelError(
        `${where}: the tensor ${name} has the shape [${tensor.shape.join(', ')}]; the config asks for [${shape.join(', ')}]`,
      );
    exact.set(name, tensor);
  }
  const superfluous = [...tensors.keys()].find(
    (name) => !exact.has(name) && name !== 'lm_head.weight' && !name.endsWith('rotary_emb.inv_freq'),
  );
  if (superfluous !== undefined)
    throw new ModelError(
      `${where} holds the tensor ${superfluous}, which a ${config.architecture} model does not have; it would be computed wrongly`,
    );
  return exact;
}

function readJson(file: string): unknown {
  if (statSync(file).size > LONGEST_JSON)
    throw new ModelError(`${file} has ${statSync(file).size} bytes; no such file of a model is that long`);
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    throw new ModelError(`${file} is not JSON`);
  }
}

const pickleHint = (path: string): string =>
  /\.(bin|pt|pth|ckpt)$/.test(path) ? ' (pickles can run code when opened and are never read)' : '';
