// Studies: named sets of runs that are compared, with the plan they were made from.

import { randomUUID } from 'node:crypto';
import { canonicalJson, type Json, parseCanonical } from '../base/canonical.ts';
import type { Connection } from './database.ts';

export interface Study {
  readonly id: number;
  readonly uid: string;
  readonly name: string;
  readonly notes: string;
  readonly plan: Json;
  /** In the order they were added; runs in the trash are left out. */
  readonly runs: readonly number[];
  readonly createdAt: number;
}

interface Row {
  id: number;
  uid: string;
  name: string;
  notes: string;
  plan: string;
  created_at: number;
}

export class StudyStore {
  readonly #db: Connection;

  constructor(db: Connection) {
    this.#db = db;
  }

  /** `uid` is given by an import only. */
  create(name: string, runs: readonly number[], plan: Json = {}, uid: string = randomUUID()): Study {
    const id = this.#db
      .transaction(() => {
        if (this.find(name) !== undefined) throw new Error(`There is a study named ${JSON.stringify(name)} already; choose another name`);
        const { lastInsertRowid } = this.#db
          .prepare('INSERT INTO studies (uid, name, plan, created_at) VALUES (?, ?, ?, ?)')
          .run(uid, name, canonicalJson(plan), Date.now());
        this.addRuns(Number(lastInsertRowid), runs);
        return Number(lastInsertRowid);
      })
      .immediate();
    return this.get(id);
  }

  addRuns(id: number, runs: readonly number[]): void {
    this.#db
      .transaction(() => {
        const { last } = this.#db
          .prepare<[number], { last: number | null }>('SELECT max(position) AS last FROM study_runs WHERE study_id = ?')
          .get(id) ?? { last: null };
        const add = this.#db.prepare('INSERT OR IGNORE INTO study_runs VALUES (?, ?, ?)');
        runs.forEach((run, index) => add.run(id, run, (last ?? -1) + 1 + index));
      })
      .immediate();
  }

  removeRuns(id: number, runs: readonly number[]): void {
    const remove = this.#db.prepare('DELETE FROM study_runs WHERE study_id = ? AND run_id = ?');
    this.#db.transaction(() => runs.forEach((run) => remove.run(id, run))).immediate();
  }

  change(id: number, change: { readonly name?: string; readonly notes?: string; readonly plan?: Json }): void {
    const study = this.get(id);
    this.#db
      .prepare('UPDATE studies SET name = ?, notes = ?, plan = ? WHERE id = ?')
      .run(change.name ?? study.name, change.notes ?? study.notes, canonicalJson(change.plan ?? study.plan), id);
  }

  get(id: number): Study {
    const row = this.#db.prepare<[number], Row>('SELECT * FROM studies WHERE id = ?').get(id);
    if (row === undefined) throw new Error(`There is no study ${id}`);
    return this.#fromRow(row);
  }

  find(name: string): Study | undefined {
    const row = this.#db.prepare<[string], Row>('SELECT * FROM studies WHERE name = ?').get(name);
    return row === undefined ? undefined : this.#fromRow(row);
  }

  findByUid(uid: string): Study | undefined {
    const row = this.#db.prepare<[string], Row>('SELECT * FROM studies WHERE uid = ?').get(uid);
    return row === undefined ? undefined : this.#fromRow(row);
  }

  list(): Study[] {
    return this.#db
      .prepare<[], Row>('SELECT * FROM studies ORDER BY id DESC')
      .all()
      .map((row) => this.#fromRow(row));
  }

  /** The runs stay. */
  delete(id: number): void {
    this.#db.prepare('DELETE FROM studies WHERE id = ?').run(id);
  }

  #fromRow(row: Row): Study {
    const runs = this.#db
      .prepare<[number], { run_id: number }>(
        'SELECT run_id FROM study_runs JOIN runs ON runs.id = run_id WHERE study_id = ? AND deleted_at IS NULL ORDER BY study_runs.position',
      )
      .all(row.id)
      .map(({ run_id }) => run_id);
    return { id: row.id, uid: row.uid, name: row.name, notes: row.notes, plan: parseCanonical(row.plan), runs, createdAt: row.created_at };
  }
}
