// Merges the sorted segments of an index into one list of terms with their postings. Only one term of each segment is
// held at a time, so memory does not grow with the size of the set.

import { closeSync, fstatSync, openSync, readSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { ByteReader, ByteWriter } from './bytes.ts';
import { BLOCK_TERMS, type TermBlock } from './index-file.ts';

const CHUNK = 1 << 21;

/** Writes terms.bin, postings.bin and blocks.json; answers with the number of terms. */
export function mergeSegments(
  folder: string,
  paths: readonly string[],
  bases: readonly number[],
  progress: (share: number) => void,
): number {
  const segments = paths.map((path, i) => new SegmentReader(path, bases[i] ?? 0));
  const terms = new Output(join(folder, 'terms.bin'));
  const postings = new Output(join(folder, 'postings.bin'));
  const blocks: TermBlock[] = [];
  let count = 0;
  for (;;) {
    let term: string | undefined;
    for (const segment of segments) if (segment.term !== undefined && (term === undefined || segment.term < term)) term = segment.term;
    if (term === undefined) break;
    if (count % BLOCK_TERMS === 0) blocks.push([term, terms.offset, postings.offset]);
    const start = postings.offset;
    let documents = 0;
    let last = 0;
    for (const segment of segments) {
      if (segment.term !== term) continue;
      const list = new ByteReader(segment.list);
      // Only the first step of a list depends on where the segment begins.
      postings.writer.number(segment.base + list.number() - last);
      postings.writer.bytes(segment.list.subarray(list.position));
      documents += segment.count;
      last = segment.base + segment.last;
      segment.advance();
    }
    terms.writer.text(term);
    terms.writer.number(documents);
    terms.writer.number(postings.offset - start);
    terms.flush(false);
    postings.flush(false);
    if (++count % 100_000 === 0) progress(segments.reduce((sum, segment) => sum + segment.share, 0) / segments.length);
  }
  for (const output of [terms, postings]) output.close();
  for (const segment of segments) segment.close();
  writeFileSync(join(folder, 'blocks.json'), JSON.stringify(blocks));
  return count;
}

class Output {
  readonly writer = new ByteWriter();
  readonly #file: number;
  #written = 0;

  constructor(path: string) {
    this.#file = openSync(path, 'w');
  }

  get offset(): number {
    return this.#written + this.writer.length;
  }

  flush(all: boolean): void {
    if (!all && this.writer.length < CHUNK) return;
    const bytes = this.writer.view();
    for (let done = 0; done < bytes.length;) done += writeSync(this.#file, bytes, done);
    this.#written += bytes.length;
    this.writer.clear();
  }

  close(): void {
    this.flush(true);
    closeSync(this.#file);
  }
}

/** One segment, term by term. */
class SegmentReader {
  readonly base: number;
  term: string | undefined;
  count = 0;
  last = 0;
  list: Uint8Array = new Uint8Array();
  readonly #file: number;
  readonly #size: number;
  #buffer: Uint8Array = new Uint8Array();
  #position = 0;
  #offset = 0;

  constructor(path: string, base: number) {
    this.base = base;
    this.#file = openSync(path, 'r');
    this.#size = fstatSync(this.#file).size;
    this.advance();
  }

  get share(): number {
    return this.#size === 0 ? 1 : (this.#offset + this.#position) / this.#size;
  }

  advance(): void {
    // A head is at most a text of 255 characters and three numbers; the list may be longer than what was read so far.
    if (!this.#has(2048) && this.#position >= this.#buffer.length) {
      this.term = undefined;
      return;
    }
    const reader = new ByteReader(this.#buffer, this.#position);
    this.term = reader.text();
    this.count = reader.number();
    this.last = reader.number();
    const length = reader.number();
    this.#position = reader.position;
    if (!this.#has(length)) throw new RangeError('A segment of the index ends in the middle: it is damaged; remove the .partial folder');
    this.list = this.#buffer.subarray(this.#position, this.#position + length);
    this.#position += length;
  }

  /** Makes sure that so many bytes are at hand, if the file has them. */
  #has(count: number): boolean {
    if (this.#buffer.length - this.#position >= count) return true;
    const rest = this.#buffer.subarray(this.#position);
    const start = this.#offset + this.#buffer.length;
    const more = Math.min(Math.max(CHUNK, count), this.#size - start);
    if (more > 0) {
      const next = new Uint8Array(rest.length + more);
      next.set(rest);
      let read = 0;
      while (read < more) {
        const got = readSync(this.#file, next, rest.length + read, more - read, start + read);
        if (got === 0) break;
        read += got;
      }
      this.#offset += this.#position;
      this.#position = 0;
      this.#buffer = next.subarray(0, rest.length + read);
    }
    return this.#buffer.length - this.#position >= count;
  }

  close(): void {
    closeSync(this.#file);
  }
}
