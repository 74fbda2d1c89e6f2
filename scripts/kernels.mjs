// @ts-check
// Compiles the kernels (*.as.ts, AssemblyScript) to out/kernels/*.wasm when one of them, the compiler or this file has changed since the stamp there. Each is compiled twice: with
// relaxed SIMD, and as NAME.plain.wasm without; main/engine/kernels/load.ts takes the first where the runtime can.

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readOrEmpty, SetupError, tail } from './stage.mjs';

const ENTRIES = {
  vectors: 'main/engine/kernels/vectors.as.ts',
  softmax: 'main/policy/sampling/softmax.as.ts',
  decoder: 'main/policy/decoder/decoder.as.ts',
};

/** The memory comes from the program and is seen by all threads. */
const OPTIONS = ['-O3', '--noAssert', '--runtime', 'stub', '--use', 'abort='];
const MEMORY = ['--importMemory', '--noExportMemory', '--sharedMemory', '--initialMemory', '1', '--maximumMemory', '65536'];
const FEATURES = ['--enable', 'threads', '--enable', 'simd'];
const VARIANTS = [
  { suffix: '', features: [...FEATURES, '--enable', 'relaxed-simd'] },
  { suffix: '.plain', features: FEATURES },
];

/** @param {string} folder */
function sourceHash(folder) {
  const hash = createHash('sha256');
  const main = join(folder, 'main');
  const sources = readdirSync(main, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.as.ts'));
  for (const file of sources.sort())
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(main, file)))
      .update('\0');
  hash.update(readFileSync(join(folder, 'node_modules', 'assemblyscript', 'package.json')));
  return hash.update(readFileSync(fileURLToPath(import.meta.url))).digest('hex');
}

/**
 * @param {string} folder
 * @param {(progress: string) => void} say
 * @returns {Promise<import('./stage.mjs').Outcome>}
 */
export async function ensureKernels(folder, say) {
  const out = join(folder, 'out', 'kernels');
  const stamp = join(out, '.stamp');
  const hash = sourceHash(folder);
  const products = Object.keys(ENTRIES).flatMap((name) => VARIANTS.map(({ suffix }) => join(out, `${name}${suffix}.wasm`)));
  if (readOrEmpty(stamp) === hash && products.every((file) => existsSync(file))) return { text: 'unchanged', worked: false };
  mkdirSync(out, { recursive: true });
  rmSync(stamp, { force: true });
  const { default: asc } = await import('assemblyscript/asc');
  for (const [name, entry] of Object.entries(ENTRIES)) {
    say(`asc ${entry}`);
    for (const { suffix, features } of VARIANTS) {
      const target = `out/kernels/${name}${suffix}.wasm`;
      const { error, stderr } = await asc.main([entry, '--baseDir', folder, '--outFile', target, ...OPTIONS, ...MEMORY, ...features]);
      if (!error) continue;
      const fix = 'fix the kernel named above and run this again';
      throw new SetupError({ tried: `asc ${entry}`, failed: tail(`${stderr.toString()}\n${error.message}`), fix });
    }
  }
  writeFileSync(stamp, hash);
  return { text: `compiled ${Object.keys(ENTRIES).join(', ')} with AssemblyScript`, worked: true };
}
