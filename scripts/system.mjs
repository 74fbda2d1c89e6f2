// @ts-check
// What the operating system must bring along: the shared libraries that Electron links to and, for tests without a
// screen, a virtual display (Xvfb). As root on Debian or Ubuntu they are installed; anyone else gets the exact command.

import { spawn, spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readOrEmpty, run, SetupError, tail } from './stage.mjs';

const PACKAGES = ['xvfb', 'xauth', 'libnss3', 'libgtk-3-0', 'libgbm1', 'libasound2'];

export function hasDisplay() {
  return process.platform !== 'linux' || Boolean(process.env.DISPLAY || process.env.WAYLAND_DISPLAY);
}

/** @param {string} program */
function onPath(program) {
  return (process.env.PATH ?? '').split(':').some((folder) => folder && existsSync(join(folder, program)));
}

/** A whole Slurm cluster for the tests of clusters (test/cluster/), started and ended by them. */
const SLURM = ['slurmctld', 'slurmd', 'slurm-client', 'munge'];

/**
 * Installs Slurm where the tests can use it: as root on Debian or Ubuntu. Elsewhere they are skipped, and this says so.
 * @param {(progress: string) => void} say
 * @returns {Promise<import('./stage.mjs').Outcome>}
 */
export async function ensureSlurm(say) {
  const present = () => ['sbatch', 'slurmctld', 'slurmd', 'munged'].every((name) => onPath(name) || existsSync(join('/usr/sbin', name)));
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    return { text: 'tests of clusters are skipped: only root on Linux can start one', worked: false };
  if (present()) return { text: 'present', worked: false };
  if (!onPath('apt-get')) return { text: 'tests of clusters are skipped: no Slurm, and no apt-get to install it with', worked: false };
  say(`installing ${SLURM.join(', ')}`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const wait = ['-o', 'DPkg::Lock::Timeout=300'];
  await run('apt-get', [...wait, 'update'], { env });
  const install = await run('apt-get', [...wait, 'install', '-y', '--no-install-recommends', ...SLURM], { env });
  if (present()) return { text: `installed ${SLURM.join(', ')}`, worked: true };
  return { text: `tests of clusters are skipped: apt-get could not install it (${tail(install.output, 2)})`, worked: false };
}

/**
 * The shared libraries that an executable asks for and the system does not have.
 * @param {string} executable
 */
export function missingLibraries(executable) {
  const ldd = spawnSync('ldd', [executable], { encoding: 'utf8' });
  if (ldd.error) return [];
  return [...ldd.stdout.matchAll(/^\s*(\S+) => not found/gm)].map((match) => match[1] ?? '');
}

/**
 * @param {import('./electron.mjs').Electron} electron
 * @param {{ virtualDisplay: boolean }} needs
 * @param {(progress: string) => void} say
 * @returns {Promise<import('./stage.mjs').Outcome>}
 */
export async function ensureSystem(electron, needs, say) {
  if (process.platform !== 'linux') return { text: 'nothing to do on this platform', worked: false };
  const missing = () => [...missingLibraries(electron.executable), ...(needs.virtualDisplay && !onPath('Xvfb') ? ['Xvfb'] : [])];
  const before = missing();
  if (before.length === 0) return { text: 'libraries present', worked: false };
  const tried = `looking for what Electron needs of the system`;
  const failed = `not found: ${before.join(', ')}`;
  if (!onPath('apt-get')) {
    throw new SetupError({
      tried,
      failed,
      fix: 'install the packages of your distribution that carry these (GTK 3, NSS, GBM, ALSA, Xvfb), then run this again',
    });
  }
  const command = (/** @type {string[]} */ packages) => `apt-get install -y --no-install-recommends ${packages.join(' ')}`;
  if (process.getuid?.() !== 0) throw new SetupError({ tried, failed, fix: `sudo apt-get update && sudo ${command(packageNames())}` });
  say('apt-get update');
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const wait = ['-o', 'DPkg::Lock::Timeout=300'];
  // An interrupted earlier installation is finished first; on a healthy system this does nothing.
  await run('dpkg', ['--configure', '-a'], { env });
  const update = await run('apt-get', [...wait, 'update'], { env });
  const packages = packageNames();
  say(`installing ${before.join(', ')}`);
  const install = await run('apt-get', [...wait, 'install', '-y', '--no-install-recommends', ...packages], { env });
  const after = missing();
  if (after.length > 0) {
    throw new SetupError({
      tried: command(packages),
      failed: `${tail(install.code === 0 ? update.output : install.output, 8)}\nstill not found: ${after.join(', ')}`,
      fix: `run it yourself to see more: ${command(packages)}`,
    });
  }
  return { text: `installed ${before.join(', ')}`, worked: true };
}

/** Newer Debian and Ubuntu renamed some libraries (…t64). */
function packageNames() {
  return PACKAGES.map((name) => {
    if (!name.startsWith('lib')) return name;
    const renamed = spawnSync('apt-cache', ['show', '--quiet=2', `${name}t64`], { encoding: 'utf8' });
    return renamed.status === 0 && renamed.stdout?.includes('Package:') ? `${name}t64` : name;
  });
}

/**
 * Electron's switches for this user: root can't use Chromium's sandbox, and some systems forbid it to everyone.
 * @param {import('./electron.mjs').Electron} electron
 * @returns {{ args: string[], warning?: string }}
 */
export function sandboxSwitches(electron) {
  if (process.platform !== 'linux') return { args: [] };
  if (process.getuid?.() === 0) return { args: ['--no-sandbox'] };
  const helper = join(electron.dist, 'chrome-sandbox');
  const helperWorks = existsSync(helper) && statSync(helper).uid === 0 && (statSync(helper).mode & 0o4000) !== 0;
  const forbidden =
    readOrEmpty('/proc/sys/kernel/apparmor_restrict_unprivileged_userns').trim() === '1' ||
    readOrEmpty('/proc/sys/kernel/unprivileged_userns_clone').trim() === '0';
  if (!forbidden || helperWorks) return { args: [] };
  const fix = `sudo chown root:root '${helper}' && sudo chmod 4755 '${helper}'`;
  return { args: ['--no-sandbox'], warning: `This system forbids Chromium's sandbox to users, so it is off. To switch it on: ${fix}` };
}

/**
 * A virtual display for as long as `work` takes; where a real one exists it is used only if asked for.
 * @template T
 * @param {(env: NodeJS.ProcessEnv) => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withVirtualDisplay(work) {
  if (process.platform !== 'linux') return work(process.env);
  const child = spawn('Xvfb', ['-displayfd', '3', '-screen', '0', '1600x1000x24', '-nolisten', 'tcp'], {
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
  });
  const stop = () => void child.kill('SIGTERM');
  process.once('exit', stop);
  try {
    const display = await new Promise((resolve, reject) => {
      let errors = '';
      const failed = (/** @type {string} */ reason) =>
        reject(
          new SetupError({
            tried: 'starting Xvfb',
            failed: `${reason} ${errors}`.trim(),
            fix: 'run Xvfb -displayfd 1 yourself to see why it does not start',
          }),
        );
      child.stderr?.on('data', (text) => (errors += text));
      child.stdio[3]?.on('data', (text) => resolve(`:${String(text).trim()}`));
      child.on('error', (error) => failed(error.message));
      child.on('exit', (code) => failed(`it ended with code ${code}`));
      setTimeout(() => failed('no display after 15 s'), 15_000).unref();
    });
    const { WAYLAND_DISPLAY: _, ...env } = process.env;
    return await work({ ...env, DISPLAY: display });
  } finally {
    process.off('exit', stop);
    stop();
  }
}
