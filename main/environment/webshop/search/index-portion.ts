// The terms of one portion of products while an index is built. Pairs of term and product are kept in three long arrays
// that are used again for every portion: millions of small lists would leave more garbage than two gigabytes hold.

import { closeSync, openSync, writeSync } from 'node:fs';
import { ByteWriter } from './bytes.ts';

const CHUNK = 1 << 22;

export class Portion {
  readonly #ids = new Map<string, number>();
  #terms: Int32Array<ArrayBuffer>;
  #documents: Int32Array<ArrayBuffer>;
  #counts: Int32Array<ArrayBuffer>;
  #pairs = 0;

  constructor(expected: number) {
    this.#terms = new Int32Array(expected);
    this.#documents = new Int32Array(expected);
    this.#counts = new Int32Array(expected);
  }

  get pairs(): number {
    return this.#pairs;
  }

  /** The words of the next product; products come in ascending order. */
  add(document: number, words: readonly string[]): void {
    const first = this.#pairs;
    const counted = new Map<number, number>();
    for (const word of words) {
      let id = this.#ids.get(word);
      if (id === undefined) this.#ids.set(word, (id = this.#ids.size));
      const place = counted.get(id);
      if (place === undefined) {
        if (this.#pairs === this.#terms.length) this.#grow();
        this.#terms[this.#pairs] = id;
        this.#documents[this.#pairs] = document;
        this.#counts[this.#pairs] = 1;
        counted.set(id, this.#pairs++ - first);
      } else this.#counts[first + place] = (this.#counts[first + place] ?? 0) + 1;
    }
  }

  #grow(): void {
    const larger = (old: Int32Array): Int32Array<ArrayBuffer> => {
      const next = new Int32Array(Math.max(1024, 2 * old.length));
      next.set(old);
      return next;
    };
    this.#terms = larger(this.#terms);
    this.#documents = larger(this.#documents);
    this.#counts = larger(this.#counts);
  }

  /** Writes the terms in order, each with its last product and its posting list, and begins anew. */
  flush(path: string): void {
    const file = openSync(path, 'w');
    const out = new ByteWriter();
    const list = new ByteWriter();
    const { starts, places } = this.#byTerm();
    for (const term of [...this.#ids.keys()].sort()) {
      const id = this.#ids.get(term) ?? 0;
      const [from, to] = [starts[id] ?? 0, starts[id + 1] ?? 0];
      list.clear();
      let before = 0;
      for (let i = from; i < to; i++) {
        const place = places[i] ?? 0;
        const document = this.#documents[place] ?? 0;
        list.number(document - before);
        list.number(this.#counts[place] ?? 0);
        before = document;
      }
      out.text(term);
      out.number(to - from);
      out.number(before);
      out.number(list.length);
      out.bytes(list.view());
      if (out.length > CHUNK) {
        writeSync(file, out.view());
        out.clear();
      }
    }
    writeSync(file, out.view());
    closeSync(file);
    this.#ids.clear();
    this.#pairs = 0;
  }

  /** Places of the pairs grouped by term, in the order in which they came. */
  #byTerm(): { readonly starts: Int32Array; readonly places: Int32Array } {
    const starts = new Int32Array(this.#ids.size + 1);
    for (let i = 0; i < this.#pairs; i++) {
      const next = (this.#terms[i] ?? 0) + 1;
      starts[next] = (starts[next] ?? 0) + 1;
    }
    for (let id = 0; id < this.#ids.size; id++) starts[id + 1] = (starts[id + 1] ?? 0) + (starts[id] ?? 0);
    const next = starts.slice();
    const places = new Int32Array(this.#pairs);
    for (let i = 0; i < this.#pairs; i++) {
      const id = this.#terms[i] ?? 0;
      const place = next[id] ?? 0;
      places[place] = i;
      next[id] = place + 1;
    }
    return { starts, places };
  }
}
