// Records of version 0.1.0, in a database and in a file, made by the lab of that version: today's lab has them as if it had written them
// itself, finds what was cached, and says what it cannot read.

import Sqlite from 'better-sqlite3';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, test } from 'vitest';
import { canonicalJson, parseCanonical } from '../../main/base/canonical.ts';
import { type RunConfig } from '../../main/config/config.ts';
import { armIdentity, runIdentity } from '../../main/config/identity.ts';
import { ContainerReader, ContainerWriter } from '../../main/interchange/container.ts';
import { importFile } from '../../main/interchange/import.ts';
import { exportRuns } from '../../main/interchange/transfer.ts';
import { databaseFile, readMigrations } from '../../main/store/database.ts';
import type { Store } from '../../main/store/store.ts';
import { readRecord } from '../../main/study/record.ts';
import { referenceRecipe } from '../../main/training/reference/reference.ts';
import { worldHash } from '../../main/training/run-setup.ts';
import { openStore, temporaryFolder } from './helpers.ts';
import { firstConfig, firstFolder, OLD_STUDY, oldFolder } from './old-lab.ts';
import { applyOverrides, loadPreset, openRun, parseConfig } from '../catalog.ts';

const configs = (store: Store): RunConfig[] => store.runs.list().map(({ id }) => store.runs.get(id).config);

/** What `lab train --preset shop-tiny --set …` of that day asked for. */
const ASKED = `policy.width=8 policy.layers=1 policy.heads=1 policy.feedForward=8 policy.contextLength=128 policy.aids.tokenShift=2
  reference.steps=20 reference.demonstrations=60 reference.checkEvery=20 reference.checkTasks=8 training.updates=3 training.batch=4
  training.tasks=4 vstar.samples=2 evaluation.tasks=4 evaluation.finalTasks=6 evaluation.every=3 checkpoints.every=0
  retention.keep=evaluation retention.vstar=false`.split(/\s+/);

describe.each([
  ['version 0.1.0', oldFolder],
  ['the first labs', firstFolder],
])('a database of %s', (_version, folderOf) => {
  it('has complete configs, under the identities that they have today', () => {
    const store = openStore(folderOf());
    expect(store.runs.list().map(({ damaged }) => damaged)).toEqual([null, null, null, null, null]);
    for (const { id, configHash, groupHash } of store.runs.list()) {
      const { config } = store.runs.get(id);
      expect(config).toEqual(parseConfig(config));
      expect([configHash, groupHash]).toEqual([runIdentity(config), armIdentity(config)]);
    }
    const arms = Map.groupBy(store.runs.list(), ({ groupHash }) => groupHash);
    expect([...arms.values()].map((seeds) => seeds.map(({ id }) => id))).toEqual([[5, 4], [3], [2, 1]]);
  });

  it('finds a run that is asked for again', () => {
    const store = openStore(folderOf());
    const asked = applyOverrides(loadPreset('shop-tiny').config, ASKED);
    expect([1, 2, 3].map((seed) => store.runs.findSame({ ...asked, seed, name: 'again' })?.id)).toEqual([1, 2, undefined]);
  });

  it('finds references and V* samples by what is asked for today', () => {
    const store = openStore(folderOf());
    for (const id of [1, 3]) {
      const setup = openRun(store.runs.get(id).config, { dataFolder: store.dataFolder });
      const reference = store.references.find(referenceRecipe(setup));
      expect(reference?.world).toBe(setup.environment.name);
      const { seed } = setup.config.reference;
      const key = { worldHash: worldHash(setup.environment, setup.environment.levels - 1), reference: reference?.sha256 ?? '', seed };
      const valued = store.vstar.ofRun(id);
      expect(valued).toHaveLength(4);
      for (const { task, k } of valued)
        expect(store.vstar.find({ ...key, task, temperature: 1, samples: 2 })?.successes.reduce((sum, success) => sum + success, 0)).toBe(
          k,
        );
    }
  });

  it('keeps what its study decided, and what it had frozen', () => {
    let before: unknown;
    const folder = folderOf((db) => {
      before = JSON.parse(String(db.prepare<[], string>('SELECT plan FROM studies').pluck().get()));
    });
    const store = openStore(folder);
    expect(store.studies.list().map(({ plan }) => plan)).toEqual([before]);
    const record = readRecord(store.studies.list()[0]?.plan);
    expect(record?.claims.map(({ verdict, corrected }) => [verdict, corrected])).toEqual([['inconclusive', 'inconclusive']]);
    expect(record?.frozen?.hash).toBe(Object(before).frozen.hash);
  });

  it('is the same when it is opened again, and is not backed up a second time', () => {
    const folder = folderOf();
    const first = openStore(folder);
    const before = configs(first);
    expect(configs(openStore(folder))).toEqual(before);
    expect(readdirSync(join(folder, 'backups'))).toHaveLength(1);
  });
});

