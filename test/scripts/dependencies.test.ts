// When `npm ci` is run, and when it is not: on made-up projects in a temporary folder.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { staleDependencies } from '../../scripts/dependencies.mjs';

let folder = '';

function lock(versions: Record<string, string>, extra: Record<string, object> = {}): string {
  const packages = Object.fromEntries(Object.entries(versions).map(([name, version]) => [`node_modules/${name}`, { version }]));
  return JSON.stringify({ name: 'sample', packages: { '': { name: 'sample' }, ...packages, ...extra } });
}

function install(versions: Record<string, string>): void {
  for (const name of Object.keys(versions)) {
    mkdirSync(join(folder, 'node_modules', name), { recursive: true });
    writeFileSync(join(folder, 'node_modules', name, 'package.json'), '{}');
  }
  const { packages } = JSON.parse(lock(versions)) as { packages: Record<string, object> };
  delete packages[''];
  writeFileSync(join(folder, 'node_modules', '.package-lock.json'), JSON.stringify({ packages }));
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'astrolab-dependencies-'));
  writeFileSync(join(folder, 'package-lock.json'), lock({ alpha: '1.0.0', beta: '2.0.0' }));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('a fresh clone has no dependencies', () => {
  expect(staleDependencies(folder)).toBe('not installed yet');
});

test('an install that was interrupted is noticed, because npm writes its record last', () => {
  mkdirSync(join(folder, 'node_modules', 'alpha'), { recursive: true });
  expect(staleDependencies(folder)).toBe('an earlier install was interrupted');
});

test('an install that agrees with the lock file is left alone, the second time by its stamp', () => {
  install({ alpha: '1.0.0', beta: '2.0.0' });
  expect(staleDependencies(folder)).toBeUndefined();
  expect(staleDependencies(folder)).toBeUndefined();
});

test('a lock file that asks for another version makes the install stale', () => {
  install({ alpha: '1.0.0', beta: '2.0.0' });
  expect(staleDependencies(folder)).toBeUndefined();
  writeFileSync(join(folder, 'package-lock.json'), lock({ alpha: '1.0.0', beta: '2.1.0' }));
  expect(staleDependencies(folder)).toBe('node_modules/beta is 2.0.0, the lock file says 2.1.0');
});

test('a package that the lock file names and nobody installed makes the install stale', () => {
  install({ alpha: '1.0.0' });
  expect(staleDependencies(folder)).toBe('node_modules/beta is missing');
});

test('a package folder deleted after the install is noticed in spite of the stamp', () => {
  install({ alpha: '1.0.0', beta: '2.0.0' });
  expect(staleDependencies(folder)).toBeUndefined();
  rmSync(join(folder, 'node_modules', 'beta'), { recursive: true });
  expect(staleDependencies(folder)).toBe('node_modules/beta is gone');
});

test('binaries of other platforms need not be there', () => {
  const other = { 'node_modules/gamma-win32': { version: '1.0.0', optional: true } };
  writeFileSync(join(folder, 'package-lock.json'), lock({ alpha: '1.0.0', beta: '2.0.0' }, other));
  install({ alpha: '1.0.0', beta: '2.0.0' });
  expect(staleDependencies(folder)).toBeUndefined();
});
