// The file format of an export: named entries, each deflated, and at the end a manifest with the size and SHA-256 of
// every entry. Reading trusts nothing: the manifest's hash, every name, size and hash are checked before an entry
// is used, and nothing is ever unpacked past the size it declares.
//
//   "ASTROLAB-EXPORT\n"  entries…  manifest (JSON)  sha256 of the manifest (32)  its length (u32)  "ASTROLAB-END-01\n"

import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { z } from 'zod';
import { sha256 } from '../base/canonical.ts';
import { OutputFile } from '../base/output-file.ts';
import { boundedJson, listOf, mayInflateTo, MEGABYTE } from '../store/limits.ts';

const HEAD = Buffer.from('ASTROLAB-EXPORT\n');
const TAIL = Buffer.from('ASTROLAB-END-01\n');
const FOOTER_BYTES = 32 + 4 + TAIL.length;
const LONGEST_MANIFEST = 64 * 1024 * 1024;
const LARGEST_ENTRY = 1024 * 1024 * 1024;
/** An entry may inflate to so much in any case, and beyond that to so many times its packed size; all together likewise. */
const SMALL_ENTRY = 32 * MEGABYTE;
const SMALL_FILE = 128 * MEGABYTE;
const RATIO = 25;
/** Entries that may deflate to any size when they are written. */
const PLAIN_ENTRY = 65_536;
const MOST_ENTRIES = 400_000;
/** Most bytes of an export are weights, which deflate to nine tenths at any level; the default 6 takes several times as long for them. */
const LEVEL = 3;
/** One piece of output for an entry of any usual size, instead of many of 16 kB or one of 16 kB for fifty bytes. */
const chunkFor = (bytes: number): number => Math.min(4 * MEGABYTE, Math.max(256, bytes + 64));

/** The file is not one that can be trusted; nothing was changed. */
export class ImportError extends Error {
  override name = 'ImportError';
  readonly code = 'import-refused';
}

const manifestSchema = z.strictObject({
  format: z.literal(1),
  entries: listOf(
    z.strictObject({
      /** Lower-case words and slashes: never a path that leaves its place. */
      name: z
        .string()
        .regex(/^[a-z0-9][a-z0-9-]*(\/[a-z0-9][a-z0-9-]*)*$/)
        .max(200),
      offset: z.int().min(HEAD.length),
      packed: z.int().min(0),
      bytes: z.int().min(0).max(LARGEST_ENTRY),
      sha256: z.string().regex(/^[0-9a-f]{64}$/),
    }),
    MOST_ENTRIES,
  ),
});
type Entry = z.infer<typeof manifestSchema>['entries'][number];

/** Writes entry by entry; `finish` puts the complete file in its place. */
export class ContainerWriter {
  readonly #file: OutputFile;
  readonly #entries: Entry[] = [];
  readonly #level: number;
  #offset = 0;

  constructor(file: string, level = LEVEL) {
    this.#file = new OutputFile(file);
    this.#level = level;
    this.#write(HEAD);
  }

