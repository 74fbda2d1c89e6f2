import Sqlite from 'better-sqlite3';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { checkIntegrity, databaseFile, openDatabase, openReader, readMigrations } from '../../main/store/database.ts';
import { Store } from '../../main/store/store.ts';
import { openStore, temporaryFolder } from './helpers.ts';
import { newRun, someTrajectory } from './samples.ts';
import { Random } from '../../main/base/random.ts';

const migrations = readMigrations();
const fixtures = new URL('fixtures/', import.meta.url);

/** A database with a run in it, closed. */
function filled(): string {
  const folder = temporaryFolder();
  const store = Store.open(folder);
  const run = store.runs.create(newRun({ name: 'precious' }));
  const random = Random.from('filled');
  store.trajectories.add(
    run.id,
    1,
    Array.from({ length: 50 }, () => someTrajectory(random)),
  );
  store.close();
  return databaseFile(folder);
}

describe('a database of an earlier version', () => {
  for (const { version } of migrations) {
    it(`of schema ${version} is brought up to date with everything in it, and backed up before`, () => {
      const folder = temporaryFolder();
      const packed = readFileSync(new URL(`schema-${String(version).padStart(3, '0')}.db.gz`, fixtures));
      writeFileSync(databaseFile(folder), gunzipSync(packed));
      const store = openStore(folder);
      expect(store.db.pragma('user_version', { simple: true })).toBe(migrations.length);
      expect(store.runs.list().map(({ name, state, updates, tags }) => ({ name, state, updates, tags }))).toEqual([
        { name: 'an old run', state: 'interrupted', updates: 3, tags: ['kept'] },
      ]);
      expect([...store.metrics.series(1, 'loss').values]).toEqual([0.5, NaN, -Infinity]);
      const [episode] = store.episodes.page(1, {}).episodes;
      expect(store.trajectories.read(episode?.id ?? 0).steps.map(({ action }) => action)).toEqual([
        'search[red shoes]',
        'click[p12]',
        'buy',
      ]);
      expect(checkIntegrity(store.db)).toEqual([]);
      const backups = existsSync(join(folder, 'backups')) ? readdirSync(join(folder, 'backups')) : [];
      expect(backups.length).toBe(version < migrations.length ? 1 : 0);
    });
  }

  it('keeps its newest backup readable with the old schema', () => {
    const folder = temporaryFolder();
    writeFileSync(databaseFile(folder), gunzipSync(readFileSync(new URL('schema-001.db.gz', fixtures))));
    openStore(folder);
    const [backup = ''] = readdirSync(join(folder, 'backups')).filter((name) => name.includes('v001'));
    const old = new Sqlite(join(folder, 'backups', backup), { readonly: true });
    expect(old.prepare('SELECT name FROM runs').all()).toEqual([{ name: 'an old run' }]);
    expect(old.pragma('user_version', { simple: true })).toBe(1);
    old.close();
  });
});

describe('a file that cannot be used is refused with a reason and left as it was', () => {
  /** Opens the file and returns why it was refused; its bytes must be as before. */
  function refusal(file: string, known = migrations): string {
    const before = readFileSync(file);
    let reason = 'it was not refused';
    try {
      openDatabase(file, { migrations: known }).close();
    } catch (error) {
      reason = String(error);
    }
    expect(readFileSync(file).equals(before)).toBe(true);
    return reason;
  }

  it('when a newer lab wrote it', () => {
    expect(refusal(filled(), migrations.slice(0, 2))).toMatch(`written by a newer Astrolab (schema version ${migrations.length}`);
  });

  it('when its history was edited', () => {
    const edited = migrations.map((migration) => (migration.version === 1 ? { ...migration, sha256: 'other' } : migration));
    expect(refusal(filled(), edited)).toMatch('history was edited');
  });

  it('when it is no database', () => {
    const file = join(temporaryFolder(), 'astrolab.db');
    writeFileSync(file, 'dear diary, today I trained a policy. '.repeat(20));
    expect(refusal(file)).toMatch('is not a database');
  });

  it('when it belongs to another program', () => {
    const file = join(temporaryFolder(), 'astrolab.db');
    const other = new Sqlite(file);
    other.exec('CREATE TABLE contacts (name TEXT)');
    other.close();
    expect(refusal(file)).toMatch('another program (1 tables, none of ours)');
  });

  it('when it was cut off', () => {
    const file = filled();
    truncateSync(file, Math.floor(readFileSync(file).length / 2));
    expect(refusal(file)).toMatch('is cut off');
  });

  it('when its pages are damaged', () => {
    const file = filled();
    const bytes = readFileSync(file);
    bytes.fill(0xff, 100, 4000);
    writeFileSync(file, bytes);
    expect(refusal(file)).toMatch('damaged');
  });
});

