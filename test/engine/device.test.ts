// A device is offered only when it computes what the CPU computes. The GPU's code path is real here even without a graphics
// card: Electron ships a software Vulkan, over which the bundled WebGPU provider runs.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { deviceOptions, judge, listDevices, missingCuda, requireDevice, whyFailed } from '../../main/engine/gpu/device.ts';
import { supportedBackends } from '../../main/engine/runtime/session.ts';
import { GraphsMade, hasVulkan, overVulkan } from './vulkan.ts';
import { stepsApart } from './webgpu-steps.ts';

/** One listing for all tests, as on a machine with two cards of NVIDIA: every device is tried, in a process of its own. */
const listed = (async () => {
  const folder = mkdtempSync(join(tmpdir(), 'astrolab-cards-'));
  const cards = 'NVIDIA GeForce RTX 4090, 24564\nNVIDIA GeForce RTX 3060, 12288\n';
  writeFileSync(join(folder, 'nvidia-smi'), `#!/bin/sh\nprintf '${cards.replaceAll('\n', '\\n')}'\n`, { mode: 0o755 });
  vi.stubEnv('PATH', `${folder}:${process.env.PATH ?? ''}`);
  try {
    return await listDevices();
  } finally {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true });
  }
})();

const trace = { losses: [2.4, 2.2], norms: [1.5, 1.1] };

describe('the list of devices', () => {
  it('offers the CPU first, and gives a reason for every device that it does not offer', async () => {
    const devices = await listed;
    expect(devices[0]).toMatchObject({ id: 'cpu', ok: true });
    expect(devices[0]?.memory).toBeGreaterThan(1e8);
    expect(devices.map(({ id }) => id)).toContain('webgpu');
    for (const { ok, reason } of devices) expect(reason.length, String(ok)).toBeGreaterThan(20);
  }, 120_000);

  it.runIf(supportedBackends().includes('cuda'))(
    'lists every card of those that have numbers',
    async () => {
      const devices = await listed;
      const cards = devices.filter(({ id }) => id === 'cuda' || id === 'cuda:1');
      expect(cards.map(({ name, memory }) => [name, memory])).toEqual([
        ['NVIDIA GeForce RTX 4090 through CUDA', 24564 * 2 ** 20],
        ['NVIDIA GeForce RTX 3060 through CUDA', 12288 * 2 ** 20],
      ]);
      expect(devices.map(({ id }) => id)).not.toContain('webgpu:1');
    },
    120_000,
  );

  it('refuses a device whose loss is right and whose gradient is wrong', () => {
    const wrong = { losses: [2.4, 2.2], norms: [1.5, 1.2] };
    expect(judge({ cpu: trace, device: trace, seconds: 1 }).ok).toBe(true);
    expect(judge({ cpu: trace, device: wrong, seconds: 1 })).toEqual({
      ok: false,
      reason: 'it computes wrongly: at step 2 the gradient norm is 1.2, on the CPU 1.1',
    });
    expect(judge({ cpu: trace, device: { losses: [2.4, Number.NaN], norms: trace.norms }, seconds: 1 }).ok).toBe(false);
  });

  it('gives the error of a self-test that failed, not the line of source that threw it', () => {
    const stderr = [
      'file:///lab/main/engine/session.ts:319',
      "    return new DeviceLostError(`The device stopped while '${name}' ran: ${message}`);",
      '           ^',
      '',
      'DeviceLostError: The device stopped while "step check" ran: [Device] is lost.',
      '    at explain (file:///lab/main/engine/session.ts:319:12)',
    ].join('\n');
    expect(whyFailed({ message: 'Command failed', stderr }, 'webgpu')).toBe(
      'its self-test failed: The device stopped while "step check" ran: [Device] is lost',
    );
    const silent = { message: 'Command failed', killed: false, signal: 'SIGSEGV', stderr: '' };
    expect(whyFailed(silent, 'webgpu')).toContain('its driver crashed (SIGSEGV)');
    const cudnn =
      'Error: Failed to load library libonnxruntime_providers_cuda.so with error: libcudnn.so.9: cannot open shared object file';
    expect(whyFailed({ message: '', stderr: cudnn }, 'dml')).toContain('libcudnn.so.9 was not found');
  });

  it.runIf(process.platform === 'linux' && process.arch === 'x64')('says which files CUDA lacks and how to get them', () => {
    const folder = mkdtempSync(join(tmpdir(), 'astrolab-cuda-'));
    expect(missingCuda(folder)).toContain('libonnxruntime_providers_cuda.so');
    expect(missingCuda(folder)).toContain('npm run setup -- --cuda');
    for (const file of ['cuda', 'shared']) writeFileSync(join(folder, `libonnxruntime_providers_${file}.so`), '');
    expect(missingCuda(folder)).toBeUndefined();
    rmSync(folder, { recursive: true });
  });

  it('names the devices there are when asked for one that does not exist', async () => {
    expect(() => deviceOptions('tpu')).toThrow(
      'There is no device "tpu"; there are cpu, cpu-half, webgpu, webgpu-half, cuda, cuda-bf16, dml, coreml',
    );
    expect(() => deviceOptions('toString')).toThrow('There is no device');
    expect(await requireDevice('cpu')).toEqual({});
    expect(deviceOptions('cuda:1')).toMatchObject({ providers: [{ name: 'cuda', deviceId: 1 }], target: 'gpu' });
    expect(deviceOptions('cuda-bf16:1')).toMatchObject({ providers: [{ name: 'cuda', deviceId: 1 }], half: 'bfloat16' });
    expect(() => deviceOptions('webgpu-bf16')).toThrow('only CUDA computes in bfloat16');
    expect(deviceOptions('webgpu:0')).toEqual(deviceOptions('webgpu'));
    expect(() => deviceOptions('webgpu:1')).toThrow('only the cards of cuda and dml have numbers');
  });
});

describe.runIf(hasVulkan)('WebGPU over software Vulkan', () => {
  it('gives the losses, gradient norms and weights of the CPU', async () => {
    const { losses, relative, weights } = await stepsApart(2); // ten in device.slow.test.ts
    expect(losses[1]).toBeLessThan(0.9 * (losses[0] ?? 0));
    expect(relative).toBeLessThan(1e-4);
    expect(weights).toBeLessThan(1e-4);
  }, 300_000);

  it('has everything that the graphs of a run need: nothing goes through the CPU', async () => {
    // One algorithm with a critic, whose layers are computed again, and one without (device.slow.test.ts: every one).
    const { made, refused } = GraphsMade.parse(await overVulkan('webgpu-graphs.ts', 'ppo', 'astar-po'));
    expect(made).toEqual(['step ppo', 'step astar-po', 'sum full KL', 'apply 3', 'read values', 'play 1', 'play 16', 'scores']);
    expect(refused).toContain('fallback to CPU EP has been explicitly disabled');
  }, 300_000);
});
