// Exports keep what was trained: each format is written, opened again and compared, by the lab itself and here.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { openAdapter } from '../../../main/policy/model/adapter.ts';
import { scoreTokens } from '../../../main/policy/model/continuation.ts';
import { EXPORTS, exportModel } from '../../../main/policy/model/files/export.ts';
import { readGguf } from '../../../main/policy/model/files/gguf.ts';
import { writeGguf, type GgufEntry } from '../../../main/policy/model/files/gguf-write.ts';
import { modelNetwork } from '../../../main/policy/model/model-network.ts';
import { ModelRegistry } from '../../../main/policy/model/files/registry.ts';
import { ModelText } from '../../../main/policy/model/text.ts';
import { ParameterLayout } from '../../../main/engine/graph/parameters.ts';
import { GOLDEN, goldenFolder, goldenJson, temporaryFolder } from './samples.ts';
import { writeTinyModel } from './tiny-model.ts';

const goldenSchema = z.object({ tokens: z.array(z.array(z.int())), adapter: z.object({ logProbs: z.array(z.array(z.number())) }) });

function tuned(name: string) {
  const registry = new ModelRegistry(temporaryFolder());
  registry.add(goldenFolder(name), name);
  const source = registry.open(name);
  const { lora, layout, values } = openAdapter(join(goldenFolder(name), 'adapter'), source.config);
  return { registry, model: { source, trained: lora, layout, values }, golden: goldenSchema.parse(goldenJson(name, 'golden.json')) };
}

describe.each(GOLDEN)('%s with its adapter', (name) => {
  it.each(EXPORTS)('is the same model after export as %s', async (format) => {
    const { model, registry, golden } = tuned(name);
    const path = join(temporaryFolder(), format === 'gguf' ? 'merged.gguf' : 'out');
    const { difference } = await exportModel(model, format, path);
    expect(difference).toBeLessThan(1e-3);
    await expect(exportModel(model, format, path)).rejects.toThrow(/exists already/);
    const whole = format === 'safetensors' || format === 'gguf';
    // A merged model has the log-probabilities that PEFT gives for model and adapter.
    const logProbs = whole ? await scoreExport(registry, path, golden.tokens) : golden.adapter.logProbs;
    const apart = golden.adapter.logProbs.flatMap((row, r) => row.map((number, i) => Math.abs(number - (logProbs[r]?.[i] ?? Number.NaN))));
    expect(Math.max(...apart)).toBeLessThan(1e-3);
  });
});

async function scoreExport(registry: ModelRegistry, path: string, tokens: readonly number[][]): Promise<readonly ArrayLike<number>[]> {
  registry.add(path, 'exported');
  const network = modelNetwork({ ...registry.open('exported'), trained: 'none', contextLength: 64 });
  return scoreTokens(network, network.layout.zeros(), tokens);
}

describe('an export', () => {
  it('keeps the tokenizer and the chat template in a GGUF file', async () => {
    const registry = new ModelRegistry(temporaryFolder());
    const folder = temporaryFolder();
    writeTinyModel(folder);
    registry.add(folder, 'tiny');
    const source = registry.open('tiny');
    const layout = new ParameterLayout([]);
    const path = join(temporaryFolder(), 'tiny.gguf');
    const nothing = { rank: 1, alpha: 1, targets: [] };
    await exportModel({ source, trained: nothing, layout, values: layout.zeros() }, 'gguf', path);
    registry.add(path, 'again');
    const [before, after] = [new ModelText(source), new ModelText(registry.open('again'))];
    const page = 'Found 21 results. Top 5: Slim Red Running Shoes shoes $89 37';
    expect(after.decode(after.encode(page))).toBe(page);
    const chat = [{ role: 'user', content: page }] as const;
    expect(after.render(chat, true)).toBe(before.render(chat, true));
    expect(readGguf(path).metadata.get('tokenizer.ggml.eos_token_id')).toBe(2);
  });

  it('can have a vocabulary of 200,000 tokens', () => {
    const tokens = Array.from({ length: 200_000 }, (_, id) => `token ${id}`);
    const path = join(temporaryFolder(), 'large.gguf');
    const numbers = (): Float32Array[] => [Float32Array.of(1, 2)];
    const metadata = new Map<string, GgufEntry>([
      ['general.architecture', { type: 'text', value: 'llama' }],
      ['tokenizer.ggml.tokens', { type: 'texts', value: tokens }],
    ]);
    writeGguf(path, metadata, [{ name: 'output_norm.weight', shape: [2], numbers }]);
    expect(readGguf(path).metadata.get('tokenizer.ggml.tokens')).toEqual(tokens);
  });

  it('that has lost the training is refused and removed', async () => {
    const { model } = tuned('tiny-qwen2');
    const path = join(temporaryFolder(), 'adapter');
    const wrong = {
      ...model,
      source: { ...model.source, tensors: new Map([...model.source.tensors].map(([key, tensor]) => [key, shifted(key, tensor)])) },
    };
    await expect(exportModel(wrong, 'safetensors', path)).rejects.toThrow(/differ from the trained policy's/);
    expect(existsSync(path)).toBe(false);
  });
});

/** A tensor that reads other numbers than the ones that are mapped. */
function shifted<T extends { file: string; offset: number; bytes: number }>(name: string, tensor: T): T {
  if (name !== 'model.norm.weight') return tensor;
  const file = join(temporaryFolder(), 'other');
  writeFileSync(file, Buffer.alloc(tensor.bytes, readFileSync(tensor.file).subarray(0, 4)));
  return { ...tensor, file, offset: 0 };
}
