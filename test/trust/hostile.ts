// Files that want to do harm: a good export with bytes flipped, cut off or put in, and well-formed containers whose contents lie.
// Each must be refused, or add a run that can be shown; either way nothing else changes.

import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { canonicalJson, parseCanonical } from '../../main/base/canonical.ts';
import type { Random } from '../../main/base/random.ts';
import { ContainerReader, ContainerWriter, ImportError } from '../../main/interchange/container.ts';
import { purge } from '../../main/store/maintenance.ts';
import { Store } from '../../main/store/store.ts';
import { importFile } from '../../main/interchange/import.ts';
import type { Fort } from './fort.ts';

const LIES: readonly unknown[] = [NaN, -1, 1e308, '', 'x'.repeat(5000), [], {}, null, [[[[[]]]]], true, '\u001b[2J', '=1+1'];

export class HostileFiles {
  readonly #sample: Buffer;
  readonly #entries: ReadonlyMap<string, Buffer>;
  readonly #file: string;
  readonly #random: Random;

  constructor(sample: string, file: string, random: Random) {
    this.#sample = readFileSync(sample);
    this.#file = file;
    this.#random = random;
    const reader = new ContainerReader(sample);
    this.#entries = new Map(reader.names.map((name) => [name, reader.read(name)]));
    reader.close();
  }

  /** Imports such a file into the folder, as a second writer beside the lab that trains there. */
  attack(fort: Fort): void {
    if (this.#random.next() < 0.5) writeFileSync(this.#file, this.#mutated());
    else this.#lie();
    const store = Store.open(fort.folder);
    try {
      const before = store.runs.list().length;
      try {
        const added = importFile(store, this.#file).runs.filter((run) => run.added);
        store.runs.delete(added.map(({ run }) => run));
        purge(store);
      } catch (error) {
        if (!(error instanceof ImportError)) throw error;
      }
      if (store.runs.list().length !== before) throw new Error('A refused import changed the list of runs');
    } finally {
      store.close();
      rmSync(this.#file, { force: true });
    }
  }

  #below(count: number): number {
    return this.#random.below(Math.max(1, count));
  }

  #mutated(): Buffer {
    const bytes = Buffer.from(this.#sample);
    const at = this.#below(bytes.length);
    switch (this.#below(3)) {
      case 0:
        for (let i = 0; i < 1 + this.#below(8); i++) bytes[this.#below(bytes.length)] = this.#below(256);
        return bytes;
      case 1:
        return bytes.subarray(0, at);
      default:
        return Buffer.concat([bytes.subarray(0, at), Buffer.alloc(1 + this.#below(64), this.#below(256)), bytes.subarray(at)]);
    }
  }

  /** A run of another name whose hashes fit and whose contents do not. */
  #lie(): void {
    const old = /^runs\/([0-9a-f-]{36})\//.exec([...this.#entries.keys()].find((name) => name.startsWith('runs/')) ?? '')?.[1] ?? '';
    const uid = randomUUID();
    const names = [...this.#entries.keys()];
    const victim = names[this.#below(names.length)];
    const writer = new ContainerWriter(this.#file);
    for (const [name, data] of this.#entries) {
      const own = isJson(data) ? Buffer.from(data.toString('utf8').replaceAll(old, uid)) : data;
      const renamed = name.replace(old, uid);
      if (name !== victim) writer.add(renamed, own);
      else if (isJson(data)) writer.add(renamed, Buffer.from(canonicalJson(this.#twisted(parseCanonical(own.toString('utf8'))))));
      else writer.add(renamed, this.#noise(own));
    }
    writer.finish();
  }

  /** One value somewhere inside is replaced by a lie. */
  #twisted(value: unknown): unknown {
    const lie = LIES[this.#below(LIES.length)];
    if (typeof value !== 'object' || value === null || this.#random.next() < 0.1) return lie;
    const keys = Object.keys(value);
    const key = keys[this.#below(keys.length)];
    if (key === undefined) return lie;
    if (Array.isArray(value)) return value.map((item, index) => (String(index) === key ? this.#twisted(item) : item));
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, name === key ? this.#twisted(item) : item]));
  }

  #noise(data: Buffer): Buffer {
    const bytes = Buffer.from(data);
    for (let i = 0; i < 1 + this.#below(16); i++) if (bytes.length > 0) bytes[this.#below(bytes.length)] = this.#below(256);
    return bytes;
  }
}

const isJson = (data: Buffer): boolean => data.length > 0 && (data[0] === 0x7b || data[0] === 0x5b);
