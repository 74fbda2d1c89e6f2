// LoRA adapters: for each chosen matrix W a product B·A of low rank is learned beside it, and y = W·x + scale · B·(A·x). The adapter is all
// that training changes. It is read and written in the format of PEFT (adapter_config.json, adapter_model.safetensors).

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { ParameterLayout } from '../../engine/graph/parameters.ts';
import type { Flat, ParameterSpec } from '../../engine/graph/parameters.ts';
import { weightSpecs } from './architecture.ts';
import type { LanguageModelConfig } from './architecture.ts';
import { readSafetensors, writeSafetensors } from './files/safetensors.ts';
import { ModelError, readAll } from './files/tensor-source.ts';

export const TARGETS = ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj'] as const;
export type Target = (typeof TARGETS)[number];

export interface LoraShape {
  readonly rank: number;
  /** The product is scaled by alpha / rank. */
  readonly alpha: number;
  readonly targets: readonly Target[];
}

/** The matrices that carry an adapter: their names without `.weight`, and their shapes [out, in]. */
export function adapted(config: LanguageModelConfig, { targets }: LoraShape): { name: string; out: number; inner: number }[] {
  return weightSpecs(config).flatMap(({ name, shape: [out = 0, inner = 0] }) => {
    const bare = name.replace(/\.weight$/, '');
    return bare !== name && targets.some((target) => bare.endsWith(`.${target}`)) ? [{ name: bare, out, inner }] : [];
  });
}

/** A starts random, B at zero: the adapter begins by changing nothing. */
export function loraSpecs(config: LanguageModelConfig, lora: LoraShape): ParameterSpec[] {
  return adapted(config, lora).flatMap(({ name, out, inner }) => [
    { name: `${name}.lora_A`, shape: [lora.rank, inner], decay: true, deviation: 1 / Math.sqrt(3 * inner) },
    { name: `${name}.lora_B`, shape: [out, lora.rank], decay: true },
  ]);
}

const settingsSchema = z.looseObject({
  peft_type: z.literal('LORA'),
  r: z.int().min(1).max(4096),
  lora_alpha: z.number().positive(),
  target_modules: z.union([z.array(z.string()), z.string()]),
  use_rslora: z.boolean().optional(),
  use_dora: z.boolean().optional(),
  bias: z.string().optional(),
  fan_in_fan_out: z.boolean().optional(),
  modules_to_save: z.array(z.string()).nullish(),
  rank_pattern: z.record(z.string(), z.unknown()).optional(),
  alpha_pattern: z.record(z.string(), z.unknown()).optional(),
  layers_to_transform: z.unknown().optional(),
});

/** Reads adapter_config.json; kinds of adapters that are computed otherwise are refused by name. */
export function readAdapterShape(folder: string): LoraShape {
  const file = join(folder, 'adapter_config.json');
  if (!existsSync(file)) throw new ModelError(`${folder} has no adapter_config.json, so it is not a PEFT adapter`);
  const parsed = settingsSchema.safeParse(JSON.parse(readFileSync(file, 'utf8')));
  if (!parsed.success) throw new ModelError(`${file} cannot be used: ${z.prettifyError(parsed.error)}`);
  const settings = parsed.data;
  const refuse = (what: string): ModelError => new ModelError(`${file}: ${what} is not supported`);
  if (settings.use_dora) throw refuse('DoRA (use_dora)');
  if (settings.bias !== undefined && settings.bias !== 'none') throw refuse(`a trained bias (bias "${settings.bias}")`);
  if (settings.fan_in_fan_out) throw refuse('fan_in_fan_out');
  if (settings.modules_to_save?.length) throw refuse(`saving whole modules (${settings.modules_to_save.join(', ')})`);
  if (Object.keys({ ...settings.rank_pattern, ...settings.alpha_pattern }).length > 0) throw refuse('a rank or alpha by layer');
  if (settings.layers_to_transform !== undefined && settings.layers_to_transform !== null) throw refuse('layers_to_transform');
  const wanted = settings.target_modules === 'all-linear' ? [...TARGETS] : [settings.target_modules].flat();
  const targets = TARGETS.filter((target) => wanted.includes(target));
  const unknown = wanted.find((name) => !TARGETS.some((target) => target === name));
  if (unknown !== undefined) throw refuse(`the target module "${unknown}"`);
  const alpha = settings.use_rslora ? settings.lora_alpha * Math.sqrt(settings.r) : settings.lora_alpha;
  return { rank: settings.r, alpha, targets };
}

const fileName = (name: string): string => `base_model.model.${name}.weight`;

/** The numbers of a PEFT adapter in the layout's vectors. */
export function readAdapter(folder: string, layout: ParameterLayout): Flat {
  const tensors = readSafetensors(join(folder, 'adapter_model.safetensors'));
  const flat = layout.zeros();
  let used = 0;
  for (const { name, shape } of layout.specs) {
    if (!/\.lora_[AB]$/.test(name)) continue;
    const tensor = tensors.get(fileName(name));
    if (tensor?.shape.join() !== shape.join())
      throw new ModelError(
        `${folder}: expected ${fileName(name)} [${shape.join(', ')}], found ${tensor ? `[${tensor.shape.join(', ')}]` : 'nothing'}`,
      );
    layout.view(flat, name).set(readAll(tensor));
    used++;
  }
  if (used < tensors.size)
    throw new ModelError(`${folder} holds ${tensors.size} tensors, of which only ${used} belong to the model and targets named`);
  return flat;
}

/** A stand-alone adapter, with the layout that its config asks for. */
export function openAdapter(folder: string, config: LanguageModelConfig): { lora: LoraShape; layout: ParameterLayout; values: Flat } {
  const lora = readAdapterShape(folder);
  const layout = new ParameterLayout(loraSpecs(config, lora));
  return { lora, layout, values: readAdapter(folder, layout) };
}

/** Writes a folder that transformers + PEFT and this lab can open. */
export function writeAdapter(folder: string, lora: LoraShape, layout: ParameterLayout, values: Flat, baseModel: string): void {
  mkdirSync(folder, { recursive: true });
  const tensors = layout.specs
    .filter(({ name }) => /\.lora_[AB]$/.test(name))
    .map(({ name, shape }) => ({ name: fileName(name), shape, numbers: () => [layout.view(values, name)] }));
  writeSafetensors(join(folder, 'adapter_model.safetensors'), tensors);
  const settings = {
    peft_type: 'LORA',
    task_type: 'CAUSAL_LM',
    base_model_name_or_path: baseModel,
    r: lora.rank,
    lora_alpha: lora.alpha,
    lora_dropout: 0,
    target_modules: [...lora.targets],
    bias: 'none',
    fan_in_fan_out: false,
    inference_mode: true,
  };
  writeFileSync(join(folder, 'adapter_config.json'), `${JSON.stringify(settings, null, 2)}\n`);
}
