// BM25 as Lucene computes it (k1 0.9, b 0.4), down to its 32-bit arithmetic and its lossy one-byte document lengths:
// many products of a shop score almost the same, so rounding decides which of them make the first page. Equal scores
// are ordered by product number (ASIN), as the original's search library orders them.

import { analyze } from './analyzer.ts';

const { fround } = Math;
const K1 = fround(0.9);
const B = fround(0.4);

/** Where a term occurs: documents in ascending order and its frequency in each. */
export interface Postings {
  readonly documents: Int32Array;
  readonly counts: Int32Array;
}

/** What the ranking needs to know of a collection; held in memory for the small set, on disk for the full one. */
export interface TermSource {
  readonly size: number;
  readonly averageLength: number;
  /** Length codes, one byte a document. */
  readonly norms: Uint8Array;
  /** Order in which documents of equal score are shown. */
  readonly tieRanks: Int32Array;
  postings(term: string): Postings | undefined;
}

/** Lucene's length code: exact up to 40, then four significant bits. */
export function encodeLength(length: number): number {
  if (length < 24) return length;
  const rest = length - 24;
  const bits = 32 - Math.clz32(rest);
  if (bits < 4) return 24 + rest;
  const shift = bits - 4;
  return 24 + (((rest >>> shift) & 7) | ((shift + 1) << 3));
}

export function decodeLength(code: number): number {
  if (code < 24) return code;
  const rest = code - 24;
  const shift = (rest >>> 3) - 1;
  return 24 + (shift < 0 ? rest & 7 : ((rest & 7) | 8) * 2 ** shift);
}

function inverseNorms(averageLength: number): Float32Array {
  const average = fround(averageLength);
  const inverse = new Float32Array(256);
  for (let code = 0; code < 256; code++) {
    const relative = fround(fround(B * fround(decodeLength(code))) / average);
    inverse[code] = fround(1 / fround(K1 * fround(fround(1 - B) + relative)));
  }
  return inverse;
}

export function inverseFrequency(documents: number, size: number): number {
  return fround(Math.log(1 + (size - documents + 0.5) / (documents + 0.5)));
}

/** Ranks documents for queries; keeps one score per document between calls, so it is not for concurrent use. */
export class Ranking {
  readonly #source: TermSource;
  readonly #inverse: Float32Array;
  readonly #scores: Float64Array;
  readonly #touched: Int32Array;

  constructor(source: TermSource) {
    this.#source = source;
    this.#inverse = inverseNorms(source.averageLength);
    this.#scores = new Float64Array(source.size);
    this.#touched = new Int32Array(source.size);
  }

  /** The best `limit` documents, best first. A word that is said twice counts twice. */
  search(query: string, limit: number): Int32Array {
    const boosts = new Map<string, number>();
    for (const term of analyze(query)) boosts.set(term, (boosts.get(term) ?? 0) + 1);
    let touched = 0;
    for (const [term, boost] of boosts) touched = this.#add(term, boost, touched);
    return this.#best(touched, limit);
  }

  #add(term: string, boost: number, touchedBefore: number): number {
    const found = this.#source.postings(term);
    if (found === undefined) return touchedBefore;
    let touched = touchedBefore;
    const { documents, counts } = found;
    const { norms } = this.#source;
    const weight = fround(fround(boost) * inverseFrequency(documents.length, this.#source.size));
    for (let i = 0; i < documents.length; i++) {
      const document = documents[i] ?? 0;
      const inverse = this.#inverse[norms[document] ?? 0] ?? 0;
      const score = fround(weight - fround(weight / fround(1 + fround((counts[i] ?? 0) * inverse))));
      if (this.#scores[document] === 0) this.#touched[touched++] = document;
      this.#scores[document] = (this.#scores[document] ?? 0) + score;
    }
    return touched;
  }

  #best(touched: number, limit: number): Int32Array {
    const scores = this.#scores;
    const { tieRanks } = this.#source;
    const before = (a: number, b: number): number =>
      fround(scores[b] ?? 0) - fround(scores[a] ?? 0) || (tieRanks[a] ?? 0) - (tieRanks[b] ?? 0);
    const best: number[] = [];
    for (let i = 0; i < touched; i++) {
      const document = this.#touched[i] ?? 0;
      const last = best[best.length - 1];
      if (best.length === limit && last !== undefined && before(last, document) < 0) continue;
      let low = 0;
      let high = best.length;
      while (low < high) {
        const middle = (low + high) >>> 1;
        if (before(best[middle] ?? 0, document) < 0) low = middle + 1;
        else high = middle;
      }
      best.splice(low, 0, document);
      if (best.length > limit) best.pop();
    }
    const answer = Int32Array.from(best);
    for (let i = 0; i < touched; i++) scores[this.#touched[i] ?? 0] = 0;
    return answer;
  }
}
