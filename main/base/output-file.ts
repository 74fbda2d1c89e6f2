// Files that people or programs wait for: complete or not there at all. Bytes go into a temporary file in the same folder, which is synced
// and then takes the file's place. What is no regular file is never replaced: a device or a pipe is written into, a folder is refused.

import { randomBytes } from 'node:crypto';
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';

const CHUNK = 1 << 24;
const MOST_LINKS = 40;
const PIPE_PAUSE_MS = 2;
const STANDARD = new Map([
  ['-', 1],
  ['/dev/stdout', 1],
  ['/dev/stderr', 2],
]);

/** What a path for output names. */
export type OutputTarget =
  | { readonly kind: 'file'; readonly path: string; /** Of the file that is there. */ readonly mode: number | undefined }
  | { readonly kind: 'stream'; readonly path: string }
  | { readonly kind: 'descriptor'; readonly descriptor: number };

export class OutputError extends Error {
  override name = 'OutputError';
  readonly code = 'bad-output';
}

/**
 * Follows links to what is to be written. `-` is standard output. Throws an OutputError for what can hold no bytes, and the system's error
 * where a file may not be made.
 */
export function outputTarget(given: string): OutputTarget {
  let path = given;
  for (let links = 0; ; links++) {
    const descriptor = STANDARD.get(path) ?? /^\/(?:dev\/fd|proc\/self\/fd)\/(\d+)$/.exec(path)?.[1];
    if (descriptor !== undefined) return { kind: 'descriptor', descriptor: Number(descriptor) };
    path = resolve(path);
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (!found?.isSymbolicLink()) break;
    if (links === MOST_LINKS)
      throw new OutputError(`${given} is a link that leads to more than ${MOST_LINKS} others; name the file itself`);
    path = resolve(realpathSync(dirname(path)), readlinkSync(path));
  }
  const there = statSync(path, { throwIfNoEntry: false });
  if (there === undefined && path !== resolve(given))
    throw new OutputError(`${given} is a link to ${path}, which is not there; remove the link or name another file`);
  if (there?.isDirectory()) throw new OutputError(`${given} is a folder; a file is expected there. Name a file in it`);
  if (there?.isSocket()) throw new OutputError(`${given} is a socket, which no file can replace; write to - and pass that on`);
  if (there !== undefined && !there.isFile()) return { kind: 'stream', path };
  mayWriteIn(dirname(path));
  return { kind: 'file', path, mode: there && there.mode & 0o777 };
}

/** Throws unless files can be made in the folder, or it itself in the nearest one above it that is there. */
export function mayWriteIn(folder: string): void {
  if (!existsSync(folder) && dirname(folder) !== folder) return mayWriteIn(dirname(folder));
  accessSync(folder, constants.W_OK | constants.X_OK);
}

/** One file being written, until `finish` or `abandon`. */
export class OutputFile {
  readonly #given: string;
  readonly #target: OutputTarget;
  readonly #temporary: string | undefined;
  #handle: number | undefined;
  #bytes = 0;

  constructor(given: string) {
    this.#given = given;
    const target = outputTarget(given);
    this.#target = target;
    this.#temporary = target.kind === 'file' ? `${target.path}.${randomBytes(4).toString('hex')}.part` : undefined;
    this.#handle = this.#naming(() => {
      if (target.kind === 'descriptor') return target.descriptor;
      if (this.#temporary === undefined) return openSync(target.path, constants.O_WRONLY);
      mkdirSync(dirname(target.path), { recursive: true });
      return openSync(this.#temporary, 'wx');
    });
  }

  write(data: string | Uint8Array): void {
    const handle = this.#opened();
    const bytes = typeof data === 'string' ? Buffer.from(data) : data;
    this.#naming(() => writeAll(handle, bytes));
    this.#bytes += bytes.byteLength;
  }

  /** Returns the bytes written. `verify` reads a regular file before it takes its place, and throws if it should not. */
  finish(verify?: (written: string) => void): number {
    const handle = this.#opened();
    const [target, temporary] = [this.#target, this.#temporary];
    this.#naming(() => {
      if (target.kind === 'file' && target.mode !== undefined) fchmodSync(handle, target.mode);
      if (target.kind === 'file') fsyncSync(handle);
      this.#close();
    });
    if (target.kind !== 'file' || temporary === undefined) return this.#bytes;
    verify?.(temporary);
    this.#naming(() => {
      renameSync(temporary, target.path);
      syncFolder(dirname(target.path));
    });
    return this.#bytes;
  }

  /** Leaves nothing of it behind, but what a device or a pipe has taken already. */
  abandon(): void {
    this.#close();
    if (this.#temporary !== undefined) rmSync(this.#temporary, { force: true });
  }

  #opened(): number {
    if (this.#handle === undefined) throw new Error(`${this.#given} has been closed`);
    return this.#handle;
  }

  #close(): void {
    const handle = this.#handle;
    this.#handle = undefined;
    if (handle !== undefined && this.#target.kind !== 'descriptor') closeSync(handle);
  }

  /** The system's errors name the temporary file or none at all; the user knows the one that was asked for. */
  #naming<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      if (error instanceof Error && 'code' in error) Object.assign(error, { path: this.#given, dest: undefined });
      throw error;
    }
  }
}

/** Writes one text, bytes, or pieces of them into a file. Returns the bytes written. */
export function writeOutput(path: string, content: string | Uint8Array | Iterable<string | Uint8Array>): number {
  const file = new OutputFile(path);
  try {
    for (const piece of typeof content === 'string' || content instanceof Uint8Array ? [content] : content) file.write(piece);
    return file.finish();
  } catch (error) {
    file.abandon();
    throw error;
  }
}

function writeAll(handle: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length;) {
    try {
      done += writeSync(handle, bytes, done, Math.min(bytes.length - done, CHUNK));
    } catch (error) {
      // A pipe that does not block is full until its reader has taken something.
      if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PIPE_PAUSE_MS);
    }
  }
}

/** Makes a rename survive a loss of power. Windows has no such call and needs none. */
function syncFolder(folder: string): void {
  if (process.platform === 'win32') return;
  const handle = openSync(folder, 'r');
  fsyncSync(handle);
  closeSync(handle);
}
