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

const isRoot = () => process.getuid?.() === 0;

/**
 * Installs packages as root on Debian or Ubuntu, and answers what apt-get printed. An interrupted earlier installation is finished first.
 * @param {() => readonly string[]} packages asked for once the lists of packages are there
 */
async function aptInstall(packages) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const apt = (/** @type {string[]} */ ...args) => run('apt-get', ['-o', 'DPkg::Lock::Timeout=300', ...args], { env });
  await run('dpkg', ['--configure', '-a'], { env });
  const update = await apt('update');
  const install = await apt('install', '-y', '--no-install-recommends', ...packages());
  return install.code === 0 ? update.output : install.output;
}

/**
 * Installs Slurm where the tests can use it: as root on Debian or Ubuntu. Elsewhere they are skipped, and this says so.
 * @param {(progress: string) => void} say
 * @returns {Promise<import('./stage.mjs').Outcome>}
 */
export async function ensureSlurm(say) {
  const present = () => ['sbatch', 'slurmctld', 'slurmd', 'munged'].every((name) => onPath(name) || existsSync(join('/usr/sbin', name)));
  const skipped = (/** @type {string} */ why) => ({ text: `tests of clusters are skipped: ${why}`, worked: false });
  if (process.platform !== 'linux' || !isRoot()) return skipped('only root on Linux can start one');
  if (present()) return { text: 'present', worked: false };
  if (!onPath('apt-get')) return skipped('no Slurm, and no apt-get to install it with');
  say(`installing ${SLURM.join(', ')}`);
  const output = await aptInstall(() => SLURM);
  return present() ? { text: `installed ${SLURM.join(', ')}`, worked: true } : skipped(`apt-get could not install it (${tail(output, 2)})`);
}

/**
 * The shared libraries that an executable asks for and the system does not have.
 * @param {string} executable
 */
function missingLibraries(executable) {
  const ldd = spawnSync('ldd', [executable], { encoding: 'utf8' });
  return [...(ldd.stdout ?? '').matchAll(/^\s*(\S+) => not found/gm)].map((match) => match[1] ?? '');
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
  const fail = (/** @type {string} */ failed, /** @type {string} */ fix) =>
    new SetupError({ tried: 'looking for what Electron needs of the system', failed, fix });
  const absent = `not found: ${before.join(', ')}`;
  if (!onPath('apt-get'))
    throw fail(absent, "install your distribution's packages with these (GTK 3, NSS, GBM, ALSA, Xvfb), then run this again");
  const command = () => `apt-get install -y --no-install-recommends ${packageNames().join(' ')}`;
  if (!isRoot()) throw fail(absent, `sudo apt-get update && sudo ${command()}`);
  say(`installing ${before.join(', ')}`);
  const output = await aptInstall(packageNames);
  const after = missing();
  if (after.length > 0) throw fail(`${tail(output, 8)}\nstill not found: ${after.join(', ')}`, `run it yourself to see more: ${command()}`);
  return { text: `installed ${before.join(', ')}`, worked: true };
}

/** Newer Debian and Ubuntu renamed some libraries (…t64). */
function packageNames() {
  return PACKAGES.map((name) => {
    const renamed = name.startsWith('lib') && spawnSync('apt-cache', ['show', '--quiet=2', `${name}t64`], { encoding: 'utf8' });
    return renamed && renamed.stdout?.includes('Package:') ? `${name}t64` : name;
  });
}

/**
 * Electron's switches for this user: root can't use Chromium's sandbox, and some systems forbid it to everyone.
 * @param {import('./electron.mjs').Electron} electron
 * @returns {{ args: string[], warning?: string }}
 */
export function sandboxSwitches(electron) {
  if (process.platform !== 'linux') return { args: [] };
  if (isRoot()) return { args: ['--no-sandbox'] };
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
  const child = spawn('Xvfb', ['-displayfd', '1', '-screen', '0', '1600x1000x24', '-nolisten', 'tcp']);
  const stop = () => void child.kill('SIGTERM');
  process.once('exit', stop);
  try {
    const display = await new Promise((resolve, reject) => {
      let errors = '';
      const fix = 'run Xvfb -displayfd 1 yourself to see why it does not start';
      const fail = (/** @type {string} */ why) =>
        reject(new SetupError({ tried: 'starting Xvfb', failed: `${why} ${errors}`.trim(), fix }));
      child.stdout.on('data', (text) => resolve(`:${String(text).trim()}`));
      child.stderr.on('data', (text) => (errors += text));
      child.on('error', (error) => fail(error.message));
      child.on('exit', (code) => fail(`it ended with code ${code}`));
      setTimeout(() => fail('no display after 15 s'), 15_000).unref();
    });
    const { WAYLAND_DISPLAY: _, ...env } = process.env;
    return await work({ ...env, DISPLAY: display });
  } finally {
    process.off('exit', stop);
    stop();
  }
}
