// Opens the lab's one SQLite file: WAL (one writer, readers never wait for it), foreign keys, strict tables, and
// numbered migrations whose history is checked: an edited or missing migration, a newer, foreign, truncated or damaged
// file is refused with a reason and left as it is. Before an upgrade the whole file is backed up.

import { BUILT_IN, type Catalog } from '../config/catalog.ts';
import Sqlite from 'better-sqlite3';
import {
  accessSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { migrationsFolder } from '../base/paths.ts';
import { sha256 } from '../base/canonical.ts';
import { upgradeRecords } from './upgrade.ts';

export type Connection = Sqlite.Database;

/** "ASTR": marks our files among SQLite files. */
const APPLICATION_ID = 0x41535452;
const BUSY_TIMEOUT_MS = 10_000;
const BACKUPS_KEPT = 5;

export class DatabaseError extends Error {
  override name = 'DatabaseError';
}

export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly sql: string;
  readonly sha256: string;
}

export function databaseFile(dataFolder: string): string {
  return join(dataFolder, 'astrolab.db');
}

/** The migrations of this version of the lab: 001-….sql, 002-….sql, … without a gap. */
export function readMigrations(folder = migrationsFolder()): Migration[] {
  const files = readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .sort();
  return files.map((file, index) => {
    const match = /^(\d{3})-([a-z0-9-]+)\.sql$/.exec(file);
    if (!match || Number(match[1]) !== index + 1) {
      throw new DatabaseError(
        `Migrations are numbered without a gap: expected ${String(index + 1).padStart(3, '0')}-name.sql, found ${file}`,
      );
    }
    const sql = readFileSync(join(folder, file), 'utf8').replaceAll('\r\n', '\n');
    return { version: index + 1, name: match[2] ?? '', sql, sha256: sha256(sql) };
  });
}

/** The writer's connection: creates the file and brings it up to date. */
export function openDatabase(
  file: string,
  { migrations = readMigrations(), catalog = BUILT_IN }: { migrations?: readonly Migration[]; catalog?: Catalog } = {},
): Connection {
  mkdirSync(dirname(file), { recursive: true });
  const db = connect(file, false);
  try {
    checkHistory(db, file, migrations);
    db.pragma('journal_mode = WAL');
    // A lost power supply may cost the last transactions but never the file; checkpoints raise this to FULL.
    db.pragma('synchronous = NORMAL');
    migrate(db, file, migrations, catalog);
    return db;
  } catch (error) {
    db.close();
    throw explain(error, file);
  }
}

/** A reader's connection: never writes, never waits for the writer. The file must exist and be up to date. */
export function openReader(file: string, migrations = readMigrations()): Connection {
  if (!existsSync(file)) throw new DatabaseError(`There is no database at ${file} yet. Start the lab once, or check the data folder.`);
  const db = connect(file, true);
  try {
    const version = checkHistory(db, file, migrations);
    if (version < migrations.length) {
      throw new DatabaseError(
        `${file} has schema version ${version}, this lab needs ${migrations.length}. Open it once with the lab to upgrade it.`,
      );
    }
    return db;
  } catch (error) {
    db.close();
    throw explain(error, file);
  }
}

/**
 * A database that cannot be written to, because its folder or disk is read-only: a copy of it beside other temporary files, upgraded if
 * need be, in which nothing can be changed. Returns how to remove the copy.
 */
