// The peer of the store's benchmark: metrics as MLflow keeps them in SQLite (one row per point, its tables and keys) and
// episodes as plain rows with JSON, one per step. The same engine and settings (WAL, NORMAL), so only the layout differs. The
// key and the index of its points are made by `finishFilling`: row by row, 1,000 runs of 10,000 points would touch every page
// of the key a thousand times. Made at once they are as compact as they can be, which is to the peer's advantage.

import Sqlite from 'better-sqlite3';
import type { Trajectory } from '../../main/rollout/trajectory.ts';

export class PlainStore {
  readonly db: Sqlite.Database;
  /** What MLflow's primary key of the points is to SQLite: a unique index beside the table. */
  static readonly pointIndexes = ['metrics_key', 'index_metrics_run_uuid'] as const;
  readonly #addPoint: Sqlite.Statement<[string, number, number, string, number]>;
  readonly #setLatest: Sqlite.Statement<[string, number, number, number, string]>;
  readonly #addStep: Sqlite.Statement<[string, number, number, string]>;

  constructor(file: string) {
    this.db = new Sqlite(file);
    this.db.pragma('journal_mode = WAL');
    this.db.pragma('synchronous = NORMAL');
    this.db.exec(`
      CREATE TABLE IF NOT EXISTS runs (run_uuid VARCHAR(32) NOT NULL PRIMARY KEY, name VARCHAR(250), status VARCHAR(9), start_time BIGINT, lifecycle_stage VARCHAR(20));
      CREATE TABLE IF NOT EXISTS params (key VARCHAR(250) NOT NULL, value VARCHAR(8000) NOT NULL, run_uuid VARCHAR(32) NOT NULL, PRIMARY KEY (key, run_uuid));
      CREATE INDEX IF NOT EXISTS index_params_run_uuid ON params (run_uuid);
      CREATE TABLE IF NOT EXISTS metrics (key VARCHAR(250) NOT NULL, value FLOAT NOT NULL, timestamp BIGINT NOT NULL, run_uuid VARCHAR(32) NOT NULL,
        step BIGINT DEFAULT '0' NOT NULL, is_nan BOOLEAN DEFAULT '0' NOT NULL);
      CREATE TABLE IF NOT EXISTS latest_metrics (key VARCHAR(250) NOT NULL, value FLOAT NOT NULL, timestamp BIGINT, step BIGINT NOT NULL, is_nan BOOLEAN NOT NULL,
        run_uuid VARCHAR(32) NOT NULL, PRIMARY KEY (key, run_uuid));
      CREATE INDEX IF NOT EXISTS index_latest_metrics_run_uuid ON latest_metrics (run_uuid);
      CREATE TABLE IF NOT EXISTS steps (run_uuid VARCHAR(32) NOT NULL, episode INTEGER NOT NULL, step INTEGER NOT NULL, data TEXT NOT NULL,
        PRIMARY KEY (run_uuid, episode, step));`);
    this.#addPoint = this.db.prepare('INSERT INTO metrics (key, value, timestamp, run_uuid, step) VALUES (?, ?, ?, ?, ?)');
    this.#setLatest = this.db.prepare('INSERT OR REPLACE INTO latest_metrics VALUES (?, ?, ?, ?, 0, ?)');
    this.#addStep = this.db.prepare('INSERT INTO steps VALUES (?, ?, ?, ?)');
  }

  /** Fast and unsafe: no journal on disk, no waiting for it, and pages enough in memory to sort an index. */
  beginFilling(): void {
    this.db.pragma('journal_mode = MEMORY');
    this.db.pragma('synchronous = OFF');
    this.db.pragma('cache_size = -262144');
  }

  finishFilling(): void {
    this.db.exec(`
      CREATE UNIQUE INDEX metrics_key ON metrics (key, timestamp, step, run_uuid, value, is_nan);
      CREATE INDEX index_metrics_run_uuid ON metrics (run_uuid);`);
    this.db.pragma('journal_mode = WAL');
    this.db.pragma('synchronous = NORMAL');
    this.db.pragma('cache_size = -2000');
  }

  /** Points of one run as those of another, in the order in which they would have been logged: an update after the other. */
  copyPoints(from: string, runs: readonly string[], keys: readonly string[], updates: number, each: (uuid: string) => void): void {
    this.db.exec(`CREATE TEMP TABLE sample AS SELECT * FROM metrics WHERE run_uuid = '${from}' AND step <= ${updates}
      AND key IN (${keys.map((key) => `'${key}'`).join()}) ORDER BY step, key`);
    const copy = this.db.prepare('INSERT INTO metrics SELECT key, value, timestamp, ?, step, is_nan FROM sample ORDER BY rowid');
    const latest = this.db.prepare(
      'INSERT INTO latest_metrics SELECT key, value, timestamp, step, is_nan, ? FROM latest_metrics WHERE run_uuid = ?',
    );
    for (const uuid of runs) {
      this.db.transaction(() => {
        each(uuid);
        copy.run(uuid);
        latest.run(uuid, from);
      })();
    }
    this.db.exec('DROP TABLE sample');
  }

  addRun(uuid: string, params: Readonly<Record<string, string>>): void {
    this.db.prepare(`INSERT INTO runs VALUES (?, ?, 'FINISHED', 0, 'active')`).run(uuid, uuid);
    const add = this.db.prepare('INSERT INTO params VALUES (?, ?, ?)');
    for (const [key, value] of Object.entries(params)) add.run(key, value, uuid);
  }

  addUpdate(uuid: string, update: number, values: Readonly<Record<string, number>>): void {
    for (const [key, value] of Object.entries(values)) {
      this.#addPoint.run(key, value, 1_700_000_000_000 + update, uuid, update);
      this.#setLatest.run(key, value, 1_700_000_000_000 + update, update, uuid);
    }
  }

  addEpisode(uuid: string, episode: number, trajectory: Trajectory): void {
    const { steps, ...rest } = trajectory;
    steps.forEach((step, index) => {
      const tokens = Object.fromEntries(Object.entries(step.tokens).map(([name, values]) => [name, [...values]]));
      this.#addStep.run(uuid, episode, index, JSON.stringify({ ...(index === 0 ? rest : {}), ...step, tokens }));
    });
  }

  /** As MLflow's page does: every run with its latest metrics and params. */
  listRuns(): number {
    const runs = this.db
      .prepare<[], { run_uuid: string }>(`SELECT * FROM runs WHERE lifecycle_stage = 'active' ORDER BY start_time DESC`)
      .all();
    const latest = this.db.prepare('SELECT * FROM latest_metrics WHERE run_uuid = ?');
    const params = this.db.prepare('SELECT * FROM params WHERE run_uuid = ?');
    return runs.reduce((rows, run) => rows + latest.all(run.run_uuid).length + params.all(run.run_uuid).length, 0);
  }

  series(uuid: string, key: string): { step: number; value: number }[] {
    return this.db
      .prepare<[string, string], { step: number; value: number }>(
        'SELECT step, value FROM metrics WHERE run_uuid = ? AND key = ? ORDER BY timestamp, step',
      )
      .all(uuid, key);
  }

  episode(uuid: string, episode: number): unknown[] {
    const rows = this.db
      .prepare<[string, number], { data: string }>('SELECT data FROM steps WHERE run_uuid = ? AND episode = ? ORDER BY step')
      .all(uuid, episode);
    return rows.map((row) => JSON.parse(row.data));
  }
}