  add(name: string, data: Uint8Array): void {
    let packed = deflateRawSync(data, { level: this.#level, chunkSize: chunkFor(data.length) });
    // Long runs of one value deflate to next to nothing. A reader cannot tell that from a bomb, so they are stored as they are.
    if (data.length > mayInflateTo(packed.length, PLAIN_ENTRY, RATIO)) packed = deflateRawSync(data, { level: 0 });
    this.#entries.push({ name, offset: this.#offset, packed: packed.length, bytes: data.length, sha256: sha256(data) });
    this.#write(packed);
  }

  /** Returns the size of the file. `verify` reads the complete file before it takes the place of an earlier one, and throws if it should not. */
  finish(verify: (file: string) => void = () => {}): number {
    const manifest = Buffer.from(JSON.stringify(manifestSchema.parse({ format: 1, entries: this.#entries })));
    const length = Buffer.alloc(4);
    length.writeUInt32LE(manifest.length);
    this.#write(Buffer.concat([manifest, Buffer.from(sha256(manifest), 'hex'), length, TAIL]));
    return this.#file.finish(verify);
  }

  /** Leaves nothing behind. */
  abandon(): void {
    this.#file.abandon();
  }

  #write(data: Uint8Array): void {
    this.#file.write(data);
    this.#offset += data.length;
  }
}

export class ContainerReader {
  readonly #file: string;
  readonly #handle: number;
  readonly #entries: ReadonlyMap<string, Entry>;

  constructor(file: string) {
    this.#file = file;
    this.#handle = openSync(file, 'r');
    try {
      this.#entries = this.#readManifest();
    } catch (error) {
      closeSync(this.#handle);
      throw error;
    }
  }

  get names(): string[] {
    return [...this.#entries.keys()];
  }

  has(name: string): boolean {
    return this.#entries.has(name);
  }

  /** An entry's content, checked. */
  read(name: string): Buffer {
    const entry = this.#entries.get(name);
    if (entry === undefined) throw this.#refuse(`it has no entry ${name}`);
    let data: Buffer;
    try {
      const most = Math.max(1, entry.bytes);
      data = inflateRawSync(this.#bytes(entry.offset, entry.packed), { maxOutputLength: most, chunkSize: chunkFor(most) });
    } catch {
      throw this.#refuse(`entry ${name} is damaged or larger than the ${entry.bytes} bytes it declares`);
    }
    if (data.length !== entry.bytes) throw this.#refuse(`entry ${name} has ${data.length} bytes, ${entry.bytes} expected`);
    const found = sha256(data);
    if (found !== entry.sha256) throw this.#refuse(`entry ${name} was altered: sha256 ${entry.sha256} expected, ${found} found`);
    return data;
  }

  close(): void {
    closeSync(this.#handle);
  }

  #readManifest(): Map<string, Entry> {
    const { size } = fstatSync(this.#handle);
    if (size < HEAD.length + FOOTER_BYTES || !this.#bytes(0, HEAD.length).equals(HEAD))
      throw this.#refuse('it does not begin like an export of Astrolab');
    const footer = this.#bytes(size - FOOTER_BYTES, FOOTER_BYTES);
    if (!footer.subarray(36).equals(TAIL)) throw this.#refuse('its end is missing: it was cut off');
    const length = footer.readUInt32LE(32);
    const start = size - FOOTER_BYTES - length;
    if (length > LONGEST_MANIFEST || start < HEAD.length) throw this.#refuse(`its manifest cannot have ${length} bytes`);
    const manifest = this.#bytes(start, length);
    if (sha256(manifest) !== footer.toString('hex', 0, 32)) throw this.#refuse('its manifest was altered');
    const parsed = manifestSchema.safeParse(readJson(manifest));
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      throw this.#refuse(`its manifest is not valid at ${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`);
    }
    const entries = new Map(parsed.data.entries.map((entry) => [entry.name, entry]));
    if (entries.size !== parsed.data.entries.length) throw this.#refuse('two entries have one name');
    let total = 0;
    for (const { name, offset, packed, bytes } of entries.values()) {
      if (offset + packed > start) throw this.#refuse(`entry ${name} lies outside the file`);
      if (bytes > mayInflateTo(packed, SMALL_ENTRY, RATIO))
        throw this.#refuse(`entry ${name} would inflate from ${packed} to ${bytes} bytes, which no export does`);
      total += bytes;
    }
    if (total > mayInflateTo(size, SMALL_FILE, RATIO))
      throw this.#refuse(`its entries would inflate from ${size} to ${total} bytes, which no export does`);
    return entries;
  }

  #bytes(offset: number, length: number): Buffer {
    const buffer = Buffer.alloc(length);
    let at = 0;
    while (at < length) {
      const read = readSync(this.#handle, buffer, at, length - at, offset + at);
      if (read === 0) throw this.#refuse('it ends too early');
      at += read;
    }
    return buffer;
  }

  #refuse(reason: string): ImportError {
    return new ImportError(`${this.#file} was refused: ${reason}. Nothing was changed.`);
  }
}

/** Undefined where it is no JSON, or more of it than is bearable; the schema then says so. */
export function readJson(data: Buffer): unknown {
  try {
    return boundedJson(data);
  } catch {
    return undefined;
  }
}
