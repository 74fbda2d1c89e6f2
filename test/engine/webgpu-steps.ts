// Training steps of a small model with every aid, as one line of JSON: run by device.test.ts and device.slow.test.ts here and, over software
// Vulkan, in a child process. Compared with the CPU's by `stepsApart`.

import { z } from 'zod';
import { neg } from '../../main/engine/graph/operators.ts';
import type { SessionOptions } from '../../main/engine/runtime/session.ts';
import { Trainer, freshState } from '../../main/engine/runtime/training-step.ts';
import { PackedBatch } from '../../main/policy/transformer/batch.ts';
import { policyObjective } from '../../main/policy/transformer/network.ts';
import { tokenMask } from '../../main/policy/text/grammar-mask.ts';
import type { ModelConfig } from '../../main/policy/transformer/transformer.ts';
import { modelLayout } from '../../main/policy/transformer/transformer.ts';
import { Random } from '../../main/base/random.ts';
import { answer, overVulkan, webgpu } from './vulkan.ts';

const config: ModelConfig = {
  vocabulary: 24,
  width: 16,
  layers: 1,
  heads: 2,
  feedForward: 24,
  gate: 'swiglu',
  contextLength: 16,
  valueHead: false,
  aids: { matchFlag: true, pointer: true, tokenShift: 3 },
};

const numbers = z.array(z.number());
const Steps = z.object({ losses: numbers, norms: numbers, weights: numbers });

export async function trainSteps(count: number, session: SessionOptions): Promise<z.infer<typeof Steps>> {
  const random = Random.from('ten steps');
  const mask = tokenMask(Array.from({ length: 23 }, (_, i) => i + 1));
  const episodes = Array.from({ length: 4 }, () => {
    const tokens = Array.from({ length: 12 }, () => 1 + random.below(23));
    const agent = Array.from({ length: 6 }, (_, i) => ({ position: 4 + i, target: tokens[5 + i] ?? 1, mask }));
    return [{ tokens, flags: tokens.map((token) => token % 2), agent }];
  });
  const batch = new PackedBatch(episodes, config);
  const layout = modelLayout(config);
  const state = freshState(
    layout,
    layout.initialise(() => random.normal()),
  );
  const trainer = new Trainer({ layout, state, session });
  const build = policyObjective(config, batch.shape, {}, (_graph, policy) => ({ loss: neg(policy.tokenMean(policy.logProbs)) }));
  const feeds = { ...batch.feeds, ...PackedBatch.divisors(4, batch.tokenCount) };
  const [losses, norms]: [number[], number[]] = [[], []];
  for (let step = 0; step < count; step++) {
    const report = await trainer.step([{ key: 'ten', build, feeds }], 1e-2);
    losses.push(report.loss);
    norms.push(report.gradientNorm);
  }
  await trainer.download();
  await trainer.dispose();
  return { losses, norms, weights: [...state.values.decay] };
}

/** As many steps on the CPU and over software Vulkan: the CPU's losses, and by how much losses and norms (relative) and weights differ at most. */
export async function stepsApart(count: number): Promise<{ losses: number[]; relative: number; weights: number }> {
  const child = overVulkan('webgpu-steps.ts', String(count));
  const cpu = await trainSteps(count, { threads: 1 });
  const gpu = Steps.parse(await child);
  const [here, there] = [
    [...cpu.losses, ...cpu.norms],
    [...gpu.losses, ...gpu.norms],
  ];
  return {
    losses: cpu.losses,
    relative: Math.max(...here.map((number, i) => Math.abs((there[i] ?? Number.NaN) / number - 1))),
    weights: Math.max(...cpu.weights.map((weight, i) => Math.abs(weight - (gpu.weights[i] ?? Number.NaN)))),
  };
}

await answer('webgpu-steps.ts', () => trainSteps(Number(process.argv[3]), webgpu));
