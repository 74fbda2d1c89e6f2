// A long run does not grow: 10,000 optimizer steps over three shapes, more than the trainer keeps sessions for.

import { expect, test } from 'vitest';
import { matmul, reduceSum, square, sub } from '../../main/engine/graph/operators.ts';
import { ParameterLayout } from '../../main/engine/graph/parameters.ts';
import { float } from '../../main/engine/runtime/session.ts';
import { Trainer, freshState } from '../../main/engine/runtime/training-step.ts';
import type { MicroBatch } from '../../main/engine/runtime/training-step.ts';

const LAYOUT = new ParameterLayout([
  { name: 'w', shape: [64, 64], decay: true, deviation: 0.1 },
  { name: 'b', shape: [64], decay: false },
]);

function batch(rows: number): MicroBatch {
  return {
    key: String(rows),
    build: (graph, p) => ({ loss: reduceSum(square(sub(matmul(graph.input('x', 'float32', [rows, 64]), p('w')), p('b')))) }),
    feeds: { x: float(new Float32Array(rows * 64).fill(0.01), [rows, 64]) },
  };
}

test('10,000 steps do not grow memory', { timeout: 300_000 }, async () => {
  const trainer = new Trainer({
    layout: LAYOUT,
    state: freshState(
      LAYOUT,
      LAYOUT.initialise(() => 0.5),
    ),
    session: { threads: 1 },
    sessions: 2,
  });
  const batches = [8, 64, 256].map(batch);
  const memory: number[] = [];
  for (let step = 0; step < 10_000; step++) {
    // A change of shape every hundred steps opens and disposes sessions all the time.
    const [first = batch(8)] = batches;
    await trainer.step([batches[Math.floor(step / 100) % 3] ?? first], 1e-4);
    if (step % 1000 === 999) memory.push(process.memoryUsage().rss / 2 ** 20);
  }
  await trainer.dispose();
  const growth = (memory.at(-1) ?? 0) - (memory[1] ?? 0);
  expect(growth, `megabytes every thousand steps: ${memory.map(Math.round).join(', ')}`).toBeLessThan(40);
});
