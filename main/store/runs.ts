// Runs: their config, state, place in the queue, numbers for the list, tags and notes. Deleting moves a run into the
// trash; `restore` undoes it, `purge` (store/maintenance.ts) makes it final.

import type { Statement } from 'better-sqlite3';
import { randomUUID } from 'node:crypto';
import { canonicalJson, type Json, parseCanonical } from '../base/canonical.ts';
import type { RunState } from '../base/vocabulary.ts';
import type { RunConfig } from '../config/config.ts';
import { armIdentity, runIdentity } from '../config/identity.ts';
import type { Connection } from './database.ts';
import { packSpark, type Row, storedConfig, strings, summary, SUMMARY_COLUMNS, unpackSpark } from './run-rows.ts';

export interface NewRun {
  readonly name: string;
  readonly world: string;
  readonly variant: string;
  readonly preset: string | null;
  readonly seed: number;
  readonly device: string;
  readonly config: RunConfig;
  readonly versions: Readonly<Record<string, string>>;
  /** Updates the config asks for. */
  readonly planned: number;
  readonly tags?: readonly string[];
  readonly notes?: string;
  /** Given only by an import: the run's identity in every database. */
  readonly uid?: string;
}

/** k successes among n. */
export interface Successes {
  readonly k: number;
  readonly n: number;
}

export interface SuccessesAt extends Successes {
  readonly update: number;
}

/** What the list shows of a run. */
export interface RunSummary {
  readonly id: number;
  readonly uid: string;
  readonly name: string;
  readonly world: string;
  readonly variant: string;
  readonly preset: string | null;
  readonly seed: number;
  readonly device: string;
  readonly configHash: string;
  /** Equal for runs that differ in their seed only. */
  readonly groupHash: string;
  readonly state: RunState;
  readonly reason: string | null;
  readonly position: number | null;
  readonly pauseAt: number | null;
  readonly planned: number;
  readonly updates: number;
  readonly episodes: number;
  readonly tokens: number;
  readonly seconds: number;
  /** The final evaluation on test tasks; before there is one, a greedy one that was requested. */
  readonly test: (SuccessesAt & { readonly temperature: number }) | null;
  /** Evaluations during training: the latest, and the best. */
  readonly validation: SuccessesAt | null;
  readonly best: SuccessesAt | null;
  /** A few [update, share of successful training episodes] pairs. */
  readonly spark: readonly (readonly [number, number])[];
  readonly tags: readonly string[];
  readonly notes: string;
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  readonly deletedAt: number | null;
  /** The checkpoint it was branched from; `run` is null where this database does not have that run. */
  readonly origin: { readonly uid: string; readonly run: number | null; readonly update: number } | null;
  /** What of the row cannot be read, in words; null for a sound one. */
  readonly damaged: string | null;
}

export interface Run extends RunSummary {
  readonly config: RunConfig;
  readonly versions: Readonly<Record<string, string>>;
}

export interface RunFilter {
  readonly states?: readonly RunState[];
  readonly variants?: readonly string[];
  readonly worlds?: readonly string[];
  readonly tag?: string;
  readonly seed?: number;
  /** Part of name, notes, algorithm or tag. */
  readonly text?: string;
  /** The trash instead of the list. */
  readonly deleted?: boolean;
}

/** What may be set from outside, with its column. */
const CHANGEABLE = [
  ['name', 'name'],
  ['notes', 'notes'],
  ['state', 'state'],
  ['reason', 'reason'],
  ['position', 'position'],
  ['pauseAt', 'pause_at'],
  ['updates', 'updates'],
  ['episodes', 'episodes'],
  ['tokens', 'tokens'],
  ['seconds', 'seconds'],
  ['createdAt', 'created_at'],
  ['startedAt', 'started_at'],
  ['finishedAt', 'finished_at'],
  ['deletedAt', 'deleted_at'],
] as const;

export type RunChange = Partial<Pick<RunSummary, (typeof CHANGEABLE)[number][0]>>;

const SPARK_POINTS = 48;

export class RunStore {
  readonly #db: Connection;
  readonly #get: Statement<[number], Row & { config: string; versions: string }>;
  readonly #spark: Statement<[number], { spark: Buffer | null }>;

  constructor(db: Connection) {
    this.#db = db;
    this.#get = db.prepare(`SELECT ${SUMMARY_COLUMNS}, config, versions FROM runs WHERE id = ?`);
    this.#spark = db.prepare('SELECT spark FROM runs WHERE id = ?');
  }

