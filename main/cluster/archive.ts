// Files out of a tar archive that a login node packed. It may hold anything: only regular files that were asked for are taken, each once and no
// larger than it may be, written beside and renamed, below folders that are really folders. Everything else refuses the whole archive.

import { randomUUID } from 'node:crypto';
import { closeSync, lstatSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ReadEntry } from 'tar';
import { Parser } from 'tar/parse';
import { plainText } from './incoming.ts';

/** Extended headers of one entry; a packer writes one or two. */
const HEADERS_EACH = 4;
const LARGEST_HEADER = 65_536;
/** Packers fill their last record with zeros. */
const LONGEST_END = 1024 ** 2;

export class ArchiveRefused extends Error {
  override name = 'ArchiveRefused';
}

/** One of the files may not be taken; without it the others may. */
export class FileRefused extends ArchiveRefused {
  override name = 'FileRefused';
  readonly file: string;

  constructor(file: string, message: string) {
    super(message);
    this.file = file;
  }
}

export class ArchiveReader {
  readonly #folder: string;
  /** What may still come, and how large it may be. */
  readonly #wanted: Map<string, number>;
  readonly #parser: Parser;
  #headers = 0;
  /** Bytes after the end; null before it. */
  #after: number | null = null;
  #open: { readonly handle: number; readonly temporary: string } | null = null;

  /** `wanted`: names below the folder, with the most bytes that each may have. The caller vouches for the names. */
  constructor(folder: string, wanted: ReadonlyMap<string, number>) {
    this.#folder = folder;
    this.#wanted = new Map(wanted);
    const headers = HEADERS_EACH * wanted.size;
    // Of what is compressed nothing is unpacked: a few bytes could become any number.
    this.#parser = new Parser({ strict: true, maxMetaEntrySize: LARGEST_HEADER, maxDecompressionRatio: 0 });
    this.#parser.on('error', (error) => {
      throw new ArchiveRefused(`it is no tar archive: ${plainText(String(error instanceof Error ? error.message : error), 200)}`);
    });
    this.#parser.on('meta', () => {
      if (++this.#headers > headers) throw new ArchiveRefused(`it has more than ${headers} extended headers`);
    });
    this.#parser.on('ignoredEntry', ({ path, type }) => {
      throw new ArchiveRefused(`${shown(path)} is a ${type}; only regular files were asked for`);
    });
    this.#parser.on('entry', (entry) => this.#take(entry));
    this.#parser.on('eof', () => (this.#after = 0));
  }

  /** The next bytes. Throws `ArchiveRefused`; the caller then abandons it. */
  write(chunk: Buffer): void {
    if (this.#after === null) this.#parser.write(chunk);
    else if ((this.#after += chunk.length) > LONGEST_END) throw new ArchiveRefused('it goes on after its end');
  }

  /** Throws `ArchiveRefused` where it was cut off. */
  end(): void {
    this.#parser.end();
    if (this.#after === null) throw new ArchiveRefused('it was cut off');
  }

  /** Leaves nothing unfinished behind. */
  abandon(): void {
    if (this.#open === null) return;
    closeSync(this.#open.handle);
    rmSync(this.#open.temporary, { force: true });
    this.#open = null;
  }

  #take(entry: ReadEntry): void {
    const { path, type, size } = entry;
    const most = this.#wanted.get(path);
    if (type !== 'File' && type !== 'OldFile') throw new ArchiveRefused(`${shown(path)} is a ${type}; only regular files were asked for`);
    if (most === undefined) throw new ArchiveRefused(`${shown(path)} was not asked for`);
    if (size > most) throw new FileRefused(path, `${shown(path)} has ${size} bytes, more than the ${most} that it may have`);
    this.#wanted.delete(path);
    const target = join(this.#folder, path);
    const temporary = join(makeFolder(this.#folder, dirname(path)), `${randomUUID()}.part`);
    const handle = openSync(temporary, 'wx', 0o600);
    this.#open = { handle, temporary };
    entry.on('end', () => {
      closeSync(handle);
      this.#open = null;
      renameSync(temporary, target);
    });
    entry.on('data', (data) => {
      for (let at = 0; at < data.length;) at += writeSync(handle, data, at);
    });
  }
}

/** Makes what is missing below the root. A link on the way would lead out of it. */
function makeFolder(root: string, name: string): string {
  let path = root;
  for (const part of name.split('/')) {
    path = join(path, part);
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (!found) mkdirSync(path, { mode: 0o700 });
    else if (!found.isDirectory()) throw new ArchiveRefused(`${path} is not a folder: delete it`);
  }
  return path;
}

const shown = (name: string): string => JSON.stringify(plainText(name, 200));
