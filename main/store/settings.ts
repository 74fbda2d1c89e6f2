// The lab's settings and view state by key: whoever reads one brings the schema that it must fit, and a value that no
// longer fits counts as absent, so an old setting never breaks a new version.

import type { z } from 'zod';
import { canonicalJson, parseCanonical } from '../base/canonical.ts';
import type { Connection } from './database.ts';

export class SettingStore {
  readonly #db: Connection;

  constructor(db: Connection) {
    this.#db = db;
  }

  get<T>(key: string, schema: z.ZodType<T>, fallback: T): T {
    const row = this.#db.prepare<[string], { value: string }>('SELECT value FROM settings WHERE key = ?').get(key);
    if (row === undefined) return fallback;
    const parsed = schema.safeParse(parseCanonical(row.value));
    return parsed.success ? parsed.data : fallback;
  }

  set(key: string, value: unknown): void {
    this.#db.prepare('INSERT OR REPLACE INTO settings VALUES (?, ?)').run(key, canonicalJson(value));
  }

  remove(key: string): void {
    this.#db.prepare('DELETE FROM settings WHERE key = ?').run(key);
  }
}
