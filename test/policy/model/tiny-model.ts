// A tiny Llama with random weights and a byte-level tokenizer, written as a Hugging Face folder: everything a policy needs, in 200 KB.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseModelConfig, weightSpecs } from '../../../main/policy/model/architecture.ts';
import { writeSafetensors } from '../../../main/policy/model/files/safetensors.ts';
import { Random } from '../../../main/base/random.ts';
import { TOKENIZERS } from './tokenizers.ts';

/** `changes` of config.json make it larger. */
export function writeTinyModel(folder: string, changes: Readonly<Record<string, number>> = {}): void {
  const { size, tokenizer, settings } = TOKENIZERS.words();
  const json = {
    model_type: 'llama',
    vocab_size: size,
    hidden_size: 32,
    num_hidden_layers: 2,
    num_attention_heads: 4,
    num_key_value_heads: 2,
    intermediate_size: 48,
    max_position_embeddings: 1024,
    rms_norm_eps: 1e-5,
    rope_theta: 10_000,
    tie_word_embeddings: true,
    hidden_act: 'silu',
    eos_token_id: 2,
    ...changes,
  };
  const random = Random.from('tiny-model');
  const tensors = weightSpecs(parseModelConfig(json, 'tiny')).map(({ name, shape }) => {
    const count = shape.reduce((product, extent) => product * extent, 1);
    const scale = 1 / Math.sqrt(shape[1] ?? 1);
    const numbers = Float32Array.from({ length: count }, () => (shape.length === 1 ? 1 : scale * random.normal()));
    return { name, shape, numbers: () => [numbers] };
  });
  writeSafetensors(join(folder, 'model.safetensors'), tensors);
  writeFileSync(join(folder, 'config.json'), JSON.stringify(json));
  writeFileSync(join(folder, 'tokenizer.json'), JSON.stringify(tokenizer));
  writeFileSync(join(folder, 'tokenizer_config.json'), JSON.stringify(settings));
}
