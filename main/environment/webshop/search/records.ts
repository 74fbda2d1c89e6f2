// Reads the records of a JSON file one by one, however large the file is: the full WebShop set is one array of five
// gigabytes. Only brackets and strings are followed here; each record is then parsed separately, so an error can name
// the record and the byte where it stands.

import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { basename } from 'node:path';

const CHUNK = 1 << 22;
const LARGEST_RECORD = 1 << 28;
/** What can be indexed within two gigabytes of memory. */
const MOST_RECORDS = 4_000_000;

/** One element of the array, or one member of the object, with its place in the file. */
interface FileRecord {
  /** Member name; empty in an array. */
  readonly key: string;
  readonly index: number;
  readonly offset: number;
  readonly length: number;
  readonly value: unknown;
}

/** Data that cannot be used. Says what was expected, what was found, where, and what to do. */
export class DataError extends Error {
  readonly code = 'bad-data';
  readonly hint: string;

  constructor(message: string, hint: string) {
    super(message);
    this.hint = hint;
  }
}

export function placeOf(path: string, record: { readonly index: number; readonly offset: number }): string {
  return `${basename(path)}, record ${record.index + 1} (byte ${record.offset})`;
}

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const OPENING = { array: 0x5b, object: 0x7b };
const CLOSING = { array: 0x5d, object: 0x7d };
const WHITE = new Set([0x20, 0x09, 0x0a, 0x0d]);

/** All records of a file that holds one array or one object. `from` continues behind a record that was read before. */
export function* readRecords(
  path: string,
  kind: 'array' | 'object',
  from?: { readonly offset: number; readonly index: number },
): Generator<FileRecord> {
  const file = openSync(path, 'r');
  try {
    const scanner = new Scanner(file, path, from?.offset ?? 0);
    let index = from?.index ?? 0;
    if (from === undefined) {
      scanner.skipByteOrderMark();
      scanner.expect(OPENING[kind], `'${String.fromCharCode(OPENING[kind])}' at the beginning: a JSON ${kind}`, index);
    }
    let first = index === 0;
    for (;;) {
      if (scanner.peek(index) === CLOSING[kind]) break;
      if (!first) scanner.expect(COMMA, `',' or '${String.fromCharCode(CLOSING[kind])}' after the record before`, index);
      first = false;
      scanner.peek(index);
      const start = scanner.offset;
      let key = '';
      if (kind === 'object') {
        key = String(parse(scanner.value(index), path, index, start));
        scanner.expect(COLON, "':' after the name", index);
        scanner.peek(index);
      }
      const offset = scanner.offset;
      const bytes = scanner.value(index);
      if (index >= MOST_RECORDS) {
        const place = placeOf(path, { index, offset });
        throw new DataError(`${place}: more than ${MOST_RECORDS} records; the full WebShop set has 1.18 million`, 'Take fewer products.');
      }
      yield { key, index, offset, length: bytes.length, value: parse(bytes, path, index, offset) };
      index++;
    }
    scanner.finish(index);
  } finally {
    closeSync(file);
  }
}

/** Parses one record that was found before. */
export function readRecord(file: number, path: string, index: number, offset: number, length: number): unknown {
  const bytes = Buffer.allocUnsafe(length);
  if (readSync(file, bytes, 0, length, offset) !== length) {
    throw new DataError(
      `${placeOf(path, { index, offset })}: the file is shorter than when it was indexed`,
      `Remove the index beside ${path} and load again.`,
    );
  }
  return parse(bytes, path, index, offset);
}

// Python writes NaN and Infinity into JSON and reads them back; the shop's unused fields hold some.
const NOT_JSON = /"(?:[^"\\]|\\.)*"|-?\bInfinity\b|\bNaN\b/g;

function parse(bytes: Buffer, path: string, index: number, offset: number): unknown {
  const text = bytes.toString('utf8');
  try {
    return JSON.parse(text);
  } catch (error) {
    try {
      return JSON.parse(text.replace(NOT_JSON, (found) => (found.startsWith('"') ? found : 'null')));
    } catch {
      const reason = error instanceof Error ? error.message.slice(0, 120) : 'unreadable';
      throw new DataError(`${placeOf(path, { index, offset })}: not JSON (${reason})`, 'Repair the record or fetch the file again.');
    }
  }
}

class Scanner {
  readonly #file: number;
  readonly #path: string;
  readonly #size: number;
  #buffer: Buffer = Buffer.alloc(0);
  #position = 0;
  #base: number;

