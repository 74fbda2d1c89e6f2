// Shares of a program's calls in several threads: everything is computed when a run ends, whether a lane still listened or had gone back to its messages, and a call
// that fails in a lane fails the run.

import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, it } from 'vitest';
import { instantiate, kernelModule } from '../../main/engine/kernels/load.ts';
import { LISTENING } from '../../main/engine/kernels/wasm-assist.ts';
import { WasmProgram } from '../../main/engine/kernels/wasm-lanes.ts';
import { growTo, sharedMemory } from '../../main/engine/runtime/shared-memory.ts';

const memory = sharedMemory(1000);
/** add(sum, more, count), over four numbers that are 1.5. */
const ONES = 512;
new Float32Array(memory.buffer, ONES, 4).fill(1.5);
const calls = (address: number, times: number): number[][] => Array.from({ length: times }, () => [address, ONES, 4]);
const opened = await WasmProgram.open(kernelModule('vectors'), 'add', memory);
afterAll(() => opened.dispose());

it('computes every share, in quick succession and after a pause', async () => {
  let runs = 0;
  for (const pause of [0, 0, 0, 4 * LISTENING, 0, LISTENING, 0]) {
    if (pause > 0) await sleep(pause);
    await opened.run([calls(0, 1000), [...calls(64, 1000), ...calls(128, 2)], calls(192, 1)]);
    runs++;
    const numbers = new Float32Array(memory.buffer);
    expect([0, 16, 32, 48].map((at) => numbers[at])).toEqual([1500, 1500, 3, 1.5].map((sum) => sum * runs));
  }
});

it('sees memory that has grown', async () => {
  const before = memory.buffer.byteLength;
  growTo(memory, before + 1);
  expect(memory.buffer.byteLength).toBeGreaterThan(before);
  await opened.run([[], calls(before, 2)]);
  expect(new Float32Array(memory.buffer)[before / 4]).toBe(3);
});

it('fails when a call fails, here or in a lane, and goes on working', async () => {
  const beyond = 2 ** 30;
  await expect(opened.run([calls(beyond, 1)])).rejects.toThrow('memory access out of bounds');
  await expect(opened.run([[], calls(beyond, 1)])).rejects.toThrow('memory access out of bounds');
  new Float32Array(memory.buffer, 0, ONES / 4).fill(0);
  await opened.run([calls(0, 1), calls(64, 1)]);
  expect(new Float32Array(memory.buffer)[16]).toBe(1.5);
});

it('names the kernel that a module lacks', () => {
  expect(() => instantiate(kernelModule('vectors'), memory)('nothing')).toThrow('There is no kernel "nothing"; there are add');
});
