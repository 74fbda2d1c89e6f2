// @ts-check
// Bundles the application with electron-vite, but only when something that goes into the bundle has changed since the
// stamp in out/. The stamp is removed before a build and written after it, so an interrupted build is made again.

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { nodeEnvironment } from './electron.mjs';
import { readOrEmpty, run, SetupError, tail } from './stage.mjs';

const SOURCES = ['main', 'preload', 'renderer', 'electron.vite.config.ts', 'package.json', 'package-lock.json', 'tsconfig.json'];
const PRODUCTS = [
  'out/main/index.js',
  'out/main/lab.js',
  'out/main/lab-reader.js',
  'out/main/worker.js',
  'out/main/cli.js',
  'out/main/cluster-task.js',
  'out/main/device-check.js',
  'out/main/webshop-import.js',
  'out/preload/index.cjs',
  'out/renderer/index.html',
];

/**
 * One hash over every source file's path and content.
 * @param {string} folder
 */
export function sourceHash(folder) {
  const hash = createHash('sha256');
  const visit = (/** @type {string} */ path) => {
    const full = join(folder, path);
    if (!existsSync(full)) return;
    if (statSync(full).isDirectory()) for (const name of readdirSync(full).sort()) visit(`${path}/${name}`);
    else hash.update(`${path}\0`).update(readFileSync(full)).update('\0');
  };
  for (const source of SOURCES) visit(source);
  return hash.digest('hex');
}

/**
 * @param {string} folder
 * @param {import('./electron.mjs').Electron} electron
 * @param {(progress: string) => void} say
 * @param {'development' | 'release'} mode a release leaves out what is for contributors
 * @returns {Promise<import('./stage.mjs').Outcome>}
 */
export async function ensureBuilt(folder, electron, say, mode = 'development') {
  const stamp = join(folder, 'out', '.stamp');
  const hash = `${mode} ${sourceHash(folder)}`;
  if (readOrEmpty(stamp) === hash && PRODUCTS.every((file) => existsSync(join(folder, file)))) return { text: 'unchanged', worked: false };
  say('electron-vite build');
  rmSync(stamp, { force: true });
  const tool = join(folder, 'node_modules', 'electron-vite', 'bin', 'electron-vite.js');
  const result = await run(electron.executable, [tool, 'build', '--mode', mode, '--logLevel', 'warn'], {
    cwd: folder,
    env: nodeEnvironment(electron),
  });
  const missing = PRODUCTS.filter((file) => !existsSync(join(folder, file)));
  if (result.code !== 0 || missing.length > 0) {
    throw new SetupError({
      tried: 'electron-vite build',
      failed: tail(result.output) || `it left out ${missing.join(', ')}`,
      fix: 'fix the source file named above and run this again; npm test says more about types',
    });
  }
  writeFileSync(stamp, hash);
  return { text: 'made the bundle with electron-vite', worked: true };
}
