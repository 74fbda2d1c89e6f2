// @ts-check
// The whole set-up, shared by every other script and also reachable as `npm run setup`: dependencies, Electron, system
// libraries, and on request the bundle and (`--cuda`) what NVIDIA cards need. Each stage checks first and works only when it must, so calling this again and
// again, or after an interruption, is always right.

import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ensureBuilt } from './build.mjs';
import { ensureCuda } from './cuda.mjs';
import { ensureDependencies, ensurePeers, peersRunHere } from './dependencies.mjs';
import { ensureElectron, here } from './electron.mjs';
import { ensureKernels } from './kernels.mjs';
import { lockFile, main, root, SetupError, stage, withLock } from './stage.mjs';
import { ensureSlurm, ensureSystem } from './system.mjs';

/**
 * @param {import('./stage.mjs').Voice} voice
 * @param {{ build: boolean | 'release', virtualDisplay: boolean, slurm?: boolean, cuda?: boolean, peers?: boolean }} needs
 * @returns {Promise<import('./electron.mjs').Electron>}
 */
export async function setUp(voice, needs) {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 19)) {
    const failed = `this is Node ${process.versions.node}; the installation needs 20.19 or newer`;
    throw new SetupError({ tried: 'starting', failed, fix: 'install a current Node from https://nodejs.org and run this again' });
  }
  await stage(voice, 'Dependencies', (say) => withLock(lockFile, say, () => ensureDependencies(root, say)));
  const { electron } = await stage(voice, 'Electron', (say) => withLock(lockFile, say, () => ensureElectron(here(), say)));
  await stage(voice, 'System', (say) => withLock(lockFile, say, () => ensureSystem(electron, needs, say)));
  await stage(voice, 'Kernels', (say) => withLock(lockFile, say, () => ensureKernels(root, say)));
  if (needs.cuda) await stage(voice, 'CUDA', (say) => withLock(lockFile, say, () => ensureCuda(root, say)));
  if (needs.slurm) await stage(voice, 'Slurm', (say) => withLock(lockFile, say, () => ensureSlurm(say)));
  if (needs.peers && peersRunHere) await stage(voice, 'Peers', (say) => withLock(lockFile, say, () => ensurePeers(root, say)));
  const mode = needs.build === 'release' ? 'release' : 'development';
  if (needs.build) await stage(voice, 'Build', (say) => withLock(lockFile, say, () => ensureBuilt(root, electron, say, mode)));
  return electron;
}

/** The voice of commands whose stdout belongs to their answer. @type {import('./stage.mjs').Voice} */
export const aside = { out: process.stderr, quiet: true };

/** The voice of commands that talk to a person. @type {import('./stage.mjs').Voice} */
export const aloud = { out: process.stdout, quiet: false };

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  await main(async () => {
    await setUp(aloud, { build: true, virtualDisplay: true, cuda: process.argv.includes('--cuda') });
  });
}
