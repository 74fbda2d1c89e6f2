// The training step that the engine's benchmarks time: cross-entropy over every position of random tokens, in any size.

import { neg } from '../../main/engine/graph/operators.ts';
import type { SessionOptions } from '../../main/engine/runtime/session.ts';
import { Trainer, freshState } from '../../main/engine/runtime/training-step.ts';
import type { MicroBatch } from '../../main/engine/runtime/training-step.ts';
import { PackedBatch } from '../../main/policy/transformer/batch.ts';
import type { BatchShape } from '../../main/policy/transformer/batch.ts';
import { policyObjective } from '../../main/policy/transformer/network.ts';
import { modelLayout } from '../../main/policy/transformer/transformer.ts';
import type { ModelConfig } from '../../main/policy/transformer/transformer.ts';
import { cachedRows } from '../../main/training/batching/batch-shapes.ts';
import { Random } from '../../main/base/random.ts';

const OPTIMIZER = { beta1: 0.9, beta2: 0.98, epsilon: 1e-8, weightDecay: 0.1, clip: 1 };

export interface StepCase {
  readonly trainer: Trainer;
  readonly batches: readonly MicroBatch[];
  readonly parameters: number;
}

/** `rows` sequences of `length` tokens, in micro-batches as the lab cuts them. */
export function stepCase(model: ModelConfig, rows: number, length: number, session: SessionOptions, most = cachedRows(length)): StepCase {
  const random = Random.from('bench');
  const layout = modelLayout(model);
  const state = freshState(
    layout,
    layout.initialise(() => random.normal()),
  );
  const counts = PackedBatch.divisors(rows, rows * length);
  const batches: MicroBatch[] = [];
  for (let begin = 0; begin < rows; begin += most) {
    const part = Math.min(most, rows - begin);
    const shape: BatchShape = { rows: part, time: length, agentTokens: length, masks: 0, episodes: part };
    batches.push({
      key: `bench ${part}×${length}`,
      build: policyObjective(model, shape, {}, (_graph, policy) => ({ loss: neg(policy.tokenMean(policy.logProbs)) })),
      feeds: { ...new PackedBatch(randomEpisodes(model, part, length, random), model, shape).feeds, ...counts },
    });
  }
  return { trainer: new Trainer({ layout, state, optimizer: OPTIMIZER, session }), batches, parameters: layout.count };
}

function randomEpisodes(model: ModelConfig, rows: number, length: number, random: Random) {
  const mask = { allowed: new Int32Array(0) };
  return Array.from({ length: rows }, () => {
    const tokens = Array.from({ length: length + 1 }, () => random.below(model.vocabulary));
    const agent = Array.from({ length }, (_, position) => ({ position, target: tokens[position + 1] ?? 0, mask }));
    return [{ tokens, flags: tokens.map(() => 0), agent }];
  });
}
