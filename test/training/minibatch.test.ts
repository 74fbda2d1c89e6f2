import fc from 'fast-check';
import { expect, test } from 'vitest';
import { tokenMask } from '../../main/policy/text/grammar-mask.ts';
import type { EncodedRow } from '../../main/policy/text/prompt.ts';
import { peakBytes } from '../../main/engine/graph/memory.ts';
import { neg } from '../../main/engine/graph/operators.ts';
import { gradientGraph } from '../../main/engine/graph/training-graphs.ts';
import { Trainer, freshState } from '../../main/engine/runtime/training-step.ts';
import { networkOf, policyObjective } from '../../main/policy/transformer/network.ts';
import { type ModelConfig, modelLayout } from '../../main/policy/transformer/transformer.ts';
import { FEW, FINE, microBatches, sessionShape } from '../../main/training/batching/batch-shapes.ts';
import { type LossDefinition, MinibatchTrainer } from '../../main/training/batching/minibatch.ts';

const mask = tokenMask([1, 2]);
const row = (length: number): EncodedRow => ({ tokens: [], flags: [], agent: [{ position: length - 1, target: 1, mask }] });
const samples = fc.array(fc.array(fc.integer({ min: 1, max: 256 }), { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 150 });

test('micro-batches hold every episode once, in 8 or 32 rows, within the budget', () => {
  const budget = 8192;
  fc.assert(
    fc.property(samples, (lengths) => {
      const episodes = lengths.map((rows, index) => ({ index, rows: rows.map(row) }));
      const parts = microBatches(episodes, budget);
      expect(
        parts
          .flat()
          .map(({ index }) => index)
          .sort((a, b) => a - b),
      ).toEqual(episodes.map(({ index }) => index));
      for (const part of parts) {
        const shape = sessionShape(part, 256);
        expect([8, 32]).toContain(shape.rows);
        expect(shape.rows * shape.time).toBeLessThanOrEqual(budget);
        expect(part.reduce((sum, { rows }) => sum + rows.length, 0)).toBeLessThanOrEqual(shape.rows);
      }
    }),
    { numRuns: 100, examples: [[Array.from({ length: 100 }, () => [8])]] },
  );
});

test('the micro-batches of a language model hold every episode once, within the budget, and pad little', () => {
  const budget = 2560;
  const lengths = fc.array(fc.integer({ min: 150, max: 230 }), { minLength: 8, maxLength: 64 });
  fc.assert(
    fc.property(lengths, (all) => {
      const episodes = all.map((length, index) => ({ index, rows: [row(length)] }));
      const parts = microBatches(episodes, budget, undefined, FINE);
      expect(new Set(parts.flat())).toEqual(new Set(episodes));
      const shapes = parts.map((part) => sessionShape(part, 512, undefined, FINE));
      for (const { rows, time } of shapes) expect(rows * time).toBeLessThanOrEqual(budget);
      const padded = shapes.reduce((sum, { rows, time }) => sum + rows * time, 0);
      const real = all.reduce((sum, length) => sum + length, 0);
      expect(padded / real).toBeLessThan(1.35);
    }),
    { numRuns: 100 },
  );
});

test('the micro-batches of an LSTM have few shapes, whatever the lengths, and hold every episode once', () => {
  const shapes = new Set<string>();
  for (let longest = 20; longest <= 500; longest += 7) {
    const episodes = Array.from({ length: 40 }, (_, index) => ({ index, rows: [row(1 + Math.floor((index * longest) / 40))] }));
    const parts = microBatches(episodes, 16_384, undefined, FEW);
    expect(new Set(parts.flat())).toEqual(new Set(episodes));
    for (const part of parts) shapes.add(JSON.stringify(sessionShape(part, 512, undefined, FEW)));
  }
  expect(shapes.size).toBe(5); // of 32, 64, 128, 256 and 512 steps
});

test('where memory is short micro-batches get fewer rows, each within its part of it; where it is not, they stay as they are', () => {
  const model: ModelConfig = {
    vocabulary: 900,
    width: 128,
    layers: 3,
    heads: 4,
    feedForward: 256,
    gate: 'relu',
    contextLength: 256,
    valueHead: false,
    aids: { matchFlag: true, pointer: true, tokenShift: 6 },
  };
  const layout = modelLayout(model);
  const loss: LossDefinition = {
    name: 'loss',
    options: {},
    loss: (_graph, { tokenMean, logProbs }) => ({ loss: neg(tokenMean(logProbs)) }),
  };
  const trainer = new Trainer({ layout, state: freshState(layout, layout.zeros()) });
  const episodes = Array.from({ length: 40 }, (_, index) => ({ rows: [row(index < 32 ? 250 : 20)] }));
  const shapes = (memory: number) =>
    new MinibatchTrainer(trainer, model, { microBatch: 16_384, recompute: false, memory }).cut(episodes, loss).map(({ shape }) => shape);
  expect(shapes(1000)).toEqual(microBatches(episodes, 16_384).map((part) => sessionShape(part, 256)));
  const [enough, little] = [shapes(1000), shapes(250)];
  expect(Math.max(...enough.map(({ rows }) => rows))).toBe(32);
  expect(Math.max(...little.filter(({ time }) => time === 256).map(({ rows }) => rows))).toBe(8);
  expect(Math.max(...little.filter(({ time }) => time < 64).map(({ rows }) => rows))).toBe(8);
  for (const shape of little) {
    const build = policyObjective(networkOf(model), shape, {}, loss.loss);
    expect(peakBytes(gradientGraph({ key: 'test', build }, layout).graph)).toBeLessThanOrEqual(0.4 * 250e6);
  }
});
