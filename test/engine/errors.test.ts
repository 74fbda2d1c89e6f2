// Failures of the runtime become errors of the engine, by class: nobody else needs the runtime's words.

import { expect, it, test } from 'vitest';
import { DeviceLostError, NotFiniteError, OutOfMemoryError, engineError } from '../../main/engine/runtime/errors.ts';
import { growTo, sharedMemory, sharedNumbers } from '../../main/engine/runtime/shared-memory.ts';

const graph = { name: 'step', largest: () => '"x" [1000, 1000] 4 MB' };

it.each([
  ['std::bad_alloc', OutOfMemoryError, 'Not enough memory for "step": std::bad_alloc. Largest tensors: "x" [1000, 1000] 4 MB'],
  ['Failed to allocate memory for requested buffer of size 4096', OutOfMemoryError, 'Failed to allocate memory'],
  [
    'WebGPU validation failed: device lost\n (removed)',
    DeviceLostError,
    'The device stopped while "step" ran: WebGPU validation failed: device lost (removed)',
  ],
  ['DXGI_ERROR_DEVICE_REMOVED D3D12', DeviceLostError, 'The device stopped while "step" ran'],
  ['indices element out of data bounds', Error, '"step" failed: indices element out of data bounds'],
])('tells from %j what it was', (words, kind, message) => {
  const made = engineError(new Error(words), graph, 'failed');
  expect(made.constructor).toBe(kind);
  expect(made.message).toContain(message);
});

it.each([
  [new OutOfMemoryError('x'), 'training.microBatch'],
  [new DeviceLostError('x'), 'lab doctor'],
  [new NotFiniteError('x'), 'learning rate'],
])('%s stays what it is and carries advice', (error, advice) => {
  expect(engineError(error, graph, 'failed')).toBe(error);
  expect(error.hint).toContain(advice);
});

test('memory that the system does not give is an OutOfMemoryError', () => {
  expect(() => sharedNumbers(2 ** 50)).toThrow(OutOfMemoryError);
  expect(() => growTo(sharedMemory(1000), 2 ** 40)).toThrow(OutOfMemoryError);
});
