// `npm run setup -- --cuda`: the package's own installer is started so that it works under npm too, and what it leaves undone is told.
// No network is needed: the package is made up, but for the question what the real installer understands.

import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { ensureCuda } from '../../scripts/cuda.mjs';
import { SetupError } from '../../scripts/stage.mjs';

const here = `${process.platform}/${process.arch}`;
let root = '';
const target = (): string => join(root, 'node_modules/onnxruntime-node/bin/napi-v6', here);

/** A package whose installer does `work` when it is told to install. */
function write(work: string): void {
  const folder = join(root, 'node_modules/onnxruntime-node');
  const files: Record<string, string> = {
    'package.json': '{"name":"onnxruntime-node"}',
    'script/install-metadata.js': `module.exports = {
      manifests: { '${here}:cuda12': { './one.so': { package: 'gpu', path: 'native/one.so' } } },
      packages: { gpu: { name: 'Runtime.Gpu', versions: [{ version: '1.2.3' }] } } };`,
    'script/install.js': `if (process.env.ONNXRUNTIME_NODE_INSTALL !== 'true') process.exit(0);
      require('fs').mkdirSync(${JSON.stringify(target())}, { recursive: true }); ${work}`,
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'astrolab-cuda-'));
  writeFileSync(join(root, 'package.json'), '{}');
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(root, { recursive: true, force: true });
});

test('the files are fetched once, into the folder of the runtime', async () => {
  write(`require('fs').writeFileSync(${JSON.stringify(join(target(), 'one.so'))}, '');`);
  const said: string[] = [];
  expect(await ensureCuda(root, (text) => said.push(text))).toEqual({ text: `fetched into ${target()}`, worked: true });
  expect(said).toEqual(['fetching Runtime.Gpu 1.2.3 with the installer of onnxruntime-node']);
  expect(readdirSync(target())).toEqual(['one.so']);
  expect(await ensureCuda(root, () => undefined)).toEqual({ text: `present in ${target()}`, worked: false });
});

test.each([
  [
    'that fails',
    "console.error('Error: getaddrinfo ENOTFOUND api.nuget.org'); process.exit(1);",
    'Error: getaddrinfo ENOTFOUND api.nuget.org',
  ],
  ['that ends without a word', '', 'it ended without a word and without one.so'],
])('an installer %s is told, with the files to fetch by hand and where they belong', async (_how, work, failed) => {
  write(work);
  const error = await ensureCuda(root, () => undefined).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(SetupError);
  expect(error).toMatchObject({
    failed,
    fix: expect.stringMatching(/Runtime\.Gpu 1\.2\.3 .* copy native\/one\.so to .*CUDA 12 and cuDNN 9$/),
  });
});

test('the real installer takes the order, and would not take the documented one', () => {
  const utilities: unknown = createRequire(import.meta.url)('onnxruntime-node/script/install-utils.js');
  const { parseInstallFlag } = z
    .object({ parseInstallFlag: z.custom<() => unknown>((value) => typeof value === 'function') })
    .parse(utilities);
  vi.stubEnv('ONNXRUNTIME_NODE_INSTALL', 'true');
  expect(parseInstallFlag()).toBe(true);
  vi.stubEnv('ONNXRUNTIME_NODE_INSTALL', 'cuda12');
  expect(parseInstallFlag()).toBeUndefined(); // when this fails, scripts/cuda.mjs can ask for it by name again
});
