// The kernels of both kinds: with relaxed SIMD, and those that runtimes without it take.

import { describe, expect, it } from 'vitest';
import { Random } from '../../main/base/random.ts';
import { instantiate, kernelModule } from '../../main/engine/kernels/load.ts';
import { sharedMemory } from '../../main/engine/runtime/shared-memory.ts';

const random = Random.from('kernels');

describe.each([true, false])('kernels (relaxed SIMD: %s)', (relaxed) => {
  it('weigh scores as plain loops do', () => {
    const memory = sharedMemory(65_536);
    const [scores, weights, largest, results, count] = [4096, 8192, 12_288, 16_384, 40];
    const at = (address: number, length: number): Float64Array => new Float64Array(memory.buffer, address, length);
    at(scores, count).set(Array.from({ length: count }, () => 30 * random.normal()));
    instantiate(kernelModule('softmax', relaxed), memory)('weigh')(scores, count, weights, largest, results);
    const most = Math.max(...at(scores, count));
    const expected = [...at(scores, count)].map((score) => Math.exp(score - most));
    for (const [i, weight] of at(weights, count).entries()) expect(Math.abs(weight / (expected[i] ?? 0) - 1)).toBeLessThan(2e-15);
    const [, , low = 0, high = 0] = at(results, 6);
    expect(low + high).toBeCloseTo(
      expected.reduce((sum, weight) => sum + weight, 0),
      12,
    );
  });

  it('take the step of AdamW to the bit: it has no fused operations', () => {
    const memory = sharedMemory(65_536);
    const values = (relaxedToo: boolean): number[] => {
      const source = Random.from('adamW');
      const numbers = new Float32Array(memory.buffer, 4096, 16);
      for (let i = 0; i < 16; i++) numbers[i] = Math.abs(source.normal());
      instantiate(kernelModule('vectors', relaxedToo), memory)('adamW')(
        4096,
        4112,
        4128,
        4144,
        4,
        0.9,
        0.07,
        0.98,
        0.0123,
        0.9999,
        1.7e-3,
        3e-9,
      );
      return [...numbers];
    };
    expect(values(relaxed)).toEqual(values(!relaxed));
  });
});

it('says how to get a kernel that is missing', () => {
  expect(() => kernelModule('nothing')).toThrow(/nothing\.wasm is missing; `npm run setup` compiles it/);
});
