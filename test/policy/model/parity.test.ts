// A language model computes what transformers and PEFT compute: log-probabilities, greedy tokens, the adapter's gradients and ten steps of
// AdamW on four tiny models with random weights. The golden numbers were made by test/golden/make_llm.py.

import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { neg } from '../../../main/engine/graph/operators.ts';
import { Trainer, freshState } from '../../../main/engine/runtime/training-step.ts';
import { PackedBatch } from '../../../main/policy/transformer/batch.ts';
import { openAdapter, readAdapter, readAdapterShape, writeAdapter } from '../../../main/policy/model/adapter.ts';
import { generateTokens, scoreTokens } from '../../../main/policy/model/continuation.ts';
import { modelNetwork } from '../../../main/policy/model/model-network.ts';
import { ModelRegistry } from '../../../main/policy/model/files/registry.ts';
import { readSafetensors } from '../../../main/policy/model/files/safetensors.ts';
import { readAll } from '../../../main/policy/model/files/tensor-source.ts';
import { policyObjective } from '../../../main/policy/transformer/network.ts';
import { GOLDEN, goldenFolder, goldenJson, temporaryFolder } from './samples.ts';

const numbers = z.array(z.array(z.number()));
const goldenSchema = z.object({
  tokens: numbers,
  logProbs: numbers,
  greedy: z.object({ prompt: z.array(z.int()), continuation: z.array(z.int()) }),
  adapter: z.object({ logProbs: numbers, loss: z.number(), gradient_norm: z.number() }),
  adamw: z.object({ losses: z.array(z.number()) }),
});

function open(name: string) {
  const registry = new ModelRegistry(temporaryFolder());
  registry.add(goldenFolder(name), name);
  const { config, weights, hash } = registry.open(name);
  const bare = modelNetwork({ config, weights, hash, trained: 'none', contextLength: 64 });
  const adapter = openAdapter(join(goldenFolder(name), 'adapter'), config);
  const tuned = modelNetwork({ config, weights, hash, trained: adapter.lora, contextLength: 64 });
  return { golden: goldenSchema.parse(goldenJson(name, 'golden.json')), config, bare, tuned, adapter };
}

function largestDifference(found: readonly ArrayLike<number>[], expected: readonly ArrayLike<number>[]): number {
  expect(found.map(({ length }) => length)).toEqual(expected.map(({ length }) => length));
  return Math.max(
    ...expected.map((row, r) => Math.max(...Array.from(row, (number, i) => Math.abs(number - (found[r]?.[i] ?? Number.NaN))))),
  );
}

/** The mean of −log p over the targets from position 20 on, as the golden script has it. */
function objective({ tokens }: z.infer<typeof goldenSchema>, network: ReturnType<typeof open>['tuned'], recompute: boolean) {
  const rows = tokens.map((list) => [
    {
      tokens: list,
      flags: list.map(() => 0),
      agent: list.slice(21).map((target, i) => ({ position: 20 + i, target, mask: { allowed: new Int32Array(0) } })),
    },
  ]);
  const shape = { rows: 3, time: 32, agentTokens: 12, masks: 0, episodes: 3 };
  const batch = new PackedBatch(rows, network, shape);
  const build = policyObjective(network, shape, { recompute }, (_graph, policy) => ({ loss: neg(policy.tokenMean(policy.logProbs)) }));
  return { key: 'golden', build, feeds: { ...batch.feeds, ...PackedBatch.divisors(3, batch.tokenCount) } };
}

describe.each(GOLDEN)('%s', (name) => {
  it('has the log-probabilities of transformers, with and without its adapter', async () => {
    const { golden, bare, tuned, adapter } = open(name);
    expect(largestDifference(await scoreTokens(bare, bare.layout.zeros(), golden.tokens), golden.logProbs)).toBeLessThan(1e-4);
    expect(largestDifference(await scoreTokens(tuned, adapter.values, golden.tokens), golden.adapter.logProbs)).toBeLessThan(1e-4);
  });

  it('continues greedily with the same tokens', async () => {
    const { golden, bare } = open(name);
    const { prompt, continuation } = golden.greedy;
    const settings = { greedy: true, maxTokens: continuation.length, endTokens: [], seed: 1 };
    const [alone] = await generateTokens(bare, bare.layout.zeros(), [prompt], settings);
    expect(alone).toEqual(continuation);
    const others = golden.tokens.map((tokens) => tokens.slice(0, 5));
    const together = await generateTokens(bare, bare.layout.zeros(), [...others, prompt], settings);
    expect(together.at(-1)).toEqual(continuation);
  });

  it.each([false, true])('has the gradients of PEFT and the losses of ten steps (layers computed again: %s)', async (recompute) => {
    const { golden, tuned, adapter } = open(name);
    const state = freshState(tuned.layout, adapter.values);
    const optimizer = { beta1: 0.9, beta2: 0.98, epsilon: 1e-8, weightDecay: 0, clip: 1 };
    const trainer = new Trainer({ layout: tuned.layout, state, optimizer, session: { threads: 1 } });
    try {
      const batch = objective(golden, tuned, recompute);
      const { report, gradients } = await trainer.gradients([batch]);
      expect(report.loss).toBeCloseTo(golden.adapter.loss, 4);
      expect(Math.abs(report.gradientNorm / golden.adapter.gradient_norm - 1)).toBeLessThan(1e-4);
      const expected = readSafetensors(join(goldenFolder(name), 'adapter_gradients.safetensors'));
      for (const { name: parameter } of tuned.layout.specs) {
        const tensor = expected.get(`base_model.model.${parameter}.weight`);
        if (!tensor) throw new Error(`The golden file has no gradient of ${parameter}`);
        const right = readAll(tensor);
        const found = tuned.layout.view(gradients, parameter);
        const scale = Math.max(...right.map(Math.abs));
        expect(largestDifference([found], [right]) / scale, parameter).toBeLessThan(1e-4);
      }
      const losses: number[] = [];
      for (let step = 0; step < 10; step++) losses.push((await trainer.step([batch], 1e-3)).loss);
      expect(largestDifference([losses], [golden.adamw.losses])).toBeLessThan(1e-4);
    } finally {
      await trainer.dispose();
    }
  });

  it('trains two micro-batches side by side to the very weights of one after the other', async () => {
    const { golden, tuned } = open(name);
    expect(tuned.lanes).toBe(2);
    const trained = async (lanes: number) => {
      const state = freshState(tuned.layout, open(name).adapter.values);
      const trainer = new Trainer({ layout: tuned.layout, state, session: { threads: 2, spinning: false }, lanes });
      const first = objective(golden, tuned, false);
      const second = objective({ ...golden, tokens: golden.tokens.toReversed() }, tuned, false);
      try {
        for (let step = 0; step < 3; step++) await trainer.step([first, second], 1e-2);
      } finally {
        await trainer.dispose();
      }
      return state.values;
    };
    const [together, apart] = [await trained(2), await trained(1)];
    expect(together).toEqual(apart);
    expect(together).not.toEqual(open(name).adapter.values);
  });

  it('keeps its adapter through writing and reading', () => {
    const { tuned, adapter } = open(name);
    const folder = temporaryFolder();
    writeAdapter(folder, adapter.lora, tuned.layout, adapter.values, name);
    expect(readAdapterShape(folder)).toEqual(adapter.lora);
    expect(readAdapter(folder, tuned.layout)).toEqual(adapter.values);
  });
});
