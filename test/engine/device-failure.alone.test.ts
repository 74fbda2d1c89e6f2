// A device that fails in mid-run. No real card can be made to fail on demand, so the failure is simulated where it would come from:
// training takes the device's path (state in the device's keeper, the whole step as one graph) on the CPU, and from a given moment on
// the runtime refuses to run, with the words it has for a lost device.

import { InferenceSession } from 'onnxruntime-node';
import { afterEach, expect, test, vi } from 'vitest';
import { readCheckpoint } from '../../main/engine/runtime/checkpoint.ts';
import { train } from '../../main/training/train.ts';
import { TestHost, smallest } from '../training/host.ts';

vi.mock('../../main/engine/gpu/device.ts', async (original) => ({
  ...(await original<typeof import('../../main/engine/gpu/device.ts')>()),
  requireDevice: async () => ({ stateOnDevice: true }),
}));

const hosts: TestHost[] = [];
const newHost = (): TestHost => {
  const host = new TestHost();
  hosts.push(host);
  return host;
};
afterEach(() => {
  vi.restoreAllMocks();
  for (const host of hosts.splice(0)) host.remove();
  TestHost.forgetReferences();
});

interface NativeSession {
  readonly outputNames: readonly string[];
  run(...args: unknown[]): Promise<unknown>;
}

/** Every training step fails once `lost` says so; sampling and scoring, which are on the CPU, continue. */
function loseDevice(lost: () => boolean): void {
  const native: NativeSession = Reflect.get(InferenceSession, 'prototype');
  const { run } = native;
  vi.spyOn(native, 'run').mockImplementation(function (this: NativeSession, ...args) {
    const training = this.outputNames.some((name) => name.startsWith('next.'));
    if (training && lost()) return Promise.reject(new Error('WebGPU validation failed: device lost (the GPU was removed)'));
    return Reflect.apply(run, this, args);
  });
}

test('a device that is lost ends the run with a clear message; the last checkpoint is intact and the run resumes from it as if nothing had happened', async () => {
  const undisturbed = newHost();
  expect(await train(smallest(), undisturbed)).toBe('done');

  const disturbed = newHost();
  const saved = () => disturbed.reports.flatMap((report) => (report.type === 'checkpoint' ? [report.checkpoint] : []));
  loseDevice(() => saved().some(({ update }) => update === 2));
  await expect(train(smallest(), disturbed)).rejects.toMatchObject({
    name: 'DeviceLostError',
    message: expect.stringMatching(/^The device stopped while "(step|sum|apply|play)[^"]*" ran: .*device lost \(the GPU was removed\)/),
  });
  const newest = saved().at(-1);
  expect(newest?.update).toBe(2);
  expect(readCheckpoint(disturbed.files.path(newest!)).tensors.size).toBeGreaterThan(10);

  vi.restoreAllMocks();
  disturbed.rewind();
  expect(await train(smallest(), disturbed)).toBe('done');
  expect(disturbed.numbers()).toEqual(undisturbed.numbers());
  expect(disturbed.lastWeights()).toBe(undisturbed.lastWeights());
});