test('the first labs and version 0.1.0 meant the same configs', () => {
  expect(configs(openStore(firstFolder()))).toEqual(configs(openStore(oldFolder())));
});

test('the backup is the database of before', () => {
  const folder = oldFolder();
  openStore(folder);
  const [file = ''] = readdirSync(join(folder, 'backups'));
  expect(file).toContain('-v006-');
  const backup = new Sqlite(join(folder, 'backups', file), { readonly: true });
  const original = new Sqlite(databaseFile(oldFolder()), { readonly: true });
  for (const table of ['runs', 'studies', 'events', 'reference_policies', 'migrations'])
    expect(backup.prepare(`SELECT * FROM ${table}`).all()).toEqual(original.prepare(`SELECT * FROM ${table}`).all());
  backup.close();
  original.close();
});

test('an upgrade that is killed leaves the database as it was, and is made by the next lab that opens it', async () => {
  const folder = oldFolder();
  const script = fileURLToPath(new URL('./processes/killed-upgrade.ts', import.meta.url));
  const env = { ...process.env, ELECTRON_RUN_AS_NODE: '1', NODE_NO_WARNINGS: '1' };
  const signal = await new Promise((resolve) => {
    spawn(process.execPath, [script, folder], { stdio: 'inherit', env }).on('exit', (_code, how) => resolve(how));
  });
  expect(signal).toBe('SIGKILL');
  const killed = new Sqlite(databaseFile(folder));
  expect(killed.pragma('user_version', { simple: true })).toBe(6);
  const original = new Sqlite(databaseFile(oldFolder()), { readonly: true });
  expect(killed.prepare('SELECT * FROM runs').all()).toEqual(original.prepare('SELECT * FROM runs').all());
  killed.close();
  original.close();
  const store = openStore(folder);
  expect(store.db.pragma('user_version', { simple: true })).toBe(readMigrations().length);
  expect(configs(store)).toEqual(configs(openStore(oldFolder())));
});

test('words, alerts, budgets and notes of references are brought up to date with the configs', () => {
  const store = openStore(
    firstFolder((db) => {
      const plan = String(db.prepare<[], string>('SELECT plan FROM studies').pluck().get());
      db.prepare('UPDATE studies SET plan = ?').run(plan.replaceAll('"inconclusive"', '"undecided"'));
      const add = db.prepare(
        `INSERT INTO events (run_id, update_no, time, kind, severity, text, data) VALUES (1, 2, 0, 'alert', 'warning', 'look', ?)`,
      );
      add.run('{"id":"gradient-spike"}');
      add.run('{"id":"unheard-of"}');
      const label = db.prepare<[], { id: number }>(`SELECT id FROM labels WHERE text = 'optimizerSteps'`).get();
      db.prepare('DELETE FROM metric_chunks WHERE metric = ?').run(label?.id);
      const noted = db.prepare<[], { recipe: string; details: string }>('SELECT recipe, details FROM reference_policies').all();
      for (const { recipe, details } of noted) {
        const { group: _group, hold: _hold, ...first } = JSON.parse(details);
        db.prepare('UPDATE reference_policies SET details = ? WHERE recipe = ?').run(JSON.stringify(first), recipe);
      }
    }),
  );
  const record = readRecord(store.studies.list()[0]?.plan);
  expect(record?.claims.flatMap(({ tests }) => tests.map(({ verdict, corrected }) => [verdict, corrected]))).toEqual([
    ['inconclusive', 'inconclusive'],
  ]);
  expect(store.events.list(1, ['alert']).map(({ data }) => data)).toEqual([
    { id: 'gradient-spike', state: 'active', title: 'Gradient spike', metrics: ['gradient.norm'] },
    { id: 'unheard-of', state: 'active', title: 'Alert', metrics: [] },
  ]);
  expect([...store.metrics.series(1, 'optimizerSteps').values]).toEqual([1, 2, 3]);
  expect([...store.metrics.series(4, 'optimizerSteps').values]).toEqual([4, 8, 12]);
  for (const { details, world } of store.references.list()) {
    const { reference } = store.runs.get(world === 'maths' ? 3 : 1).config;
    expect(details).toEqual({ ...reference, success: 0, parameters: expect.any(Number) });
  }
});

