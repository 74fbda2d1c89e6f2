// Small numbers in few bytes (seven bits a byte, the eighth says that more follow), and texts with their length before
// them: the alphabet of the index files.

import { readSync } from 'node:fs';

/** Collects bytes and grows as needed. */
export class ByteWriter {
  #buffer = Buffer.allocUnsafe(1 << 16);
  length = 0;

  #room(count: number): void {
    if (this.length + count <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.length + count));
    this.#buffer.copy(larger, 0, 0, this.length);
    this.#buffer = larger;
  }

  number(value: number): void {
    this.#room(8);
    let rest = value;
    while (rest >= 0x80) {
      this.#buffer[this.length++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#buffer[this.length++] = rest;
  }

  text(text: string): void {
    const size = Buffer.byteLength(text);
    this.number(size);
    this.#room(size);
    this.length += this.#buffer.write(text, this.length);
  }

  bytes(bytes: Uint8Array): void {
    this.#room(bytes.length);
    this.#buffer.set(bytes, this.length);
    this.length += bytes.length;
  }

  /** What was written; valid until the next write. */
  view(): Buffer {
    return this.#buffer.subarray(0, this.length);
  }

  clear(): void {
    this.length = 0;
  }
}

/** Reads bytes one after the other. */
export class ByteReader {
  readonly #buffer: Uint8Array;
  position: number;

  constructor(buffer: Uint8Array, position = 0) {
    this.#buffer = buffer;
    this.position = position;
  }

  get atEnd(): boolean {
    return this.position >= this.#buffer.length;
  }

  number(): number {
    let value = 0;
    let scale = 1;
    for (;;) {
      const byte = this.#buffer[this.position++];
      if (byte === undefined) throw new RangeError('The index ends in the middle of a number: it is damaged');
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 0x80;
    }
  }

  text(): string {
    const size = this.number();
    const text = Buffer.from(this.#buffer.buffer, this.#buffer.byteOffset + this.position, size).toString('utf8');
    this.position += size;
    return text;
  }

  bytes(count: number): Uint8Array {
    const bytes = this.#buffer.subarray(this.position, this.position + count);
    this.position += count;
    return bytes;
  }
}

/** Exactly these bytes of a file. */
export function readBytes(file: number, offset: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  let read = 0;
  while (read < length) {
    const count = readSync(file, bytes, read, length - read, offset + read);
    if (count === 0) throw new RangeError(`The index is damaged: it ends at byte ${offset + read}, expected ${offset + length}`);
    read += count;
  }
  return bytes;
}