  constructor(file: number, path: string, offset: number) {
    this.#file = file;
    this.#path = path;
    this.#size = fstatSync(file).size;
    this.#base = offset;
  }

  get offset(): number {
    return this.#base + this.#position;
  }

  /** Reads on, keeping everything from `keep` (a position in the buffer). False at the end of the file. */
  #more(keep: number): boolean {
    const kept = this.#buffer.length - keep;
    const room = Math.min(Math.max(CHUNK, kept), this.#size - this.#base - this.#buffer.length);
    if (room <= 0) return false;
    const next = Buffer.allocUnsafe(kept + room);
    this.#buffer.copy(next, 0, keep);
    const read = readSync(this.#file, next, kept, room, this.#base + this.#buffer.length);
    if (read === 0) return false;
    this.#base += keep;
    this.#position -= keep;
    this.#buffer = next.subarray(0, kept + read);
    return true;
  }

  #truncated(index: number): DataError {
    const place = placeOf(this.#path, { index, offset: this.#size });
    return new DataError(
      `${place}: the file ends in the middle; it was truncated`,
      'Fetch the file again; a complete one ends with its closing bracket.',
    );
  }

  /** The next byte that is not white space. */
  peek(index: number): number {
    for (;;) {
      if (this.#position >= this.#buffer.length && !this.#more(this.#position)) throw this.#truncated(index);
      const byte = this.#buffer[this.#position] ?? 0;
      if (!WHITE.has(byte)) return byte;
      this.#position++;
    }
  }

  expect(wanted: number, what: string, index: number): void {
    const found = this.peek(index);
    if (found !== wanted) {
      const place = placeOf(this.#path, { index, offset: this.offset });
      throw new DataError(`${place}: expected ${what}, found '${String.fromCharCode(found)}'`, 'Repair the file or fetch it again.');
    }
    this.#position++;
  }

  skipByteOrderMark(): void {
    if (this.#buffer.length < 3) this.#more(this.#position);
    if (this.#buffer[0] === 0xef && this.#buffer[1] === 0xbb && this.#buffer[2] === 0xbf) this.#position = 3;
  }

  /** The bytes of the value that begins here. */
  value(index: number): Buffer {
    let start = this.#position;
    let buffer = this.#buffer;
    let at = start;
    let depth = 0;
    /** Reads on and moves `at` and `start` along. */
    const more = (): void => {
      if (at - start > LARGEST_RECORD) {
        const place = placeOf(this.#path, { index, offset: this.#base + start });
        throw new DataError(`${place}: longer than ${LARGEST_RECORD} bytes`, 'Is a quotation mark missing?');
      }
      if (!this.#more(start)) throw this.#truncated(index);
      at -= start;
      start = 0;
      buffer = this.#buffer;
    };
    const end = (next: number): Buffer => {
      this.#position = next;
      return buffer.subarray(start, next);
    };
    const first = buffer[at] ?? 0;
    const simple = first !== QUOTE && first !== OPENING.array && first !== OPENING.object;
    for (;;) {
      while (at >= buffer.length) more();
      const byte = buffer[at] ?? 0;
      if (byte === QUOTE) {
        // Strings are most of the file: jump from quotation mark to quotation mark.
        for (;;) {
          const quote = buffer.indexOf(QUOTE, at + 1);
          if (quote < 0) {
            at = buffer.length - 1 - backslashesBefore(buffer, buffer.length);
            more();
          } else {
            at = quote;
            if (backslashesBefore(buffer, quote) % 2 === 0) break;
          }
        }
        at++;
        if (depth === 0) return end(at);
      } else if (simple) {
        if (byte === COMMA || byte === CLOSING.array || byte === CLOSING.object || WHITE.has(byte)) return end(at);
        at++;
      } else {
        if (byte === OPENING.array || byte === OPENING.object) depth++;
        else if ((byte === CLOSING.array || byte === CLOSING.object) && --depth === 0) return end(at + 1);
        at++;
      }
    }
  }

  /** Past the closing bracket nothing but white space may follow. */
  finish(index: number): void {
    this.#position++;
    while (this.#position < this.#buffer.length || this.#more(this.#position)) {
      if (!WHITE.has(this.#buffer[this.#position] ?? 0)) {
        const place = placeOf(this.#path, { index, offset: this.offset });
        throw new DataError(`${place}: something follows the closing bracket`, 'Repair the file or fetch it again.');
      }
      this.#position++;
    }
  }
}

function backslashesBefore(buffer: Buffer, at: number): number {
  let count = 0;
  while (at - 1 - count >= 0 && buffer[at - 1 - count] === BACKSLASH) count++;
  return count;
}
