// Damage is looked for and named, and everything else is saved; what others put into the database is refused, and a folder that cannot
// be written to can still be looked at.

import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { describe, expect, onTestFinished, test } from 'vitest';
import { recover } from '../../main/queue/recover.ts';
import { checkStore, salvage } from '../../main/interchange/check.ts';
import { CheckpointFiles } from '../../main/store/checkpoints.ts';
import { RunWriter } from '../../main/store/run-writer.ts';
import { Store } from '../../main/store/store.ts';
import { openStore, temporaryFolder } from '../store/helpers.ts';
import { newRun, someUpdate } from '../store/samples.ts';
import { startLab } from './lab.ts';

/** Two finished runs of three updates with a checkpoint each. */
function filled(): Store {
  const store = openStore();
  for (const seed of [1, 2]) {
    const { id, uid } = store.runs.create(newRun({ seed }));
    const writer = new RunWriter(store, id);
    for (let update = 1; update <= 3; update++) writer.apply(someUpdate(seed, update));
    for (const update of [2, 3]) {
      const checkpoint = new CheckpointFiles(store.dataFolder, uid).save(update, (path) => writeFileSync(path, `weights ${update}`));
      writer.apply({ type: 'checkpoint', checkpoint, kept: true });
    }
    writer.apply({ type: 'finished', outcome: 'done', update: 3 });
    store.runs.change(id, { state: 'done', position: null });
  }
  return store;
}

/** A run's record without the numbers that its database gave it. */
const whole = (store: Store, run: number): unknown => [
  store.metrics.many(run, store.metrics.names(run)),
  [...store.episodes.each(run)].map(({ id }) => store.trajectories.read(id)),
  store.checkpoints.list(run).map(({ update, sha256 }) => [update, sha256]),
];

describe('lab check', () => {
  test('finds nothing in a sound folder', async () => {
    const store = filled();
    expect(checkStore(store)).toEqual([]);
    const { code, out } = await startLab(store.dataFolder, ['--json', 'check']).ended;
    expect([code, JSON.parse(out)]).toEqual([0, { ok: true, damaged: [] }]);
  });

  test('names damaged episodes, a metric and a checkpoint, and saves all the rest into a new folder', async () => {
    const store = filled();
    const before = whole(store, 2);
    const [first] = store.episodes.page(1, {}).episodes;
    const [, checkpoint] = store.checkpoints.list(1);
    if (!first || !checkpoint) throw new Error('The sample has episodes and checkpoints');
    // The token numbers of an update's episodes lie together, so all of them are lost.
    const blocks = store.db.prepare<[], { id: number }>(
      'SELECT episode_id AS id FROM episode_tokens WHERE episode_id < 2 * (1 << 32) ORDER BY 1',
    );
    const block = blocks.all().findLast(({ id }) => id <= first.id)?.id ?? 0;
    const lost = [...store.episodes.each(1)].filter(({ update }) => update === first.update).map(({ id }) => id);
    expect(lost.length).toBeGreaterThan(1);
    expect(lost).toContain(block);
    store.db.prepare('UPDATE episode_tokens SET data = ? WHERE episode_id = ?').run(Buffer.from([1, 9, 9, 9]), block);
    store.db.prepare(`UPDATE metric_chunks SET data = x'03ff' WHERE id = (SELECT min(id) FROM metric_chunks WHERE run_id = 1)`).run();
    writeFileSync(store.checkpoints.path(checkpoint), 'something else');

    const target = join(temporaryFolder(), 'saved');
    const { code, out } = await startLab(store.dataFolder, ['--json', 'check', '--salvage', target]).ended;
    const found = JSON.parse(out);
    expect(code).toBe(1);
    expect(found.damaged.map(({ kind, run }: { kind: string; run: number }) => [kind, run])).toEqual([
      ['metric', 1],
      ...lost.map(() => ['episode', 1]),
      ['checkpoint', 1],
    ]);
    expect(found.damaged.at(-1)).toMatchObject({ where: checkpoint.file, problem: expect.stringContaining('sha256') });
    expect(found.salvaged).toEqual({ runs: [1, 2], lost: [] });
    const saved = openStore(target);
    expect(checkStore(saved)).toEqual([]);
    expect(whole(saved, 2)).toEqual(before);
    expect(saved.episodes.count(1)).toBe(store.episodes.count(1) - lost.length);
    expect(saved.checkpoints.list(1).map(({ update }) => update)).toEqual([2]);
  });

  test('saves nothing into a folder that holds runs', () => {
    const store = filled();
    expect(() => salvage(store, filled(), [])).toThrow(/holds runs already/);
  });
});

test('a database with a trigger of someone else is refused and left as it is', () => {
  const store = filled();
  const folder = temporaryFolder();
  store.db.pragma('wal_checkpoint(TRUNCATE)');
  cpSync(join(store.dataFolder, 'astrolab.db'), join(folder, 'astrolab.db'));
  const file = join(folder, 'astrolab.db');
  const db = new Sqlite(file);
  db.exec('CREATE TRIGGER evil AFTER INSERT ON events BEGIN DELETE FROM runs; END');
  db.close();
  const bytes = readFileSync(file);
  expect(() => Store.open(folder)).toThrow(/holds a trigger named "evil" that is not ours/);
  expect(readFileSync(file).equals(bytes)).toBe(true);
});

test('after a crash the database is looked at, and what is wrong stands with the run', () => {
  const store = filled();
  store.runs.change(1, { state: 'running' });
  store.db.pragma('foreign_keys = OFF');
  store.db.prepare('INSERT INTO run_tags VALUES (99, ?)').run('of nobody');
  const [run] = recover(store);
  expect(run).toMatchObject({
    state: 'interrupted',
    reason: expect.stringContaining('The database is damaged (a row of run_tags points to nothing)'),
  });
});

/** A folder that cannot be written to, or undefined where the machine does not allow to make one. */
function readOnlyCopy(source: string): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'astrolab-read-only-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16m', 'tmpfs', folder], { stdio: 'ignore' });
    onTestFinished(() => {
      execFileSync('umount', ['-l', folder]);
      rmSync(folder, { recursive: true, force: true });
    });
    cpSync(source, folder, { recursive: true });
    execFileSync('mount', ['-o', 'remount,ro', folder], { stdio: 'ignore' });
    return folder;
  } catch {
    return undefined;
  }
}

test.skipIf(process.platform !== 'linux' || process.getuid?.() !== 0)(
  'a read-only folder opens for looking and exporting, and for nothing else',
  async () => {
    const source = filled();
    source.db.pragma('wal_checkpoint(TRUNCATE)');
    const folder = readOnlyCopy(source.dataFolder);
    if (folder === undefined) return;
    const listed = await startLab(folder, ['--json', 'runs']).ended;
    expect([listed.code, JSON.parse(listed.out).length]).toEqual([0, 2]);
    expect(listed.err).toContain('is read-only: opened for looking and exporting');
    const file = join(temporaryFolder(), 'one.astrolab');
    expect((await startLab(folder, ['export', '1', '--out', file]).ended).code).toBe(0);
    const refused = await startLab(folder, ['delete', '1']).ended;
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('nothing can be changed or trained there')]);
  },
);
