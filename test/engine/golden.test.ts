// The training step against PyTorch: test/golden/make_engine.py wrote losses, gradients and parameters of two small models.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import type { Graph } from '../../main/engine/graph/graph.ts';
import { add, mul, neg, square, sub } from '../../main/engine/graph/operators.ts';
import { float, integer } from '../../main/engine/runtime/session.ts';
import type { Value } from '../../main/engine/runtime/session.ts';
import { Trainer, freshState } from '../../main/engine/runtime/training-step.ts';
import type { LossAndMetrics } from '../../main/engine/runtime/training-step.ts';
import { PackedBatch, type LossInput, type PolicyTensors } from '../../main/policy/transformer/batch.ts';
import { policyObjective } from '../../main/policy/transformer/network.ts';
import { modelLayout } from '../../main/policy/transformer/transformer.ts';

const numbers = z.array(z.number());
const schema = z.object({
  config: z.object({
    vocabulary: z.number(),
    width: z.number(),
    layers: z.number(),
    heads: z.number(),
    feedForward: z.number(),
    gate: z.enum(['swiglu', 'relu', 'relu2', 'silu']),
    contextLength: z.number(),
    valueHead: z.boolean(),
    aids: z.object({ matchFlag: z.boolean(), pointer: z.boolean(), tokenShift: z.number() }),
  }),
  optimizer: z.object({ beta1: z.number(), beta2: z.number(), epsilon: z.number(), weightDecay: z.number(), clip: z.number() }),
  learningRate: z.number(),
  batch: z.record(z.string(), z.object({ shape: numbers, whole: z.boolean(), data: numbers })),
  start: z.record(z.string(), numbers),
  losses: numbers,
  norms: numbers,
  gradients: z.record(z.string(), numbers),
  end: z.record(z.string(), numbers),
});

type Loss = (graph: Graph, policy: PolicyTensors, input: LossInput) => LossAndMetrics;

const LOSSES: Record<string, Loss> = {
  plain: (_graph, policy) => ({ loss: neg(policy.tokenMean(policy.logProbs)) }),
  aids: (_graph, policy, input) => {
    const { values, kl, logProbs, entropies } = policy;
    if (!values || !kl) throw new Error('the golden model has a value head and a reference');
    const regression = policy.episodeMean(square(sub(mul(policy.perEpisode(logProbs), 0.1), input('advantage', 'episode'))));
    const critic = mul(policy.tokenMean(square(sub(values, input('returns', 'token')))), 0.5);
    const rest = sub(mul(policy.tokenMean(kl), 0.1), mul(policy.tokenMean(entropies), 0.01));
    return { loss: add(add(regression, critic), rest) };
  },
};

/** Largest difference, relative to the largest number of the tensor. */
function difference(actual: ArrayLike<number>, expected: readonly number[]): number {
  const scale = Math.max(...expected.map(Math.abs), 1e-12);
  return Math.max(...expected.map((x, i) => Math.abs(x - (actual[i] ?? Number.NaN)))) / scale;
}

const WAYS = [
  { way: 'with the state in plain memory', recompute: false, stateOnDevice: false },
  { way: 'with layers recomputed', recompute: true, stateOnDevice: false },
  { way: 'with AdamW in the graph, as on a device', recompute: false, stateOnDevice: true },
];

for (const { way, recompute, stateOnDevice } of WAYS) {
  test.each(['plain', 'aids'])(`20 AdamW steps of the %s model equal PyTorch's to 1e-5, ${way}`, async (name) => {
    const golden = schema.parse(JSON.parse(readFileSync(join(import.meta.dirname, `../golden/engine-${name}.json`), 'utf8')));
    const { config, batch } = golden;
    const layout = modelLayout(config);
    expect(layout.specs.map((spec) => spec.name)).toEqual(Object.keys(golden.start));
    const values = layout.zeros();
    for (const [key, data] of Object.entries(golden.start)) layout.view(values, key).set(data);

    const [rows = 0, time = 0] = batch.tokens?.shape ?? [];
    const shape = {
      rows,
      time,
      agentTokens: batch.positions?.shape[1] ?? 0,
      masks: batch.maskTable?.shape[0] ?? 0,
      episodes: batch.assign?.shape[0] ?? 0,
    };
    const loss = LOSSES[name];
    if (!loss) throw new Error(`no loss for ${name}`);
    const feeds: Record<string, Value> = { ...PackedBatch.divisors(shape.episodes, batch.weights?.data.reduce((a, b) => a + b) ?? 0) };
    const rename: Record<string, string> = { advantage: 'episode.advantage', returns: 'token.returns' };
    for (const [key, { shape: dims, whole, data }] of Object.entries(batch)) {
      feeds[rename[key] ?? key] = whole ? integer(Int32Array.from(data), dims) : float(Float32Array.from(data), dims);
    }
    const micro = { key: name, build: policyObjective(config, shape, { referenceLogits: config.valueHead, recompute }, loss), feeds };
    const trainer = new Trainer({
      layout,
      state: freshState(layout, values),
      optimizer: golden.optimizer,
      session: { threads: 1, stateOnDevice },
    });

    const first = await trainer.gradients([micro]);
    expect(difference([first.report.loss], golden.losses.slice(0, 1))).toBeLessThan(1e-5);
    for (const [key, expected] of Object.entries(golden.gradients)) {
      expect(difference(layout.view(first.gradients, key), expected), `gradient of ${key}`).toBeLessThan(1e-5);
    }
    for (const [step, expected] of golden.losses.entries()) {
      const report = await trainer.step([micro], golden.learningRate);
      expect(difference([report.loss], [expected]), `loss of step ${step + 1}`).toBeLessThan(1e-5);
      expect(difference([report.gradientNorm], [golden.norms[step] ?? 0]), `norm of step ${step + 1}`).toBeLessThan(1e-5);
    }
    await trainer.download();
    for (const [key, expected] of Object.entries(golden.end)) {
      expect(difference(layout.view(values, key), expected), `${key} after ${golden.losses.length} steps`).toBeLessThan(1e-5);
    }
    await trainer.dispose();
  });
}
