// The reference policy's raw samples per task, found again by the hash of everything that determines them. Estimator and
// β are not part of the key: any V* is computed from the stored returns. Beside it, the values each run used.

import { createHash } from 'node:crypto';
import type { VstarKey, VstarSamples } from '../training/host.ts';
import type { VstarEntry } from '../training/reports.ts';
import { canonicalJson } from '../base/canonical.ts';
import type { Connection } from './database.ts';
import { type Dictionary, fromColumn, toColumn } from './dictionary.ts';

export interface RunVstar {
  readonly task: string;
  readonly update: number;
  readonly k: number;
  readonly n: number;
  readonly value: number;
}

export class VstarCache {
  readonly #db: Connection;
  readonly #dictionary: Dictionary;

  constructor(db: Connection, dictionary: Dictionary) {
    this.#db = db;
    this.#dictionary = dictionary;
  }

  find(key: VstarKey): VstarSamples | undefined {
    const row = this.#db
      .prepare<[Buffer], { returns: Buffer; successes: Buffer }>('SELECT returns, successes FROM vstar_samples WHERE key = ?')
      .get(hash(key));
    if (row === undefined) return undefined;
    return { returns: new Float64Array(Uint8Array.from(row.returns).buffer), successes: Uint8Array.from(row.successes) };
  }

  /** Keeps the samples of a task. The same key again changes nothing: the samples are the same. */
  add(world: string, key: VstarKey, samples: VstarSamples): void {
    if (samples.returns.length !== key.samples || samples.successes.length !== key.samples) {
      throw new Error(
        `V* of ${key.task}: ${key.samples} samples expected, ${samples.returns.length} returns and ${samples.successes.length} successes found`,
      );
    }
    const { returns, successes } = samples;
    this.#db
      .prepare('INSERT OR IGNORE INTO vstar_samples VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
      .run(
        hash(key),
        world,
        key.task,
        key.reference,
        key.seed,
        key.temperature,
        key.samples,
        Buffer.from(returns.buffer, returns.byteOffset, returns.byteLength),
        Buffer.from(successes.buffer, successes.byteOffset, successes.byteLength),
        Date.now(),
      );
  }

  /** Records what a run uses from `update` on, and caches the samples it is made of. */
  record(run: number, update: number, world: string, entries: readonly VstarEntry[]): void {
    this.#dictionary.write(() => {
      const add = this.#db.prepare('INSERT OR REPLACE INTO run_vstar VALUES (?, ?, ?, ?, ?, ?)');
      for (const entry of entries) {
        this.add(world, { ...entry, samples: entry.returns.length }, entry);
        const k = entry.successes.reduce((sum, success) => sum + success, 0);
        add.run(run, this.#dictionary.label(entry.task), update, k, entry.returns.length, toColumn(entry.value));
      }
    });
  }

  /** Values without their samples, for an import. */
  addToRun(run: number, values: readonly RunVstar[]): void {
    this.#dictionary.write(() => {
      const add = this.#db.prepare('INSERT OR REPLACE INTO run_vstar VALUES (?, ?, ?, ?, ?, ?)');
      for (const { task, update, k, n, value } of values) add.run(run, this.#dictionary.label(task), update, k, n, toColumn(value));
    });
  }

  /** The newest value of each task of a run. */
  ofRun(run: number): RunVstar[] {
    return this.#values(
      run,
      'SELECT task, max(update_no) AS update_no, k, n, value FROM run_vstar WHERE run_id = ? GROUP BY task ORDER BY task',
    );
  }

  /** Every value that a run ever used, for an export. */
  allOfRun(run: number): RunVstar[] {
    return this.#values(run, 'SELECT task, update_no, k, n, value FROM run_vstar WHERE run_id = ? ORDER BY task, update_no');
  }

  #values(run: number, query: string): RunVstar[] {
    return this.#db
      .prepare<[number], { task: number; update_no: number; k: number; n: number; value: number | string }>(query)
      .all(run)
      .map((row) => ({
        task: this.#dictionary.labelText(row.task),
        update: row.update_no,
        k: row.k,
        n: row.n,
        value: fromColumn(row.value),
      }));
  }

  /** Reference episodes behind all values that a run ever used. */
  samplesOf(run: number): number {
    const row = this.#db.prepare<[number], { n: number | null }>('SELECT sum(n) AS n FROM run_vstar WHERE run_id = ?').get(run);
    return row?.n ?? 0;
  }

  truncate(run: number, lastUpdate: number): void {
    this.#db.prepare('DELETE FROM run_vstar WHERE run_id = ? AND update_no > ?').run(run, lastUpdate);
  }
}

function hash(key: VstarKey): Buffer {
  const { worldHash, task, reference, seed, temperature, samples } = key;
  return createHash('sha256').update(canonicalJson({ worldHash, task, reference, seed, temperature, samples })).digest();
}
