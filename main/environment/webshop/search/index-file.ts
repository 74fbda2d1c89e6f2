// The index of a large set on disk: where each product stands in the original files, and which terms occur where. Open,
// it needs some fifty bytes a product plus caches; products and posting lists are read when they are asked for.
//
//   meta.json       what was indexed, and counts
//   documents.bin   one column after the other, see `Columns`
//   terms.bin       terms in order, 64 to a block: text, documents, bytes of its posting list
//   postings.bin    per term: steps between documents and counts, alternating
//   blocks.json     first term of each block, and where the block and its posting lists begin

import { accessSync, constants, existsSync, openSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { defaultDataFolder } from '../../../base/paths.ts';
import { type Postings, Ranking, type TermSource } from './bm25.ts';
import { ByteReader, readBytes } from './bytes.ts';
import { type Product, readInstruction, readProduct } from '../product.ts';
import { DataError, placeOf, readRecord } from './records.ts';
import type { Catalog, SourceFiles } from './source.ts';

export const VERSION = 1;
export const ASIN_BYTES = 10;
export const BLOCK_TERMS = 64;

const indexMeta = z.object({
  version: z.literal(VERSION),
  source: z.string(),
  documents: z.int().positive(),
  tokens: z.int(),
  terms: z.int(),
  notes: z.array(z.string()),
});
export type IndexMeta = z.infer<typeof indexMeta>;

const termBlock = z.tuple([z.string(), z.number(), z.number()]);
/** First term, and where its block begins in terms.bin and in postings.bin. */
export type TermBlock = z.infer<typeof termBlock>;

/** Columns of documents.bin, each with an entry per product, widest first so that all are aligned. */
interface Columns {
  readonly offsets: Float64Array;
  readonly instructionOffsets: Float64Array;
  readonly lengths: Uint32Array;
  readonly instructionLengths: Uint32Array;
  readonly goalCounts: Uint32Array;
  readonly tieRanks: Int32Array;
  /** Products in the order of their numbers. */
  readonly order: Int32Array;
  readonly norms: Uint8Array;
  readonly asins: Uint8Array;
}

export const columnBytes = (documents: number): number => documents * (2 * 8 + 5 * 4 + 1 + ASIN_BYTES);

export function columns(buffer: ArrayBuffer, documents: number): Columns {
  let at = 0;
  const place = (width: number): [ArrayBuffer, number, number] => {
    const start = at;
    at += documents * width;
    return [buffer, start, documents];
  };
  return {
    offsets: new Float64Array(...place(8)),
    instructionOffsets: new Float64Array(...place(8)),
    lengths: new Uint32Array(...place(4)),
    instructionLengths: new Uint32Array(...place(4)),
    goalCounts: new Uint32Array(...place(4)),
    tieRanks: new Int32Array(...place(4)),
    order: new Int32Array(...place(4)),
    norms: new Uint8Array(...place(1)),
    asins: new Uint8Array(buffer, at, documents * ASIN_BYTES),
  };
}

/** Changes whenever one of the files does. */
export function fingerprint(files: SourceFiles): string {
  return [files.products, files.instructions]
    .map((path) => `${basename(path)} ${statSync(path).size} ${statSync(path).mtimeMs}`)
    .join(', ');
}

/** Beside the data; where that folder is read-only, in the lab's data folder. */
export function indexFolder(files: SourceFiles): string {
  const name = `${basename(files.products, '.json')}.index`;
  const beside = join(dirname(files.products), name);
  if (existsSync(beside)) return beside;
  try {
    accessSync(dirname(files.products), constants.W_OK);
    return beside;
  } catch {
    return join(defaultDataFolder(), 'webshop', Buffer.from(dirname(files.products)).toString('hex').slice(-40), name);
  }
}

/** Whether the folder holds a complete index of these very files; one of another version or a damaged one does not count. */
export function isIndexOf(folder: string, files: SourceFiles): boolean {
  return readMeta(folder)?.source === fingerprint(files);
}

function readMeta(folder: string): IndexMeta | undefined {
  const path = join(folder, 'meta.json');
  if (!existsSync(path)) return undefined;
  try {
    return indexMeta.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return undefined;
  }
}

const MOST_PRODUCTS = 5000;
const MOST_POSTINGS = 8_000_000;

export function openIndex(folder: string, files: SourceFiles, mostHits: number): Catalog {
  const meta = readMeta(folder);
  if (meta === undefined) throw new DataError(`${folder} is not an index`, `Remove ${folder}; it is built again.`);
  const stored = readFileSync(join(folder, 'documents.bin'));
  if (stored.length !== columnBytes(meta.documents)) {
    throw new DataError(
      `${join(folder, 'documents.bin')} has ${stored.length} bytes, expected ${columnBytes(meta.documents)}`,
      `Remove ${folder}; it is built again.`,
    );
  }
  const table = columns(stored.buffer.slice(stored.byteOffset, stored.byteOffset + stored.length), meta.documents);
  const productFile = openSync(files.products, 'r');
  const instructionFile = openSync(files.instructions, 'r');
  const products = new Map<number, Product>();
  const ranking = new Ranking(new DiskTerms(folder, meta, table));

  function product(document: number): Product {
    let known = products.get(document);
    if (known === undefined) {
      const offset = table.offsets[document];
      if (offset === undefined) throw new RangeError(`There is no product ${document}: the catalog has ${table.norms.length}`);
      const value = readRecord(productFile, files.products, document, offset, table.lengths[document] ?? 0);
      const extraOffset = table.instructionOffsets[document] ?? 0;
      const extra = readRecord(instructionFile, files.instructions, document, extraOffset, table.instructionLengths[document] ?? 0);
      const place = placeOf(files.products, { index: document, offset });
      known = readProduct(value, readInstruction(extra, place), place);
      if (products.size >= MOST_PRODUCTS) products.clear();
      products.set(document, known);
    }
    return known;
  }

  return {
    size: meta.documents,
    product,
    find: (asin) => findAsin(table, asin),
    search: (query) => ranking.search(query, mostHits),
    goalCounts: table.goalCounts,
    notes: meta.notes,
  };
}

export function asinAt(asins: Uint8Array, document: number): string {
  let text = '';
  for (let i = document * ASIN_BYTES; i < (document + 1) * ASIN_BYTES; i++) {
    const byte = asins[i] ?? 0;
    if (byte === 0) break;
    text += String.fromCharCode(byte);
  }
  return text;
}

function findAsin(table: Columns, asin: string): number | undefined {
  let low = 0;
  let high = table.order.length - 1;
  while (low <= high) {
    const middle = (low + high) >>> 1;
    const document = table.order[middle] ?? 0;
    const here = asinAt(table.asins, document);
    if (here === asin) return document;
    if (here < asin) low = middle + 1;
    else high = middle - 1;
  }
  return undefined;
}

class DiskTerms implements TermSource {
  readonly size: number;
  readonly averageLength: number;
  readonly norms: Uint8Array;
  readonly tieRanks: Int32Array;
  readonly #blocks: readonly TermBlock[];
  readonly #terms: number;
  readonly #termBytes: number;
  readonly #postings: number;
  readonly #known = new Map<string, Postings | undefined>();
  #knownSize = 0;

  constructor(folder: string, meta: IndexMeta, table: Columns) {
    this.size = meta.documents;
    this.averageLength = meta.tokens / meta.documents;
    this.norms = table.norms;
    this.tieRanks = table.tieRanks;
    this.#blocks = z.array(termBlock).parse(JSON.parse(readFileSync(join(folder, 'blocks.json'), 'utf8')));
    this.#terms = openSync(join(folder, 'terms.bin'), 'r');
    this.#termBytes = statSync(join(folder, 'terms.bin')).size;
    this.#postings = openSync(join(folder, 'postings.bin'), 'r');
  }

  postings(term: string): Postings | undefined {
    if (this.#known.has(term)) return this.#known.get(term);
    const found = this.#find(term);
    if (this.#knownSize > MOST_POSTINGS) {
      this.#known.clear();
      this.#knownSize = 0;
    }
    this.#knownSize += 1 + (found?.documents.length ?? 0);
    this.#known.set(term, found);
    return found;
  }

  #find(term: string): Postings | undefined {
    let low = 0;
    let high = this.#blocks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if ((this.#blocks[middle]?.[0] ?? '') <= term) low = middle;
      else high = middle - 1;
    }
    const block = this.#blocks[low];
    if (block === undefined) return undefined;
    const end = this.#blocks[low + 1]?.[1] ?? this.#termBytes;
    const reader = new ByteReader(readBytes(this.#terms, block[1], end - block[1]));
    let offset = block[2];
    while (!reader.atEnd) {
      const here = reader.text();
      const count = reader.number();
      const length = reader.number();
      if (here === term) return decode(readBytes(this.#postings, offset, length), count);
      if (here > term) return undefined;
      offset += length;
    }
    return undefined;
  }
}

function decode(bytes: Uint8Array, count: number): Postings {
  const documents = new Int32Array(count);
  const counts = new Int32Array(count);
  const reader = new ByteReader(bytes);
  let document = 0;
  for (let i = 0; i < count; i++) {
    document += reader.number();
    documents[i] = document;
    counts[i] = reader.number();
  }
  return { documents, counts };
}