describe('a migration that fails', () => {
  it('leaves the database as it was, with a backup beside it', () => {
    const file = filled();
    const broken = [
      ...migrations,
      { version: migrations.length + 1, name: 'broken', sql: 'CREATE TABLE half (a INTEGER) STRICT; SELECT nonsense;', sha256: 'x' },
    ];
    expect(() => openDatabase(file, { migrations: broken })).toThrow('nonsense');
    const db = openDatabase(file);
    expect(db.prepare(`SELECT count(*) AS n FROM sqlite_schema WHERE name = 'half'`).get()).toEqual({ n: 0 });
    expect(db.prepare('SELECT name FROM runs').get()).toEqual({ name: 'precious' });
    db.close();
    expect(readdirSync(join(file, '..', 'backups')).length).toBe(1);
  });
});

describe('migrations', () => {
  it('are numbered without a gap', () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'm'));
    writeFileSync(join(folder, 'm', '001-a.sql'), '');
    writeFileSync(join(folder, 'm', '003-c.sql'), '');
    expect(() => readMigrations(join(folder, 'm'))).toThrow('expected 002-name.sql, found 003-c.sql');
  });
});

describe('a reader', () => {
  it('sees what is committed while the writer is in the middle of a transaction, and cannot write', () => {
    const store = openStore();
    store.runs.create(newRun({ name: 'first' }));
    const reader = Store.read(store.dataFolder);
    store.db.exec('BEGIN IMMEDIATE');
    store.db.prepare(`UPDATE runs SET name = 'changed'`).run();
    expect(store.db.pragma('journal_mode', { simple: true })).toBe('wal'); // nobody waits for a reader, no reader for a writer
    expect(reader.runs.list().map(({ name }) => name)).toEqual(['first']);
    store.db.exec('COMMIT');
    expect(reader.runs.list().map(({ name }) => name)).toEqual(['changed']);
    expect(() => reader.runs.change(1, { name: 'no' })).toThrow('readonly');
    reader.close();
  });

  it('says what to do when there is no database', () => {
    expect(() => openReader(join(temporaryFolder(), 'astrolab.db'))).toThrow('There is no database at');
  });

  it('of two labs in one folder, each sees what the other stores', () => {
    const one = openStore();
    const other = openStore(one.dataFolder);
    const { id } = one.runs.create(newRun());
    const random = Random.from('two-labs');
    const trajectory = someTrajectory(random);
    one.trajectories.add(id, 1, [trajectory]);
    other.trajectories.add(id, 2, [trajectory]);
    one.trajectories.add(id, 3, [trajectory]);
    expect(other.episodes.page(id, {}).total).toBe(3);
    expect(checkIntegrity(one.db)).toEqual([]);
  });
});

it('a copy made while it is open is complete', () => {
  const store = openStore();
  store.runs.create(newRun({ name: 'copied' }));
  const target = join(temporaryFolder(), 'astrolab.db');
  store.db.prepare('VACUUM INTO ?').run(target);
  copyFileSync(target, `${target}.2`);
  const copy = openReader(`${target}.2`);
  expect(copy.prepare('SELECT name FROM runs').get()).toEqual({ name: 'copied' });
  copy.close();
});
