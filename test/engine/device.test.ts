// A device is offered only when it computes what the CPU computes. The GPU's code path is real here even without a graphics
// card: Electron ships a software Vulkan, over which the bundled WebGPU provider runs.

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { deviceOptions, judge, listDevices, requireDevice } from '../../main/engine/device.ts';
import { tenSteps } from './webgpu-steps.ts';

const trace = { losses: [2.4, 2.2], norms: [1.5, 1.1] };

describe('the list of devices', () => {
  it('offers the CPU first, and gives a reason for every device that it does not offer', async () => {
    const devices = await listDevices();
    expect(devices[0]).toMatchObject({ id: 'cpu', ok: true });
    expect(devices[0]?.memory).toBeGreaterThan(1e8);
    expect(devices.map(({ id }) => id)).toContain('webgpu');
    for (const { ok, reason } of devices) expect(reason.length, String(ok)).toBeGreaterThan(20);
  }, 120_000);

  it('refuses a device whose loss is right and whose gradient is wrong', () => {
    const wrong = { losses: [2.4, 2.2], norms: [1.5, 1.2] };
    expect(judge({ cpu: trace, device: trace, seconds: 1 }).ok).toBe(true);
    expect(judge({ cpu: trace, device: wrong, seconds: 1 })).toEqual({
      ok: false,
      reason: 'it computes wrongly: at step 2 the gradient norm is 1.2, on the CPU 1.1',
    });
    expect(judge({ cpu: trace, device: { losses: [2.4, Number.NaN], norms: trace.norms }, seconds: 1 }).ok).toBe(false);
  });

  it('names the devices there are when asked for one that does not exist', async () => {
    expect(() => deviceOptions('tpu')).toThrow('There is no device "tpu"; there are cpu, webgpu, webgpu-half, cuda, dml, coreml');
    expect(() => deviceOptions('toString')).toThrow('There is no device');
    expect(await requireDevice('cpu')).toEqual({});
  });
});

const vulkan = dirname(process.execPath);
const hasVulkan = process.platform === 'linux' && existsSync(join(vulkan, 'vk_swiftshader_icd.json'));

describe.runIf(hasVulkan)('training on WebGPU over software Vulkan', () => {
  it('gives the losses, gradient norms and weights of the CPU for ten steps', async () => {
    const env = {
      ...process.env,
      LD_LIBRARY_PATH: vulkan,
      VK_ICD_FILENAMES: join(vulkan, 'vk_swiftshader_icd.json'),
      ELECTRON_RUN_AS_NODE: '1',
      NODE_NO_WARNINGS: '1',
      ORT_DISABLE_TELEMETRY: '1',
    };
    const child = promisify(execFile)(process.execPath, [join(import.meta.dirname, 'webgpu-steps.ts'), 'webgpu'], { env });
    const cpu = await tenSteps({ threads: 1 });
    const numbers = z.array(z.number());
    const gpu = z.object({ losses: numbers, norms: numbers, weights: numbers }).parse(JSON.parse((await child).stdout));
    expect(cpu.losses[9]).toBeLessThan(0.7 * (cpu.losses[0] ?? 0));
    for (let step = 0; step < 10; step++) {
      expect(Math.abs((gpu.losses[step] ?? 0) / (cpu.losses[step] ?? 1) - 1)).toBeLessThan(1e-4);
      expect(Math.abs((gpu.norms[step] ?? 0) / (cpu.norms[step] ?? 1) - 1)).toBeLessThan(1e-4);
    }
    expect(Math.max(...cpu.weights.map((weight, i) => Math.abs(weight - (gpu.weights[i] ?? Number.NaN))))).toBeLessThan(1e-4);
  }, 300_000);
});
