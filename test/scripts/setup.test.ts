// The set-up's small parts: the lock, the build stamp and how failures read.

import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { sourceHash } from '../../scripts/build.mjs';
import { foreground, run, SetupError, withLock } from '../../scripts/stage.mjs';

let folder = '';
const quiet = (): void => undefined;

function write(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'astrolab-setup-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('the lock of a dead process is taken over, that of a living one is waited for', async () => {
  const file = join(folder, 'setup.lock');
  writeFileSync(file, '999999999');
  expect(await withLock(file, quiet, async () => 'done')).toBe('done');

  const order: string[] = [];
  const said: string[] = [];
  const held = `const fs = require('fs'); fs.writeFileSync('${file}.new', String(process.pid)); fs.renameSync('${file}.new', '${file}');`;
  const mayEnd = join(folder, 'may-end');
  const untilThen = `const wait = setInterval(() => fs.existsSync('${mayEnd}') && clearInterval(wait), 20);`;
  const holder = run(process.execPath, ['-e', `${held} ${untilThen}`]);
  while (!existsSync(file)) await new Promise((resolve) => setTimeout(resolve, 20));
  void holder.then(() => order.push('first ended'));
  await withLock(
    file,
    (text) => {
      said.push(text);
      writeFileSync(mayEnd, '');
    },
    async () => void order.push('second began'),
  );
  expect(order).toEqual(['first ended', 'second began']);
  expect(said[0]).toMatch(/waiting for another set-up/);
});

test('the bundle is made again when a source changes, not when it is merely touched', () => {
  write('main/shell/index.ts', 'one');
  write('main/deep/er/file.ts', 'two');
  const before = sourceHash(folder);
  utimesSync(join(folder, 'main/shell/index.ts'), 1, 1);
  expect(sourceHash(folder)).toBe(before);
  write('main/deep/er/file.ts', 'three');
  expect(sourceHash(folder)).not.toBe(before);
  write('main/deep/er/file.ts', 'two');
  expect(sourceHash(folder)).toBe(before);
});

test('a command runs where it was called, and its exit code is handed back', async () => {
  const script = `process.exit(require('node:fs').realpathSync(process.cwd()) === require('node:fs').realpathSync(${JSON.stringify(folder)}) ? 7 : 1)`;
  expect(await foreground(process.execPath, ['-e', script], process.env, folder)).toBe(7);
});

test('a failure says what was tried, what failed and what to do', () => {
  const error = new SetupError({ tried: 'npm ci, twice', failed: 'first line\nsecond line', fix: 'check the network' });
  expect(error.explain()).toBe('  tried:  npm ci, twice\n  failed: first line\n          second line\n  to do:  check the network');
});
