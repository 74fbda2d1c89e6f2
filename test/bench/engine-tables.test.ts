// The numbers behind the tables of `bench engine --roofline` and `--growth`.

import { expect, test } from 'vitest';
import { modelLayout } from '../../main/policy/transformer/transformer.ts';
import { exponent } from './engine-growth.ts';
import { operatorRows, productFlops } from './engine-roofline.ts';
import { ofMillions } from './engine-sizes.ts';

test.each([
  ['a product of matrices', [4, 3], [3, 5], [4, 5], 120],
  ['rows times a matrix', [2, 4, 3], [3, 5], [2, 4, 5], 240],
  ['matrices in a batch', [2, 4, 3], [2, 3, 5], [2, 4, 5], 240],
])('%s takes two operations for every multiplication', (_, a, b, c, flops) => {
  expect(productFlops(a, b, c)).toBeCloseTo(flops, 9);
});

test('events are added up by operator, with the time that their flops or bytes need', () => {
  const kernel = (op: string, dur: number, inputs: number[][], output: number[]) => ({
    cat: 'Node',
    name: `${op}_kernel_time`,
    dur,
    args: { op_name: op, input_type_shape: inputs.map((float) => ({ float })), output_type_shape: [{ float: output }] },
  });
  const events = [
    kernel(
      'Gemm',
      300,
      [
        [100, 100],
        [100, 100],
      ],
      [100, 100],
    ),
    kernel(
      'Gemm',
      100,
      [
        [100, 100],
        [100, 100],
      ],
      [100, 100],
    ),
    kernel('Add', 50, [[1000], [1000]], [1000]),
    { cat: 'Session', name: 'model_run', dur: 1 },
  ];
  const rows = operatorRows(events, 2, { flops: 1e9, bytes: 1e9 });
  expect(rows.map(({ operator, runs }) => [operator, runs])).toEqual([
    ['Gemm', 1],
    ['Add', 0.5],
  ]);
  expect(rows[0]).toMatchObject({ milliseconds: 0.2, roof: 2 }); // 2 · 100³ flops at 10⁹ a second
  expect(rows[1]?.roof).toBeCloseTo(0.006, 9); // half of 12,000 bytes at 10⁹ a second
});

test('the exponent of a power law is found', () => {
  expect(exponent([1, 2, 4, 8].map((x) => [x, 3 * x ** 1.5]))).toBeCloseTo(1.5, 9);
});

test('models have about the asked number of parameters', () => {
  for (const millions of [0.1, 0.5, 2, 10, 50]) {
    const ratio = modelLayout(ofMillions(millions)).count / (millions * 1e6);
    expect(ratio).toBeGreaterThan(0.7);
    expect(ratio).toBeLessThan(1.4);
  }
});
