// What an archive of a login node may hold, kind by kind: everything but a regular file that was asked for refuses it, with the reason.

import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ArchiveReader, FileRefused } from '../../main/cluster/archive.ts';
import { temporaryFolder } from '../store/helpers.ts';
import { packed, type TarEntry } from './tar-entry.ts';

const NAME = 'a/progress/0001.4242-0.jsonl';
const END = Buffer.alloc(1024);
const entry = (more: Partial<TarEntry> = {}): Buffer =>
  packed({ name: NAME, type: '0', link: '', content: Buffer.from('what is there'), size: null, ...more });

function read(folder: string, bytes: Buffer, most = 1000): void {
  const reader = new ArchiveReader(folder, new Map([[NAME, most]]));
  try {
    for (let at = 0; at < bytes.length; at += 65_536) reader.write(bytes.subarray(at, at + 65_536));
    reader.end();
  } finally {
    reader.abandon();
  }
}

test('a file that was asked for is written, and replaces an earlier one', () => {
  const folder = temporaryFolder();
  read(folder, Buffer.concat([entry(), END]));
  expect(readFileSync(join(folder, NAME), 'utf8')).toBe('what is there');
  read(folder, Buffer.concat([entry({ content: Buffer.from('and more') }), END]));
  expect(readFileSync(join(folder, NAME), 'utf8')).toBe('and more');
  expect(readdirSync(join(folder, 'a', 'progress'))).toEqual(['0001.4242-0.jsonl']);
});

const elsewhere = Buffer.from('23 path=a/../../canary\n');
const BAD: readonly (readonly [what: string, bytes: Buffer, says: RegExp])[] = [
  ['a symbolic link', Buffer.concat([entry({ type: '2', link: '/home', content: Buffer.alloc(0) }), END]), /SymbolicLink; only regular/],
  ['a hard link', Buffer.concat([entry({ type: '1', link: '/etc/passwd', content: Buffer.alloc(0) }), END]), /Link; only regular/],
  ['a device', Buffer.concat([entry({ type: '3', content: Buffer.alloc(0) }), END]), /CharacterDevice; only regular/],
  ['a pipe', Buffer.concat([entry({ type: '6', content: Buffer.alloc(0) }), END]), /FIFO; only regular/],
  ['a folder', Buffer.concat([entry({ type: '5', name: 'a/progress', content: Buffer.alloc(0) }), END]), /Directory; only regular/],
  ['a kind that nobody knows', Buffer.concat([entry({ type: 'Z' }), END]), /only regular/],
  ['an absolute name', Buffer.concat([entry({ name: '/tmp/canary' }), END]), /"\/tmp\/canary" was not asked for/],
  ['a way up', Buffer.concat([entry({ name: '../canary' }), END]), /was not asked for/],
  [
    'a way up by an extended header',
    Buffer.concat([entry({ type: 'x', content: elsewhere }), entry(), END]),
    /was not asked for|no tar archive/,
  ],
  ['another submission', Buffer.concat([entry({ name: 'b/progress/0001.4242-0.jsonl' }), END]), /was not asked for/],
  ['the same twice', Buffer.concat([entry(), entry(), END]), /was not asked for/],
  ['too large', Buffer.concat([entry({ size: 8 ** 11 - 1 })]), /has 8589934591 bytes, more than the 1000/],
  ['cut off', entry().subarray(0, 700), /cut off|no tar archive/],
  ['without an end', entry(), /cut off/],
  ['with something after its end', Buffer.concat([entry(), END, Buffer.alloc(2 ** 21)]), /after its end/],
  ['compressed', gzipSync(Buffer.concat([entry(), END])), /no tar archive/],
  ['a greeting of the shell', Buffer.from('Welcome to the cluster!\n'.repeat(100)), /no tar archive/],
  [
    'endless headers',
    Buffer.concat(Array.from({ length: 9 }, () => entry({ type: 'g', content: Buffer.from('9 a=bcde\n') }))),
    /extended headers/,
  ],
];

test.each(BAD)('%s is refused', (_what, bytes, says) => {
  const parent = temporaryFolder();
  const folder = join(parent, 'mirror');
  mkdirSync(folder);
  writeFileSync(join(parent, 'canary'), 'canary');
  expect(() => read(folder, bytes)).toThrow(says);
  expect([readFileSync(join(parent, 'canary'), 'utf8'), readdirSync(parent).sort()]).toEqual(['canary', ['canary', 'mirror']]);
  const left = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.part'));
  expect(left, 'nothing unfinished is left').toEqual([]);
});

test('one file that is too large says which, so that the others can be asked for without it', () => {
  const refusal = (() => {
    try {
      return read(temporaryFolder(), Buffer.concat([entry(), END]), 3);
    } catch (error) {
      return error;
    }
  })();
  expect(refusal).toBeInstanceOf(FileRefused);
  expect(refusal).toMatchObject({ file: NAME });
});

test('a link that lies in the mirror already is not followed, at any level', () => {
  for (const link of ['a', 'a/progress']) {
    const parent = temporaryFolder();
    const [folder, home] = [join(parent, 'mirror'), join(parent, 'home')];
    mkdirSync(join(folder, link, '..'), { recursive: true });
    mkdirSync(join(home, 'progress'), { recursive: true });
    symlinkSync(home, join(folder, link));
    expect(() => read(folder, Buffer.concat([entry(), END]))).toThrow(/is not a folder: delete it/);
    expect(existsSync(join(home, '0001.4242-0.jsonl')) || existsSync(join(home, 'progress', '0001.4242-0.jsonl'))).toBe(false);
  }
  // In the file's own place it is replaced.
  const folder = temporaryFolder();
  const target = join(folder, 'target');
  writeFileSync(target, 'precious');
  mkdirSync(join(folder, 'a/progress'), { recursive: true });
  symlinkSync(target, join(folder, NAME));
  read(folder, Buffer.concat([entry(), END]));
  expect([readFileSync(target, 'utf8'), readFileSync(join(folder, NAME), 'utf8')]).toEqual(['precious', 'what is there']);
});
