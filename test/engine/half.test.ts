// Half precision, here emulated on the CPU (products of rounded numbers): training follows single precision, and a loss scale
// that overflows is made smaller without a step being lost. That it is fast needs a graphics card and is not tested here.

import { expect, it } from 'vitest';
import { integer } from '../../main/engine/runtime/session.ts';
import * as op from '../../main/engine/graph/operators.ts';
import { ParameterLayout } from '../../main/engine/graph/parameters.ts';
import { Trainer, freshState } from '../../main/engine/runtime/training-step.ts';
import type { MicroBatch, StepReport } from '../../main/engine/runtime/training-step.ts';
import { Random } from '../../main/base/random.ts';
import { trainSteps } from './webgpu-steps.ts';

const worst = (a: readonly number[], b: readonly number[]): number =>
  Math.max(...a.map((x, i) => Math.abs(x - (b[i] ?? Number.NaN)) / Math.abs(x)));

it('follows single precision to a percent for ten steps, and is not the same', async () => {
  const single = await trainSteps(10, { threads: 1 });
  const half = await trainSteps(10, { threads: 1, half: 'float16' });
  expect(worst(single.losses, half.losses)).toBeLessThan(0.01);
  expect(worst(single.norms, half.norms)).toBeLessThan(0.03);
  expect(half.losses[9]).not.toBe(single.losses[9]);
});

const layout = new ParameterLayout([
  { name: 'table', shape: [8, 8], decay: true, deviation: 0.5 },
  { name: 'weight', shape: [8, 8], decay: true, deviation: 0.5 },
]);

/** `size` scales the loss. */
function batch(size: number): MicroBatch {
  return {
    key: `half ${size}`,
    build: (graph, p) => {
      const x = op.gather(p('table'), graph.input('tokens', 'int32', [8]));
      return { loss: op.mul(op.reduceMean(op.square(op.matmul(op.matmul(x, p('weight')), p('weight')))), size) };
    },
    feeds: {
      tokens: integer(
        Int32Array.from({ length: 8 }, (_, i) => i),
        [8],
      ),
    },
  };
}

async function step(size: number, half: boolean, lossScale?: number): Promise<StepReport> {
  const random = Random.from('half');
  const state = freshState(
    layout,
    layout.initialise(() => random.normal()),
  );
  const trainer = new Trainer({
    layout,
    state,
    session: { threads: 1, ...(half && { half: 'float16' as const }) },
    ...(lossScale === undefined ? {} : { lossScale }),
  });
  const report = await trainer.step([batch(size)], 1e-3);
  await trainer.dispose();
  expect(state.step).toBe(1);
  return report;
}

it('divides the scale out again: a tiny loss has the gradients of single precision', async () => {
  const { gradientNorm } = await step(1e-6, false);
  const scaled = await step(1e-6, true);
  expect(Math.abs(scaled.gradientNorm / gradientNorm - 1)).toBeLessThan(0.01);
});

it('takes a step whose scale overflows again with a smaller one', async () => {
  const { gradientNorm, loss } = await step(1, false);
  const report = await step(1, true, 2 ** 40);
  expect(Math.abs(report.gradientNorm / gradientNorm - 1)).toBeLessThan(0.01);
  expect(Math.abs(report.loss / loss - 1)).toBeLessThan(0.01);
});
