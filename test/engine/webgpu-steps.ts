// Ten training steps of a small model with every aid, as one line of JSON: run by device.test.ts here and, over software
// Vulkan, in a child process.

import { neg } from '../../main/engine/operators.ts';
import type { SessionOptions } from '../../main/engine/session.ts';
import { Trainer, freshState } from '../../main/engine/training-step.ts';
import { PackedBatch } from '../../main/policy/batch.ts';
import { policyObjective } from '../../main/policy/network.ts';
import { tokenMask } from '../../main/policy/grammar-mask.ts';
import type { ModelConfig } from '../../main/policy/transformer.ts';
import { modelLayout } from '../../main/policy/transformer.ts';
import { Random } from '../../main/random.ts';
import { answer, webgpu } from './vulkan.ts';

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

export async function tenSteps(session: SessionOptions): Promise<{ losses: number[]; norms: number[]; weights: number[] }> {
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
  for (let step = 0; step < 10; step++) {
    const report = await trainer.step([{ key: 'ten', build, feeds }], 1e-2);
    losses.push(report.loss);
    norms.push(report.gradientNorm);
  }
  await trainer.download();
  await trainer.dispose();
  return { losses, norms, weights: [...state.values.decay] };
}

await answer('webgpu-steps.ts', () => tenSteps(webgpu));
