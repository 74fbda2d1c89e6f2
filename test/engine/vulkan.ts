// Runs a script of the tests in a child process over the software Vulkan that Electron ships: the real code path of WebGPU where there is
// no graphics card. The script prints one line of JSON and leaves without waiting for the driver's threads (`answer`).

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import type { SessionOptions } from '../../main/engine/runtime/session.ts';

const folder = dirname(process.execPath);

export const hasVulkan = process.platform === 'linux' && existsSync(join(folder, 'vk_swiftshader_icd.json'));
export const webgpu: SessionOptions = { providers: ['webgpu'], target: 'gpu' };

/** What webgpu-graphs.ts answers. */
export const GraphsMade = z.object({ made: z.array(z.string()), refused: z.string() });

/** What a process needs to find it. */
export const vulkanEnvironment = {
  LD_LIBRARY_PATH: folder,
  VK_ICD_FILENAMES: join(folder, 'vk_swiftshader_icd.json'),
  ELECTRON_RUN_AS_NODE: '1',
  NODE_NO_WARNINGS: '1',
  ORT_DISABLE_TELEMETRY: '1',
  ASTROLAB_DEVICE_PATIENCE: '1800',
};

/** What the script beside this file printed; its first argument is `webgpu`. */
export async function overVulkan(script: string, ...more: readonly string[]): Promise<unknown> {
  const { stdout } = await promisify(execFile)(process.execPath, [join(import.meta.dirname, script), 'webgpu', ...more], {
    env: { ...process.env, ...vulkanEnvironment },
    maxBuffer: 2 ** 28,
  });
  const result: unknown = JSON.parse(stdout);
  return result;
}

/** Prints the answer of a script that was started by `overVulkan`, when this is one. */
export async function answer(script: string, compute: () => Promise<unknown>): Promise<void> {
  if (process.argv[2] !== 'webgpu' || !process.argv[1]?.endsWith(script)) return;
  const result = await compute();
  process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0));
}