export function openCopy(file: string, catalog: Catalog): { readonly db: Connection; readonly remove: () => void } {
  if (!existsSync(file)) throw new DatabaseError(`There is no database at ${file} yet, and none can be made: the folder is read-only.`);
  const folder = mkdtempSync(join(tmpdir(), 'astrolab-copy-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    const copy = join(folder, basename(file));
    for (const ending of ['', '-wal']) if (existsSync(file + ending)) copyFileSync(file + ending, copy + ending);
    const db = openDatabase(copy, { catalog });
    db.pragma('query_only = ON');
    return { db, remove };
  } catch (error) {
    remove();
    throw error;
  }
}

/** Whether the data folder is there and nothing can be written to it. */
export function isReadOnly(dataFolder: string): boolean {
  if (!existsSync(dataFolder)) return false;
  try {
    accessSync(dataFolder, constants.W_OK);
    const file = databaseFile(dataFolder);
    if (existsSync(file)) accessSync(file, constants.W_OK);
    return false;
  } catch (error) {
    return error instanceof Error && 'code' in error && (error.code === 'EROFS' || error.code === 'EACCES' || error.code === 'EPERM');
  }
}

/** Problems found by SQLite's check of every page and key; empty when all is well. Reads the whole file. */
export function checkIntegrity(db: Connection): string[] {
  const pages = db.prepare<[], { quick_check: string }>('PRAGMA quick_check(20)').all();
  const keys = db.prepare<[], { table: string }>('PRAGMA foreign_key_check').all();
  return [
    ...pages.map((row) => row.quick_check).filter((text) => text !== 'ok'),
    ...keys.slice(0, 20).map((row) => `a row of ${row.table} points to nothing`),
  ];
}

function connect(file: string, readonly: boolean): Connection {
  checkHeader(file);
  try {
    const db = new Sqlite(file, { readonly, timeout: BUSY_TIMEOUT_MS });
    db.pragma('foreign_keys = ON');
    db.pragma('trusted_schema = OFF');
    db.pragma('cache_size = -32000');
    // Lists of episodes scan many rows; without copying pages that takes half of the time.
    db.pragma('mmap_size = 1073741824');
    return db;
  } catch (error) {
    throw explain(error, file);
  }
}

/** What the file alone shows, before SQLite touches it. */
function checkHeader(file: string): void {
  if (!existsSync(file)) return;
  // Asked first: while there is a log, another process may be moving it into the file, and it is gone when that is done.
  const logged = (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
  const size = statSync(file).size;
  if (size === 0) return;
  const header = Buffer.alloc(100);
  const handle = openSync(file, 'r');
  const read = readSync(handle, header, 0, 100, 0);
  closeSync(handle);
  if (read < 100 || header.toString('latin1', 0, 16) !== 'SQLite format 3\0') {
    throw new DatabaseError(
      `${file} is not a database (expected an SQLite header, found ${JSON.stringify(header.toString('latin1', 0, 12))}). ` +
        `Nothing was changed. Move it away, or restore a file from the backups folder.`,
    );
  }
  const applicationId = header.readUInt32BE(68);
  if (applicationId !== 0 && applicationId !== APPLICATION_ID) {
    throw new DatabaseError(
      `${file} belongs to another program (application id ${applicationId}). Nothing was changed; choose another data folder.`,
    );
  }
  if (logged) return;
  const pageSize = header.readUInt16BE(16) === 1 ? 65536 : header.readUInt16BE(16);
  const expected = header.readUInt32BE(28) * pageSize;
  if (header.readUInt32BE(24) === header.readUInt32BE(92) && size < expected) {
    throw new DatabaseError(
      `${file} is cut off: ${expected} bytes expected, ${size} found. Nothing was changed. Restore the newest file from the backups folder.`,
    );
  }
}

/** Returns the file's schema version; throws when it is not ours, newer, or its history was edited. All of it is read at one moment: another process may be upgrading the file. */
function checkHistory(db: Connection, file: string, migrations: readonly Migration[]): number {
  return db.transaction(() => readHistory(db, file, migrations))();
}

function readHistory(db: Connection, file: string, migrations: readonly Migration[]): number {
  const version = Number(db.pragma('user_version', { simple: true }));
  if (version === 0) {
    const tables = db.prepare<[], { n: number }>('SELECT count(*) AS n FROM sqlite_schema').get()?.n ?? 0;
    if (tables > 0)
      throw new DatabaseError(`${file} is an SQLite file of another program (${tables} tables, none of ours). Nothing was changed.`);
    return 0;
  }
  if (Number(db.pragma('application_id', { simple: true })) !== APPLICATION_ID) {
    throw new DatabaseError(`${file} is an SQLite file of another program. Nothing was changed; choose another data folder.`);
  }
  if (version > migrations.length) {
    throw new DatabaseError(
      `${file} was written by a newer Astrolab (schema version ${version}; this one knows ${migrations.length}). Update Astrolab to open it. Nothing was changed.`,
    );
  }
  // Ours has none: a trigger would run whoever made it with every write, a view would lie to every read.
  const foreign = db
    .prepare<[], { type: string; name: string }>(`SELECT type, name FROM sqlite_schema WHERE type IN ('trigger', 'view')`)
    .get();
  if (foreign !== undefined) {
    throw new DatabaseError(
      `${file} holds a ${foreign.type} named ${JSON.stringify(foreign.name)} that is not ours: someone else put it there. Nothing was changed. Restore a file from the backups folder.`,
    );
  }
  const applied = db
    .prepare<[], { version: number; name: string; sha256: string }>('SELECT version, name, sha256 FROM migrations ORDER BY version')
    .all();
  if (applied.length !== version)
    throw new DatabaseError(`${file} says version ${version} but records ${applied.length} migrations. Nothing was changed.`);
  for (const row of applied) {
    const known = migrations[row.version - 1];
    if (known === undefined || known.name !== row.name || known.sha256 !== row.sha256) {
      throw new DatabaseError(
        `Migration ${row.version} (${row.name}) of ${file} differs from this lab's ${known?.name ?? 'none'}: history was edited. ` +
          `Nothing was changed. Use the version of Astrolab that made the file, or add a new migration instead of editing one.`,
      );
    }
  }
  return version;
}

/** All that is pending in one transaction: killed on the way, the file is as it was, and the next to open it begins again. */
function migrate(db: Connection, file: string, migrations: readonly Migration[], catalog: Catalog): void {
  const found = checkHistory(db, file, migrations);
  if (found === migrations.length) return;
  if (found > 0) backUp(db, file, found);
  const upgrade = db.transaction((): void => {
    // Another process may have been faster.
    const version = checkHistory(db, file, migrations);
    const pending = migrations.slice(version);
    if (version === 0) {
      db.pragma(`application_id = ${APPLICATION_ID}`);
      db.exec(
        `CREATE TABLE migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, sha256 TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT`,
      );
    }
    for (const next of pending) {
      db.exec(next.sql);
      db.prepare('INSERT INTO migrations VALUES (?, ?, ?, ?)').run(next.version, next.name, next.sha256, Date.now());
      db.pragma(`user_version = ${next.version}`);
    }
    // Once, and after the tables are today's: the records are rewritten by the code of today.
    if (version > 0 && pending.some(({ name }) => name.endsWith('configs'))) upgradeRecords(db, catalog);
  });
  upgrade.immediate();
}

/** A complete copy beside the database; the newest few are kept. Returns the copy's path. */
export function backUp(db: Connection, file: string, version: number): string {
  const folder = join(dirname(file), 'backups');
  mkdirSync(folder, { recursive: true });
  const stem = `${basename(file, '.db')}-v${String(version).padStart(3, '0')}`;
  const stamp = new Date().toISOString().replaceAll(/[:.]/g, '-');
  const copy = join(folder, `${stem}-${stamp}.db`);
  db.prepare('VACUUM INTO ?').run(copy);
  const byAge = readdirSync(folder)
    .filter((name) => name.endsWith('.db'))
    .sort((a, b) => statSync(join(folder, b)).mtimeMs - statSync(join(folder, a)).mtimeMs);
  for (const old of byAge.slice(BACKUPS_KEPT)) rmSync(join(folder, old));
  return copy;
}

function explain(error: unknown, file: string): Error {
  if (!(error instanceof Sqlite.SqliteError)) return error instanceof Error ? error : new Error(String(error));
  const advice =
    error.code.startsWith('SQLITE_CORRUPT') || error.code === 'SQLITE_NOTADB'
      ? 'The file is damaged; nothing was changed. Restore the newest file from the backups folder, or recover it with the sqlite3 tool (.recover).'
      : error.code.startsWith('SQLITE_BUSY')
        ? 'Another process holds it. Close the other lab and try again.'
        : error.code === 'SQLITE_FULL' || error.code.startsWith('SQLITE_IOERR')
          ? 'The disk is full or failing. Nothing was lost; free some space and try again.'
          : error.code === 'SQLITE_CANTOPEN' || error.code.startsWith('SQLITE_READONLY')
            ? 'Check that the folder exists and may be written to.'
            : 'Nothing was changed.';
  return new DatabaseError(`${file}: ${error.message} (${error.code}). ${advice}`, { cause: error });
}

/** True for the errors that mean "no space left", from SQLite or from the file system. */
export function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error ? String(error.code) : '';
  if (code === 'SQLITE_FULL' || code === 'ENOSPC' || code === 'EDQUOT' || code === 'SQLITE_IOERR_WRITE') return true;
  return isDiskFull(error.cause);
}
