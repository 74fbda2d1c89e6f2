// Where the runtime's binding hands tensors over through the CPU (CUDA, DirectML, CoreML), what travels at a training step: the device's graphs, run by the CPU and counted.

import { expect, test } from 'vitest';
import { DeviceCounters } from '../../main/engine/gpu/device-counters.ts';
import { stepCase } from '../bench/step-case.ts';

const MODEL = {
  gate: 'swiglu',
  valueHead: false,
  aids: { matchFlag: false, pointer: false, tokenShift: 0 },
  vocabulary: 512,
  width: 64,
  layers: 2,
  heads: 4,
  feedForward: 160,
  contextLength: 32,
} as const;

test('every micro-batch sends the weights once and brings the gradient back once; moments and new weights never travel', async () => {
  const counters = new DeviceCounters();
  const { trainer, batches } = stepCase(MODEL, 12, 32, { threads: 1, target: 'gpu', stateOnDevice: false, counters }, 3);
  try {
    await trainer.step(batches, 1e-3);
    counters.take();
    await trainer.step(batches, 1e-3);
    const { calls, bytesUploaded: up, bytesDownloaded: down } = counters.take();
    const { values } = await trainer.download();
    const weights = values.decay.byteLength + values.plain.byteLength;
    expect(calls).toBe(batches.length);
    const besides = up - batches.length * weights; // the batches themselves
    expect(besides).toBeGreaterThan(0);
    expect(besides).toBeLessThan(0.1 * up);
    const reports = down - batches.length * weights;
    expect(reports).toBeGreaterThan(0);
    expect(reports).toBeLessThan(100 * batches.length);
  } finally {
    await trainer.dispose();
  }
});
