// Where output goes: regular files appear whole, devices and pipes are written into, and what can hold no bytes is refused and stays.

import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { OutputFile, writeOutput } from '../../main/base/output-file.ts';
import { temporaryFolder } from '../store/helpers.ts';

const NOBODY = 65_534;
const text = (path: string): string => readFileSync(path, 'utf8');
const isRoot = process.getuid?.() === 0;
/** More than any pipe holds. */
const LONG = 'astrolab '.repeat(400_000);

/** What a program reads from a pipe that is opened by name, until it is closed. It goes into a file: this process waits in its writing. */
function reader(fifo: string): Promise<string> {
  const file = openSync(`${fifo}.read`, 'w');
  const cat = spawn('cat', [fifo], { stdio: ['ignore', file, 'inherit'] });
  closeSync(file);
  return new Promise((resolve) => cat.on('close', () => resolve(text(`${fifo}.read`))));
}

function fifoIn(folder: string): string {
  const fifo = join(folder, 'pipe');
  execFileSync('mkfifo', [fifo]);
  return fifo;
}

/** A device like /dev/null: one made for the test where that is possible, so that nothing can harm the real one. */
function nullDevice(folder: string): string {
  const device = join(folder, 'null');
  try {
    execFileSync('mknod', [device, 'c', '1', '3'], { stdio: 'ignore' });
    closeSync(openSync(device, 'r')); // the disk may forbid devices
    return device;
  } catch {
    return '/dev/null';
  }
}

describe('a regular file', () => {
  test('is there when it is whole, in folders that are made for it', () => {
    const file = join(temporaryFolder(), 'a', 'b', 'file');
    const output = new OutputFile(file);
    output.write('one ');
    output.write(Buffer.from('two'));
    expect(existsSync(file)).toBe(false);
    expect(output.finish()).toBe(7);
    expect(text(file)).toBe('one two');
    expect(readdirSync(join(file, '..'))).toEqual(['file']);
  });

  test('replaces the one before and keeps its permissions', () => {
    const file = join(temporaryFolder(), 'file');
    writeFileSync(file, 'before');
    chmodSync(file, 0o640);
    expect(writeOutput(file, ['after', ' it'])).toBe(8);
    expect(text(file)).toBe('after it');
    expect(statSync(file).mode & 0o777).toBe(0o640);
  });

  test('stays as it was when what it is made of fails', () => {
    const folder = temporaryFolder();
    const file = join(folder, 'file');
    writeFileSync(file, 'before');
    const failing = function* () {
      yield 'half';
      throw new Error('no more');
    };
    expect(() => writeOutput(file, failing())).toThrow('no more');
    expect(text(file)).toBe('before');
    expect(readdirSync(folder)).toEqual(['file']);
  });
});

describe('a link', () => {
  test('is followed, through others too, and stays a link', () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'elsewhere'));
    writeFileSync(join(folder, 'elsewhere', 'file'), 'before');
    symlinkSync(join('elsewhere', 'file'), join(folder, 'near'));
    symlinkSync('near', join(folder, 'far'));
    writeOutput(join(folder, 'far'), 'after');
    expect(readlinkSync(join(folder, 'far'))).toBe('near');
    expect(readlinkSync(join(folder, 'near'))).toBe(join('elsewhere', 'file'));
    expect(lstatSync(join(folder, 'elsewhere', 'file')).isFile()).toBe(true);
    expect(text(join(folder, 'elsewhere', 'file'))).toBe('after');
  });

  test('to nothing, or round in a circle, is refused and stays', () => {
    const folder = temporaryFolder();
    symlinkSync('nothing', join(folder, 'dangling'));
    symlinkSync('circle', join(folder, 'circle'));
    expect(() => writeOutput(join(folder, 'dangling'), 'x')).toThrow(/dangling is a link to .*nothing, which is not there/);
    expect(() => writeOutput(join(folder, 'circle'), 'x')).toThrow(/circle is a link that leads to more than 40 others/);
    expect(readdirSync(folder).toSorted()).toEqual(['circle', 'dangling']);
  });
});

describe.skipIf(process.platform === 'win32')('what is no regular file', () => {
  test('a pipe with a name gets everything and stays', async () => {
    const folder = temporaryFolder();
    const fifo = fifoIn(folder);
    const read = reader(fifo);
    expect(writeOutput(fifo, LONG)).toBe(LONG.length);
    expect((await read) === LONG).toBe(true);
    expect(lstatSync(fifo).isFIFO()).toBe(true);
    expect(readdirSync(folder)).toEqual(['pipe', 'pipe.read']);
  });

  test('an open pipe gets everything even when it does not block', async () => {
    const fifo = fifoIn(temporaryFolder());
    const read = reader(fifo);
    const blocking = openSync(fifo, 'w'); // waits for the reader
    const descriptor = openSync(fifo, constants.O_WRONLY | constants.O_NONBLOCK);
    writeOutput(`/dev/fd/${descriptor}`, ['astrolab ', LONG]);
    for (const one of [descriptor, blocking]) closeSync(one);
    expect((await read) === `astrolab ${LONG}`).toBe(true);
  });

  test('a device stays a device, also behind a link', () => {
    const folder = temporaryFolder();
    const device = nullDevice(folder);
    symlinkSync(device, join(folder, 'link'));
    for (const path of [device, join(folder, 'link')]) expect(writeOutput(path, LONG)).toBe(LONG.length);
    expect(lstatSync(device).isCharacterDevice()).toBe(true);
    expect(readlinkSync(join(folder, 'link'))).toBe(device);
  });

  test('a full device says so by its name', () => {
    expect(() => writeOutput('/dev/full', 'x')).toThrow(expect.objectContaining({ code: 'ENOSPC', path: '/dev/full' }));
    expect(lstatSync('/dev/full').isCharacterDevice()).toBe(true);
  });

  test('a socket and a folder are refused and stay', async () => {
    const folder = temporaryFolder();
    const socket = join(folder, 'socket');
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(socket, resolve));
    onTestFinished(() => void server.close());
    expect(() => writeOutput(socket, 'x')).toThrow(/socket is a socket/);
    expect(lstatSync(socket).isSocket()).toBe(true);
    expect(() => writeOutput(folder, 'x')).toThrow(/is a folder; a file is expected there/);
    expect(readdirSync(folder)).toEqual(['socket']);
  });
});

describe('a folder that takes no file', () => {
  test('because it is a file', () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'file'), '');
    expect(() => writeOutput(join(folder, 'file', 'deep', 'name'), 'x')).toThrow(expect.objectContaining({ code: 'ENOTDIR' }));
    expect(text(join(folder, 'file'))).toBe('');
  });

  test.skipIf(process.platform === 'win32')('because nobody may write there', () => {
    const folder = temporaryFolder();
    chmodSync(folder, 0o555);
    if (isRoot) process.seteuid?.(NOBODY); // root may write everywhere
    try {
      for (const name of ['file', join('new', 'file')])
        expect(() => writeOutput(join(folder, name), 'x')).toThrow(
          expect.objectContaining({ code: 'EACCES', path: expect.stringContaining(folder) }),
        );
    } finally {
      if (isRoot) process.seteuid?.(0);
    }
    expect(readdirSync(folder)).toEqual([]);
  });
});