test('a run whose config does not fit is listed with the reason, keeps nobody from the others, and can be deleted', () => {
  const folder = oldFolder((db) => {
    const config = JSON.parse(String(db.prepare<[], string>('SELECT config FROM runs WHERE id = 2').pluck().get()));
    db.prepare('UPDATE runs SET config = ? WHERE id = 2').run(
      JSON.stringify({ ...config, training: { ...config.training, updates: 'many' } }),
    );
    db.prepare('UPDATE runs SET config = ? WHERE id = 3').run('{"half');
    db.prepare(`UPDATE studies SET plan = '{"half'`).run();
  });
  const store = openStore(folder);
  expect(store.runs.list().map(({ id, damaged }) => [id, damaged === null])).toEqual([
    [5, true],
    [4, true],
    [3, false],
    [2, false],
    [1, true],
  ]);
  expect(store.runs.summary(2).damaged).toMatch(/its config: training\.updates: .*expected number/);
  expect(() => store.runs.get(2)).toThrow(/Run 2 cannot be opened, its config does not fit this version: training\.updates/);
  expect(() => store.runs.get(3)).toThrow(/Run 3 cannot be opened/);
  store.runs.delete([2, 3]);
  expect(store.runs.list().map(({ id }) => id)).toEqual([5, 4, 1]);
});

test('the algorithm of a plug-in that is not there keeps its settings', () => {
  const folder = oldFolder((db) => {
    const config = JSON.parse(String(db.prepare<[], string>('SELECT config FROM runs WHERE id = 1').pluck().get()));
    db.prepare('UPDATE runs SET config = ? WHERE id = 1').run(JSON.stringify({ ...config, algorithm: { id: 'nowhere', boldness: 3 } }));
  });
  const { config, damaged } = openStore(folder).runs.get(1);
  expect([config.algorithm, damaged]).toEqual([{ id: 'nowhere', boldness: 3 }, null]);
});

describe('a file of version 0.1.0', () => {
  /** The exported study with the configs of its runs changed, under other uids. */
  function altered(change: (config: Record<string, unknown>) => unknown): string {
    const all = new ContainerReader(OLD_STUDY);
    const uids = new Map<string, string>();
    const renamed = (text: string): string =>
      text.replaceAll(
        /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g,
        (uid) => uids.get(uid) ?? (uids.set(uid, randomUUID()).get(uid) || uid),
      );
    const file = join(temporaryFolder(), 'altered.astrolab');
    const writer = new ContainerWriter(file);
    for (const name of all.names) {
      const data = all.read(name);
      const text = data[0] === 0x7b || data[0] === 0x5b;
      const run = name.endsWith('/run') ? JSON.parse(data.toString('utf8')) : undefined;
      const content = run ? Buffer.from(canonicalJson({ ...run, config: change(run.config) })) : data;
      writer.add(renamed(name), text ? Buffer.from(renamed(content.toString('utf8'))) : content);
    }
    writer.finish();
    all.close();
    return file;
  }

  it('brings its runs as the migration of their database does, whichever lab of that version wrote it', () => {
    const migrated = openStore(oldFolder());
    for (const file of [OLD_STUDY, altered((config) => config), altered(firstConfig)]) {
      const store = openStore();
      const { runs, study } = importFile(store, file);
      expect(runs).toHaveLength(4);
      for (const { run } of runs) {
        const found = store.runs.get(run);
        const same = migrated.runs.findSame(found.config);
        expect(found.config).toEqual(same && migrated.runs.get(same.id).config);
        expect([found.configHash, found.groupHash]).toEqual([same?.configHash, same?.groupHash]);
      }
      expect(readRecord(store.studies.find(study ?? '')?.plan)?.claims.map(({ verdict }) => verdict)).toEqual(['inconclusive']);
    }
  });

  it('is refused with the setting that does not fit, and leaves nothing behind', () => {
    const store = openStore();
    const file = altered((config) => ({ ...config, threads: 'many' }));
    expect(() => importFile(store, file)).toThrow(
      /run does not fit at config \(the config does not fit this version of Astrolab: threads: /,
    );
    expect(store.runs.list()).toEqual([]);
  });

  it('comes out again as a file of today with the same configs', () => {
    const store = openStore();
    const [first] = importFile(store, OLD_STUDY).runs;
    const file = join(temporaryFolder(), 'again.astrolab');
    exportRuns(store, [first?.run ?? 0], file);
    const target = openStore();
    importFile(target, file);
    expect(configs(target)).toEqual([store.runs.get(first?.run ?? 0).config]);
    expect(parseCanonical(canonicalJson(configs(target)))).toEqual(configs(target));
  });
});
