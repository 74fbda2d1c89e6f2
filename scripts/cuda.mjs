// @ts-check
// `npm run setup -- --cuda`: the files that onnxruntime-node needs for NVIDIA cards and that are too large for the npm registry. Its
// installer fetches them; where that cannot be reached, the files can be put in place by hand.

import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { run, SetupError } from './stage.mjs';

/**
 * What the installer of the package would fetch for this system, and where it belongs.
 * @param {string} folder the folder of onnxruntime-node
 * @param {string} system such as linux/x64
 * @returns {{ version: string, package: string, source: string[], target: string, missing: string[] } | undefined}
 */
function cudaFiles(folder, system = `${process.platform}/${process.arch}`) {
  const metadata = createRequire(import.meta.url)(join(folder, 'script/install-metadata.js'));
  const manifest = metadata.manifests[`${system}:cuda12`];
  if (!manifest) return undefined;
  const entries = Object.values(manifest);
  const { name, versions } = metadata.packages[entries[0].package];
  const target = join(folder, 'bin/napi-v6', ...system.split('/'));
  const source = entries.map((entry) => String(entry.path));
  const missing = source.map((path) => basename(path)).filter((file) => !existsSync(join(target, file)));
  return { version: String(versions[0].version), package: String(name), source, target, missing };
}

/** @param {string} root @param {(progress: string) => void} say @returns {Promise<import('./stage.mjs').Outcome>} */
export async function ensureCuda(root, say) {
  const folder = dirname(createRequire(join(root, 'package.json')).resolve('onnxruntime-node/package.json'));
  const files = cudaFiles(folder);
  if (!files) {
    throw new SetupError({
      tried: 'fetching the CUDA files of onnxruntime-node',
      failed: `there are none for ${process.platform} on ${process.arch}: the package has them for Linux on x64 only`,
      fix: 'use the device webgpu, which needs no installation (on Windows also dml, on a Mac coreml)',
    });
  }
  if (files.missing.length === 0) return { text: `present in ${files.target}`, worked: false };
  say(`fetching ${files.package} ${files.version} with the installer of onnxruntime-node`);
  // Under `npm run` the installer of version 1.30 ends at once without a word, whatever is asked for by --onnxruntime-node-install=cuda12
  // (its parser drops that value); "true" it understands, and takes what this system has: CUDA 12.
  const env = { ...process.env, ONNXRUNTIME_NODE_INSTALL: 'true' };
  const { output } = await run(process.execPath, ['script/install.js'], { cwd: folder, env });
  const left = cudaFiles(folder)?.missing ?? [];
  if (left.length === 0) return { text: `fetched into ${files.target}`, worked: true };
  throw new SetupError({
    tried: `node ${join(folder, 'script/install.js')} --onnxruntime-node-install`,
    failed:
      (output.match(/^.*(error|refused|not found).*$/gim) ?? output.trim().split('\n')).slice(-2).join('\n') ||
      `it ended without a word and without ${left.join(', ')}`,
    fix: [
      `on a machine with a network download ${files.package} ${files.version} from https://www.nuget.org/packages/${files.package}/${files.version}`,
      `(the .nupkg is a ZIP file) and copy ${files.source.join(', ')}`,
      `to ${files.target}. The card also needs an NVIDIA driver, CUDA 12 and cuDNN 9`,
    ].join(' '),
  });
}
