// Builds the index of a large set once, within a bounded amount of memory: products are read in portions, the terms of
// each portion are written as a sorted segment, and the segments are merged at the end. Portions that are done survive
// an interruption, and the finished index appears under its name all at once.

import { closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { analyze } from './analyzer.ts';
import { encodeLength } from './bm25.ts';
import { ByteWriter } from './bytes.ts';
import { ASIN_BYTES, asinAt, columnBytes, columns, fingerprint, type IndexMeta, VERSION } from './index-file.ts';
import { mergeSegments } from './index-merge.ts';
import { Portion } from './index-portion.ts';
import { contents, goalCount, readAsin, readInstruction, readProduct } from '../product.ts';
import { DataError, placeOf, readRecords } from './records.ts';
import { type Progress, type SourceFiles, withoutInstruction } from './source.ts';

/** A portion ends after so many pairs of product and term. */
const PORTION = 3_000_000;
const MOST_NOTES = 100;
/** Bytes of one product in a segment's table: two offsets, three counts, a length code, a number. */
const ROW = 8 + 8 + 4 + 4 + 4 + 1 + ASIN_BYTES;

/** What a portion leaves behind beside its files; written last, so a portion is there completely or not at all. */
const segmentRecord = z.object({
  next: z.object({ offset: z.number(), index: z.int() }),
  documents: z.int(),
  tokens: z.int(),
  notes: z.array(z.string()),
  last: z.boolean(),
});
type Segment = z.infer<typeof segmentRecord>;

const segmentFile = (folder: string, number: number, kind: string): string => join(folder, `segment-${number}.${kind}`);

export function buildIndex(files: SourceFiles, folder: string, progress: Progress, portion = PORTION): void {
  const partial = `${folder}.partial`;
  const source = fingerprint(files);
  prepare(partial, source);
  const lock = takeLock(partial);
  try {
    const segments = readSegments(partial);
    if (segments.at(-1)?.last !== true) addSegments(files, partial, segments, progress, portion);
    progress(0.9, 'merging');
    const documents = segments.reduce((sum, segment) => sum + segment.documents, 0);
    if (documents === 0) throw new DataError(`${files.products} holds no products`, 'Fetch the file again.');
    writeColumns(partial, segments, documents);
    const bases = segments.map((_, i) => segments.slice(0, i).reduce((sum, segment) => sum + segment.documents, 0));
    const terms = mergeSegments(
      partial,
      segments.map((_, i) => segmentFile(partial, i, 'terms')),
      bases,
      (share) => progress(0.9 + share / 10, 'merging'),
    );
    const tokens = segments.reduce((sum, segment) => sum + segment.tokens, 0);
    const notes = segments.flatMap((segment) => segment.notes);
    const meta: IndexMeta = { version: VERSION, source, documents, tokens, terms, notes: shorten(notes) };
    for (let i = 0; i < segments.length; i++) for (const kind of ['terms', 'rows', 'json']) rmSync(segmentFile(partial, i, kind));
    writeFileSync(join(partial, 'meta.json'), JSON.stringify(meta));
  } finally {
    closeSync(lock);
    rmSync(join(partial, 'lock'));
  }
  rmSync(folder, { recursive: true, force: true });
  renameSync(partial, folder);
  progress(1, 'indexed');
}

/** Keeps what an interrupted run left, unless it was for other files. */
function prepare(partial: string, source: string): void {
  const path = join(partial, 'source.txt');
  if (existsSync(partial) && (!existsSync(path) || readFileSync(path, 'utf8') !== source)) rmSync(partial, { recursive: true });
  mkdirSync(partial, { recursive: true });
  writeFileSync(path, source);
}

function takeLock(partial: string): number {
  const path = join(partial, 'lock');
  if (existsSync(path)) {
    const owner = Number(readFileSync(path, 'utf8'));
    if (owner !== process.pid && isRunning(owner)) {
      throw new DataError(`Process ${owner} is indexing ${dirname(partial)} already`, 'Wait until it is done and try again.');
    }
  }
  const file = openSync(path, 'w');
  writeSync(file, String(process.pid));
  return file;
}

function isRunning(process_: number): boolean {
  if (!Number.isInteger(process_) || process_ <= 0) return false;
  try {
    process.kill(process_, 0);
    return true;
  } catch {
    return false;
  }
}

function readSegments(partial: string): Segment[] {
  const segments: Segment[] = [];
  for (;;) {
    const path = segmentFile(partial, segments.length, 'json');
    if (!existsSync(path)) return segments;
    segments.push(segmentRecord.parse(JSON.parse(readFileSync(path, 'utf8'))));
  }
}

/** Where each product's entry stands in the instruction file, and whether it asks for the product. */
function readInstructions(files: SourceFiles, progress: Progress): Map<string, readonly [offset: number, length: number, asked: boolean]> {
  const size = statSync(files.instructions).size;
  const places = new Map<string, readonly [number, number, boolean]>();
  for (const record of readRecords(files.instructions, 'object')) {
    const { instruction } = readInstruction(record.value, `${placeOf(files.instructions, record)}, product ${record.key.slice(0, 20)}`);
    places.set(record.key, [record.offset, record.length, instruction !== null]);
    if (record.index % 20_000 === 0) progress((0.1 * record.offset) / size, 'reading instructions');
  }
  return places;
}

function addSegments(files: SourceFiles, partial: string, segments: Segment[], progress: Progress, portion: number): void {
  const instructions = readInstructions(files, progress);
  const taken = takenNumbers(partial, segments);
  const size = statSync(files.products).size;
  const from = segments.at(-1)?.next;
  const terms = new Portion(portion);
  const rows = new ByteWriter();
  let [documents, tokens] = [0, 0];
  let notes: string[] = [];
  let next = from ?? { offset: 0, index: 0 };

  const flush = (last: boolean): void => {
    const number = segments.length;
    terms.flush(segmentFile(partial, number, 'terms'));
    writeFileSync(segmentFile(partial, number, 'rows'), rows.view());
    const segment: Segment = { next, documents, tokens, notes, last };
    writeFileSync(segmentFile(partial, number, 'tmp'), JSON.stringify(segment));
    renameSync(segmentFile(partial, number, 'tmp'), segmentFile(partial, number, 'json'));
    segments.push(segment);
    rows.clear();
    [documents, tokens] = [0, 0];
    notes = [];
  };

  for (const record of readRecords(files.products, 'array', from)) {
    const place = placeOf(files.products, record);
    const { asin, skip } = readAsin(record.value, place);
    next = { offset: record.offset + record.length, index: record.index + 1 };
    const reason = skip || (taken.has(asin) ? `${asin} was there before; the first one counts` : '');
    if (reason !== '') {
      notes.push(`${place} is left out, as in the original: ${reason}`);
      continue;
    }
    if (!/^[!-~]+$/.test(asin))
      throw new DataError(`${place}: 'asin' should be letters and digits, found ${JSON.stringify(asin)}`, 'Repair the record.');
    const found = instructions.get(asin);
    if (found === undefined) throw withoutInstruction(place, asin, files);
    taken.add(asin);
    const [offset, length, asked] = found;
    const product = readProduct(record.value, { attributes: [], instruction: asked ? '' : null, wanted: [] }, place);
    const words = analyze(contents(product));
    terms.add(documents, words);
    rows.bytes(
      row(record.offset, record.length, offset, length, Math.min(goalCount(product), 2 ** 31 - 1), encodeLength(words.length), asin),
    );
    documents++;
    tokens += words.length;
    if (documents % 2000 === 0) progress(0.1 + (0.8 * next.offset) / size, 'indexing products');
    if (terms.pairs >= portion) flush(false);
  }
  flush(true);
}

function row(offset: number, length: number, entry: number, entryLength: number, goals: number, norm: number, asin: string): Buffer {
  const bytes = Buffer.alloc(ROW);
  bytes.writeDoubleLE(offset, 0);
  bytes.writeDoubleLE(entry, 8);
  bytes.writeUInt32LE(length, 16);
  bytes.writeUInt32LE(entryLength, 20);
  bytes.writeUInt32LE(goals, 24);
  bytes[28] = norm;
  bytes.write(asin, 29, 'latin1');
  return bytes;
}

function takenNumbers(partial: string, segments: readonly Segment[]): Set<string> {
  const taken = new Set<string>();
  for (const number of segments.keys()) {
    const rows = readFileSync(segmentFile(partial, number, 'rows'));
    for (let at = 0; at < rows.length; at += ROW) taken.add(asinAt(rows.subarray(at + 29, at + ROW), 0));
  }
  return taken;
}

function writeColumns(partial: string, segments: readonly Segment[], documents: number): void {
  const buffer = new ArrayBuffer(columnBytes(documents));
  const table = columns(buffer, documents);
  let document = 0;
  for (const number of segments.keys()) {
    const rows = readFileSync(segmentFile(partial, number, 'rows'));
    for (let at = 0; at < rows.length; at += ROW, document++) {
      table.offsets[document] = rows.readDoubleLE(at);
      table.instructionOffsets[document] = rows.readDoubleLE(at + 8);
      table.lengths[document] = rows.readUInt32LE(at + 16);
      table.instructionLengths[document] = rows.readUInt32LE(at + 20);
      table.goalCounts[document] = rows.readUInt32LE(at + 24);
      table.norms[document] = rows[at + 28] ?? 0;
      table.asins.set(rows.subarray(at + 29, at + ROW), document * ASIN_BYTES);
    }
  }
  const asins = Array.from({ length: documents }, (_, i) => asinAt(table.asins, i));
  for (let i = 0; i < documents; i++) table.order[i] = i;
  table.order.sort((a, b) => ((asins[a] ?? '') < (asins[b] ?? '') ? -1 : 1));
  for (let rank = 0; rank < documents; rank++) table.tieRanks[table.order[rank] ?? 0] = rank;
  writeFileSync(join(partial, 'documents.bin'), new Uint8Array(buffer));
}

function shorten(notes: string[]): string[] {
  if (notes.length <= MOST_NOTES) return notes;
  return [...notes.slice(0, MOST_NOTES), `… and ${notes.length - MOST_NOTES} more records are left out for reasons of the same kinds`];
}