  /** Adds a run at the end of the queue. */
  create(run: NewRun): Run {
    const id = this.#db
      .transaction(() => {
        const { last } = this.#db.prepare<[], { last: number | null }>('SELECT max(position) AS last FROM runs').get() ?? { last: null };
        const { lastInsertRowid } = this.#db
          .prepare(
            `INSERT INTO runs (uid, name, world, variant, preset, seed, device, config, config_hash, group_hash, versions, state, position, planned, notes, created_at)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'queued', ?, ?, ?, ?)`,
          )
          .run(
            run.uid ?? randomUUID(),
            run.name,
            run.world,
            run.variant,
            run.preset,
            run.seed,
            run.device,
            canonicalJson(run.config),
            runIdentity(run.config),
            armIdentity(run.config),
            canonicalJson(run.versions),
            (last ?? 0) + 1,
            run.planned,
            run.notes ?? '',
            Date.now(),
          );
        const created = Number(lastInsertRowid);
        this.setTags(created, run.tags ?? []);
        this.#keepOrigin(created);
        return created;
      })
      .immediate();
    return this.get(id);
  }

  /** The checkpoint that a run starts from survives the pruning of old ones. */
  #keepOrigin(id: number): void {
    this.#db
      .prepare(
        `UPDATE checkpoints SET kept = 1 WHERE (run_id, update_no) IN
         (SELECT parent.id, child.origin_update FROM runs AS child JOIN runs AS parent ON parent.uid = child.origin_uid WHERE child.id = ?)`,
      )
      .run(id);
  }

  /** Runs that were branched from this one, oldest first. */
  branches(uid: string): RunSummary[] {
    const sql = `SELECT ${SUMMARY_COLUMNS} FROM runs WHERE origin_uid = ? AND deleted_at IS NULL ORDER BY id`;
    return this.#db.prepare<[string], Row>(sql).all(uid).map(summary);
  }

  get(id: number): Run {
    const row = this.#row(id);
    return { ...summary(row), config: storedConfig(row), versions: strings(row.versions) };
  }

  /** The run without its config, which may be damaged. */
  summary(id: number): RunSummary {
    return summary(this.#row(id));
  }

  #row(id: number): Row & { config: string; versions: string } {
    const row = this.#get.get(id);
    if (row === undefined) throw new Error(`There is no run ${id}. "lab runs" lists what there is.`);
    return row;
  }

  has(id: number): boolean {
    return this.#get.get(id) !== undefined;
  }

  find(id: number): Run | undefined {
    return this.has(id) ? this.get(id) : undefined;
  }

  /** A run by its number or uid. */
  resolve(reference: string): Run {
    if (/^\d+$/.test(reference)) return this.get(Number(reference));
    const run = this.findByUid(reference);
    if (run !== undefined) return run;
    throw new Error(`There is no run ${JSON.stringify(reference)}: expected a number or uid. "lab runs" lists what there is.`);
  }

  findByUid(uid: string): Run | undefined {
    const row = this.#db.prepare<[string], { id: number }>('SELECT id FROM runs WHERE uid = ?').get(uid);
    return row === undefined ? undefined : this.get(row.id);
  }

  /** The run that is the same experiment, a finished one before others, then the oldest. */
  findSame(config: RunConfig): RunSummary | undefined {
    const sql = `SELECT ${SUMMARY_COLUMNS} FROM runs WHERE config_hash = ? AND deleted_at IS NULL ORDER BY state <> 'done', id LIMIT 1`;
    const row = this.#db.prepare<[string], Row>(sql).get(runIdentity(config));
    return row === undefined ? undefined : summary(row);
  }

  /** Newest first. */
  list(filter: RunFilter = {}): RunSummary[] {
    const where = [filter.deleted === true ? 'deleted_at IS NOT NULL' : 'deleted_at IS NULL'];
    const values: (string | number)[] = [];
    const oneOf = (column: string, options: readonly string[] | undefined): void => {
      if (options === undefined) return;
      where.push(`${column} IN (${options.map(() => '?').join(', ')})`);
      values.push(...options);
    };
    oneOf('state', filter.states);
    oneOf('variant', filter.variants);
    oneOf('world', filter.worlds);
    if (filter.seed !== undefined) {
      where.push('seed = ?');
      values.push(filter.seed);
    }
    if (filter.tag !== undefined) {
      where.push('EXISTS (SELECT 1 FROM run_tags WHERE run_id = runs.id AND tag = ?)');
      values.push(filter.tag);
    }
    if (filter.text !== undefined && filter.text !== '') {
      where.push(`(instr(lower(name || char(10) || notes || char(10) || variant || char(10) || world), lower(?)) > 0
        OR EXISTS (SELECT 1 FROM run_tags WHERE run_id = runs.id AND instr(lower(tag), lower(?)) > 0))`);
      values.push(filter.text, filter.text);
    }
    const sql = `SELECT ${SUMMARY_COLUMNS} FROM runs WHERE ${where.join(' AND ')} ORDER BY id DESC`;
    return this.#db
      .prepare<(string | number)[], Row>(sql)
      .all(...values)
      .map(summary);
  }

  /** The newest runs that are done, the newest first. */
  newestDone(count: number): number[] {
    const sql = `SELECT id FROM runs WHERE state = 'done' AND deleted_at IS NULL ORDER BY id DESC LIMIT ?`;
    return this.#db.prepare<[number], number>(sql).pluck().all(count);
  }

  /** The waiting runs in the order they will start. */
  queue(): RunSummary[] {
    const sql = `SELECT ${SUMMARY_COLUMNS} FROM runs WHERE state = 'queued' AND deleted_at IS NULL ORDER BY position, id`;
    return this.#db.prepare<[], Row>(sql).all().map(summary);
  }

  /** One config key of many runs ("learning.rate"), for grouping and for columns of the list. */
  configValues(key: string): Map<number, Json> {
    const path = `$.${key
      .split('.')
      .map((part) => JSON.stringify(part))
      .join('.')}`;
    const rows = this.#db
      .prepare<[string], { id: number; value: string | null }>('SELECT id, config -> ? AS value FROM runs WHERE deleted_at IS NULL')
      .all(path);
    return new Map(rows.filter((row) => row.value !== null).map((row) => [row.id, parseCanonical(row.value ?? 'null')]));
  }

  change(id: number, change: RunChange): void {
    const entries = CHANGEABLE.flatMap(([key, column]) => {
      const value = change[key];
      return value === undefined ? [] : [{ column, value }];
    });
    if (entries.length === 0) return;
    const sql = `UPDATE runs SET ${entries.map((entry) => `${entry.column} = ?`).join(', ')} WHERE id = ?`;
    this.#db.prepare(sql).run(...entries.map((entry) => entry.value), id);
  }

  setTags(id: number, tags: readonly string[]): void {
    this.#db
      .transaction(() => {
        this.#db.prepare('DELETE FROM run_tags WHERE run_id = ?').run(id);
        const add = this.#db.prepare('INSERT OR IGNORE INTO run_tags VALUES (?, ?)');
        for (const tag of tags) if (tag.trim() !== '') add.run(id, tag.trim());
      })
      .immediate();
  }

  tags(): string[] {
    return this.#db
      .prepare<[], { tag: string }>('SELECT DISTINCT tag FROM run_tags ORDER BY tag')
      .all()
      .map((row) => row.tag);
  }

  /** Into the trash: gone from every list, everything kept. */
  delete(ids: readonly number[]): void {
    const now = Date.now();
    const one = (id: number): void => {
      const { state } = this.summary(id);
      if (state === 'running' || state === 'stopping') throw new Error(`Run ${id} is ${state}: stop it before it is deleted`);
      this.change(id, { deletedAt: now });
    };
    this.#db.transaction(() => ids.forEach(one)).immediate();
  }

  restore(ids: readonly number[]): void {
    this.#db.transaction(() => ids.forEach((id) => this.change(id, { deletedAt: null }))).immediate();
  }

  setEvaluated(id: number, { test, validation, best }: Pick<RunSummary, 'test' | 'validation' | 'best'>): void {
    const columns = (found: SuccessesAt | null): (number | null)[] => [found?.k ?? null, found?.n ?? null, found?.update ?? null];
    this.#db
      .prepare(
        `UPDATE runs SET test_k = ?, test_n = ?, test_update = ?, test_temperature = ?, validation_k = ?, validation_n = ?,
         validation_update = ?, best_k = ?, best_n = ?, best_update = ? WHERE id = ?`,
      )
      .run(...columns(test), test?.temperature ?? null, ...columns(validation), ...columns(best), id);
  }

  /** Adds a point to the spark line; when it is full every second point goes. */
  addSpark(id: number, update: number, success: number): void {
    let points = unpackSpark(this.#spark.get(id)?.spark ?? null);
    points.push([update, success]);
    if (points.length > SPARK_POINTS) points = points.filter((_point, index) => index % 2 === 0 || index === points.length - 1);
    this.#setSpark(id, points);
  }

  cutSpark(id: number, lastUpdate: number): void {
    this.#setSpark(
      id,
      unpackSpark(this.#spark.get(id)?.spark ?? null).filter(([update]) => update <= lastUpdate),
    );
  }

  #setSpark(id: number, points: readonly (readonly [number, number])[]): void {
    this.#db.prepare('UPDATE runs SET spark = ? WHERE id = ?').run(packSpark(points), id);
  }
}
