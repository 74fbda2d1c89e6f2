// Strings that occur over and over are stored once: short ones (task ids, categories, metric names) as `labels`, long
// ones (observations, facts) as `texts`, found again by their hash. Rows then hold small integers. The ids are
// remembered in memory; a rolled-back transaction or another process's write forgets them, so they can never be stale.

import type { Statement } from 'better-sqlite3';
import { createHash } from 'node:crypto';
import type { Connection } from './database.ts';
import { MEGABYTE } from './limits.ts';
import { deflate, inflate } from './pack.ts';

const REMEMBERED_TEXTS = 8000;
const DEFLATE_FROM_BYTES = 160;
const LARGEST_TEXT = 256 * MEGABYTE;

export class Dictionary {
  readonly #db: Connection;
  readonly #labelIds = new Map<string, number>();
  readonly #labelTexts = new Map<number, string>();
  readonly #textIds = new Map<string, number>();
  readonly #addLabel: Statement<[string]>;
  readonly #findLabel: Statement<[string], { id: number }>;
  readonly #readLabel: Statement<[number], { text: string }>;
  readonly #addText: Statement<[Buffer, number, Buffer]>;
  readonly #findText: Statement<[Buffer], { id: number }>;
  readonly #readText: Statement<[number], { deflated: number; data: Buffer }>;
  #seenVersion: unknown;

  constructor(db: Connection) {
    this.#db = db;
    this.#addLabel = db.prepare('INSERT INTO labels (text) VALUES (?)');
    this.#findLabel = db.prepare('SELECT id FROM labels WHERE text = ?');
    this.#readLabel = db.prepare('SELECT text FROM labels WHERE id = ?');
    this.#addText = db.prepare('INSERT INTO texts (hash, deflated, data) VALUES (?, ?, ?)');
    this.#findText = db.prepare('SELECT id FROM texts WHERE hash = ?');
    this.#readText = db.prepare('SELECT deflated, data FROM texts WHERE id = ?');
  }

  /** Runs `work` as one transaction of the one writer: all of it is stored, or nothing. */
  write<T>(work: () => T): T {
    if (this.#db.inTransaction) return work();
    try {
      return this.#db
        .transaction(() => {
          const version = this.#db.pragma('data_version', { simple: true });
          if (version !== this.#seenVersion) this.forget();
          this.#seenVersion = version;
          return work();
        })
        .immediate();
    } catch (error) {
      this.forget();
      throw error;
    }
  }

  forget(): void {
    this.#labelIds.clear();
    this.#labelTexts.clear();
    this.#textIds.clear();
  }

  /** The label's number; a new one is added. Only inside `write`. */
  label(text: string): number {
    const id = this.findLabel(text) ?? Number(this.#addLabel.run(text).lastInsertRowid);
    this.#labelIds.set(text, id);
    return id;
  }

  findLabel(text: string): number | undefined {
    return this.#labelIds.get(text) ?? this.#findLabel.get(text)?.id;
  }

  labelText(id: number): string {
    const known = this.#labelTexts.get(id);
    if (known !== undefined) return known;
    const text = this.#readLabel.get(id)?.text;
    if (text === undefined) throw new Error(`The database has no label ${id}; "lab doctor" checks it`);
    this.#labelTexts.set(id, text);
    return text;
  }

  /** The text's number; a new one is added. Only inside `write`. */
  text(text: string): number {
    const known = this.#textIds.get(text);
    if (known !== undefined) return known;
    const bytes = Buffer.from(text, 'utf8');
    const hash = createHash('sha256').update(bytes).digest().subarray(0, 16);
    let id = this.#findText.get(hash)?.id;
    if (id === undefined) {
      const deflated = bytes.length >= DEFLATE_FROM_BYTES ? deflate(bytes) : bytes;
      const smaller = deflated.length < bytes.length;
      id = Number(this.#addText.run(hash, smaller ? 1 : 0, smaller ? deflated : bytes).lastInsertRowid);
    }
    if (this.#textIds.size >= REMEMBERED_TEXTS) this.#textIds.clear();
    this.#textIds.set(text, id);
    return id;
  }

  readText(id: number): string {
    const row = this.#readText.get(id);
    if (row === undefined) throw new Error(`The database has no text ${id}; "lab doctor" checks it`);
    return (row.deflated === 1 ? inflate(row.data, LARGEST_TEXT, `text ${id}`) : row.data).toString('utf8');
  }
}

/** A number as a column of type ANY can hold it: NaN as text, since SQLite would store NULL. */
export function toColumn(value: number): number | 'NaN' {
  return Number.isNaN(value) ? 'NaN' : value;
}

export function fromColumn(value: number | string): number {
  return Number(value);
}
