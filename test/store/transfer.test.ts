import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { canonicalJson, sha256 } from '../../main/base/canonical.ts';
import { CheckpointFiles } from '../../main/store/checkpoints.ts';
import { ContainerReader, ContainerWriter } from '../../main/interchange/container.ts';
import { purge, vacuum } from '../../main/store/maintenance.ts';
import { RunWriter } from '../../main/store/run-writer.ts';
import type { Store } from '../../main/store/store.ts';
import { importFile } from '../../main/interchange/import.ts';
import { exportRuns } from '../../main/interchange/transfer.ts';
import { openStore, temporaryFolder } from './helpers.ts';
import { newRun, record, someEvaluation, someUpdate } from './samples.ts';

/** A store with two finished runs in a study. */
function filled(): Store {
  const store = openStore();
  for (const seed of [1, 2]) {
    const { id, uid } = store.runs.create(newRun({ seed, name: `run of seed ${seed}`, tags: ['exported'], notes: 'a note' }));
    const writer = new RunWriter(store, id);
    for (let update = 1; update <= 5; update++) writer.apply(someUpdate(seed, update));
    writer.apply({ ...someUpdate(seed, 6), metrics: { loss: NaN, 'gradient/norm': Infinity } });
    writer.apply(someEvaluation(seed, 6));
    writer.apply({ type: 'event', update: 3, kind: 'alert', severity: 'warning', text: 'look', data: { id: 'x' } });
    const checkpoint = new CheckpointFiles(store.dataFolder, uid).save(6, (path) => writeFileSync(path, `weights of ${seed}`));
    writer.apply({ type: 'checkpoint', checkpoint, kept: true });
    writer.apply({ type: 'finished', outcome: 'done', update: 6 });
    store.runs.change(id, { state: 'done', position: null });
  }
  const [episode] = store.episodes.page(2, {}, 'time', true, 1).episodes;
  store.notes.set(episode?.id ?? 0, { starred: true, comment: 'the one to look at' });
  store.studies.create('my study', [1, 2], { seeds: [1, 2] });
  return store;
}

function exported(store: Store): string {
  const file = join(temporaryFolder(), 'study.astrolab');
  exportRuns(store, [1, 2], file, { study: 1 });
  return file;
}

/** All rows of all tables: what "nothing was changed" means. */
function everything(store: Store): unknown {
  const tables = store.db.prepare<[], { name: string }>(`SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name`).all();
  return tables.map(({ name }) => [name, store.db.prepare(`SELECT * FROM ${name}`).all()]);
}

describe('an exported study', () => {
  it('is the same in another lab: metrics bit for bit, episodes, evaluations, events, checkpoints', () => {
    const source = filled();
    const file = exported(source);
    const target = openStore();
    target.runs.create(newRun({ name: 'was here before' }));
    const result = importFile(target, file);
    expect(result.runs.map(({ run, added }) => [run, added])).toEqual([
      [2, true],
      [3, true],
    ]);
    for (const [from, to] of [
      [1, 2],
      [2, 3],
    ] as const) {
      const { series, updates, episodes, test, validation, best } = Object(record(source, from));
      expect(record(target, to)).toMatchObject({ series, updates, episodes, test, validation, best });
      const ids = (store: Store, run: number): number[] => store.episodes.page(run, {}, 'time', false, 1000).episodes.map(({ id }) => id);
      expect(ids(target, to).map((id) => target.trajectories.read(id))).toEqual(
        ids(source, from).map((id) => source.trajectories.read(id)),
      );
      const [played] = target.evaluations.list(to);
      const results = target.evaluations.results(played?.id ?? 0);
      expect(results.every(({ episode, task }) => episode !== null && target.trajectories.read(episode).task === task)).toBe(true);
      expect(target.events.list(to, ['alert']).map(({ text, update }) => [text, update])).toEqual([['look', 3]]);
      const notes = (store: Store, run: number) =>
        [...store.notes.ofRun(run)].map(([episode, note]) => [store.trajectories.read(episode).seed, note]);
      expect(notes(target, to)).toEqual(notes(source, from));
      expect(notes(target, to).length).toBe(from === 2 ? 1 : 0);
      expect(target.checkpoints.newestSound(to)?.update).toBe(6);
      const a = source.runs.get(from);
      const b = target.runs.get(to);
      expect({ ...b, id: 0, position: 0 }).toEqual({ ...a, id: 0, position: 0 });
    }
    expect(target.studies.find('my study')?.runs).toEqual([2, 3]);
  });

  it('imported twice is there once', () => {
    const file = exported(filled());
    const target = openStore();
    importFile(target, file);
    const before = everything(target);
    expect(importFile(target, file).runs.every(({ added }) => !added)).toBe(true);
    expect(everything(target)).toEqual(before);
  });
});

test('a run of which a task was valued twice spent as many V* samples after an import as before', () => {
  const source = filled();
  const value = { task: '201-plain-1', k: 1, value: 0.25 };
  source.vstar.addToRun(1, [
    { ...value, update: 0, n: 8 },
    { ...value, update: 4, n: 2, value: 0.5 },
  ]);
  const target = openStore();
  importFile(target, exported(source));
  expect([source.vstar.samplesOf(1), target.vstar.samplesOf(1)]).toEqual([10, 10]);
  expect(target.vstar.ofRun(1)).toEqual([{ ...value, update: 4, n: 2, value: 0.5 }]);
});

test('a thinned study has the episodes asked for, all metrics bit for bit in one entry, and is refused with a byte too many', () => {
  const source = filled();
  const file = join(temporaryFolder(), 'thin.astrolab');
  const episodes = new Set(source.episodes.page(1, {}, 'time', true, 2).episodes.map(({ id }) => id));
  exportRuns(source, [1, 2], file, { study: 1, checkpoints: false, thin: () => ({ episodes, distribution: () => false }) });
  const target = openStore();
  expect(importFile(target, file).runs.length).toBe(2);
  expect([target.episodes.count(1), target.episodes.count(2)]).toEqual([2, 0]);
  for (const run of [1, 2]) expect(Object(record(target, run)).series).toEqual(Object(record(source, run)).series);
  const all = new ContainerReader(file);
  expect(all.names.filter((name) => name.includes('/metrics/'))).toEqual([]);
  const longer = join(temporaryFolder(), 'longer.astrolab');
  const writer = new ContainerWriter(longer);
  for (const name of all.names)
    writer.add(name, name.endsWith('/metrics-together') ? Buffer.concat([all.read(name), Buffer.alloc(12)]) : all.read(name));
  writer.finish();
  all.close();
  expect(() => importFile(openStore(), longer)).toThrow(/metrics have \d+ bytes, \d+ expected/);
});

test('a file of an earlier version, which has no notes, is imported without any', () => {
  const source = filled();
  const file = join(temporaryFolder(), 'old.astrolab');
  const all = new ContainerReader(exported(source));
  const writer = new ContainerWriter(file);
  for (const name of all.names) if (!name.endsWith('/notes')) writer.add(name, all.read(name));
  writer.finish();
  all.close();
  const target = openStore();
  expect(importFile(target, file).runs.length).toBe(2);
  expect([...target.notes.ofRun(2)]).toEqual([]);
  expect(target.episodes.count(2)).toBe(source.episodes.count(2));
});

describe('every export can be imported', () => {
  /** Samples of a run by metric and update. */
  const distributions = (store: Store, run: number) =>
    store.metrics.distributed(run).map((name) => [name, store.metrics.distributions(run, name)]);

  function withDistributions(samples: readonly (readonly Float32Array[])[]): Store {
    const store = openStore();
    const { id } = store.runs.create(newRun());
    store.write(() =>
      samples.forEach((updates, metric) =>
        updates.forEach((values, index) => store.metrics.addDistribution(id, index + 1, `metric ${metric}`, values)),
      ),
    );
    store.runs.change(id, { state: 'done', position: null });
    return store;
  }

  function there(source: Store): Store {
    const file = join(temporaryFolder(), 'run.astrolab');
    exportRuns(source, [1], file);
    const target = openStore();
    importFile(target, file);
    return target;
  }

  it('whatever its distributions hold', () => {
    const value = fc.oneof(fc.constant(0), fc.float());
    fc.assert(
      fc.property(fc.array(fc.array(fc.array(value, { maxLength: 40 }), { maxLength: 5 }), { maxLength: 3 }), (samples) => {
        const source = withDistributions(samples.map((updates) => updates.map((values) => Float32Array.from(values))));
        expect(distributions(there(source), 1)).toEqual(distributions(source, 1));
      }),
      { numRuns: 25 },
    );
  });

  it('of a long run whose advantages are nearly all 0, also from a file of version 0.1.0', () => {
    const source = withDistributions([Array.from({ length: 900 }, () => new Float32Array(512).fill(0.25, 0, 8))]);
    expect(distributions(there(source), 1)).toEqual(distributions(source, 1));
    const file = join(temporaryFolder(), 'now.astrolab');
    exportRuns(source, [1], file);
    const all = new ContainerReader(file);
    const before = join(temporaryFolder(), 'before.astrolab');
    const writer = new ContainerWriter(before);
    for (const name of all.names) {
      if (name.includes('/distributions/')) continue;
      const list = source.metrics
        .distributions(1, 'metric 0')
        .map(({ update, samples }) => ({ name: 'metric 0', update, samples: [...samples] }));
      if (name.endsWith('/distribution-series')) writer.add(name.replace('-series', 's'), Buffer.from(canonicalJson(list)));
      else writer.add(name, all.read(name));
    }
    writer.finish();
    all.close();
    const target = openStore();
    importFile(target, before);
    expect(distributions(target, 1)).toEqual(distributions(source, 1));
  });

  it('though an entry would deflate to a thousandth of its size', () => {
    const file = join(temporaryFolder(), 'zeros.astrolab');
    const writer = new ContainerWriter(file);
    const data = Buffer.alloc(40_000_000);
    writer.add('zeros', data);
    writer.finish();
    const reader = new ContainerReader(file);
    expect(reader.read('zeros').equals(data)).toBe(true);
    reader.close();
  });

  it('or it fails and leaves the file of before', () => {
    const source = withDistributions([]);
    const file = join(temporaryFolder(), 'run.astrolab');
    exportRuns(source, [1], file);
    const before = readFileSync(file);
    source.metrics.append(1, 1, { ['x'.repeat(300)]: 1 });
    expect(() => exportRuns(source, [1], file)).toThrow(/could not be read back, so it was not kept: .*metrics does not fit at 0\.name/);
    expect(readFileSync(file).equals(before)).toBe(true);
    expect(readdirSync(join(file, '..'))).toEqual(['run.astrolab']);
  });
});

describe('a damaged or hostile file is refused with a reason and leaves everything as it was', () => {
  const file = exported(filled());
  const bytes = readFileSync(file);
  const [first = ''] = new ContainerReader(file).names.filter((name) => name.endsWith('/run'));

  /** Imports the bytes and returns why they were refused; everything must be as before. */
  function refusal(data: Uint8Array): string {
    const path = join(temporaryFolder(), 'hostile.astrolab');
    writeFileSync(path, data);
    const store = openStore();
    store.runs.create(newRun());
    const before = everything(store);
    let reason = 'it was not refused';
    try {
      importFile(store, path);
    } catch (error) {
      reason = String(error);
    }
    expect(everything(store)).toEqual(before);
    const folder = join(store.dataFolder, 'checkpoints');
    const files = existsSync(folder) ? readdirSync(folder, { recursive: true }).map(String) : [];
    expect(files.filter((name) => name.endsWith('tensors'))).toEqual([]);
    return reason;
  }

  /** The file with other entries, its manifest and hashes made right again. */
  function forged(change: (name: string, data: Buffer) => Buffer | null, extra: [string, Buffer][] = []): Buffer {
    const source = join(temporaryFolder(), 'source');
    writeFileSync(source, bytes);
    const reader = new ContainerReader(source);
    const path = join(temporaryFolder(), 'forged');
    const writer = new ContainerWriter(path);
    for (const name of reader.names) {
      const data = change(name, reader.read(name));
      if (data !== null) writer.add(name, data);
    }
    for (const [name, data] of extra) writer.add(name, data);
    writer.finish();
    reader.close();
    return readFileSync(path);
  }

  /** A container with any manifest. */
  function container(manifest: unknown, payload = Buffer.alloc(0)): Buffer {
    const text = Buffer.from(JSON.stringify(manifest));
    const length = Buffer.alloc(4);
    length.writeUInt32LE(text.length);
    return Buffer.concat([
      Buffer.from('ASTROLAB-EXPORT\n'),
      payload,
      text,
      Buffer.from(sha256(text), 'hex'),
      length,
      Buffer.from('ASTROLAB-END-01\n'),
    ]);
  }

  it('when it is something else, empty or cut off anywhere', () => {
    expect(refusal(Buffer.from('PK\x03\x04 a zip file'.repeat(10)))).toMatch(/does not begin like an export/);
    expect(refusal(Buffer.alloc(0))).toMatch(/does not begin like an export/);
    for (const part of [0.1, 0.5, 0.9, 0.999])
      expect(refusal(bytes.subarray(0, Math.floor(bytes.length * part)))).toMatch(/cut off|does not begin/);
  });

  it('when a single byte was changed, wherever', () => {
    for (let at = 5; at < bytes.length; at += Math.floor(bytes.length / 12)) {
      const altered = Buffer.from(bytes);
      altered[at] = (altered[at] ?? 0) ^ 0x40;
      expect(refusal(altered)).toMatch(/was refused/);
    }
  });

  it('when a name leads out of the folder', () => {
    const data = deflateRawSync(Buffer.from('x'));
    for (const name of ['../../evil', '/etc/passwd', 'a/../b', 'C:\\evil', 'runs/..', '']) {
      const entry = { name, offset: 16, packed: data.length, bytes: 1, sha256: sha256('x') };
      expect(refusal(container({ format: 1, entries: [entry] }, data))).toMatch(/manifest is not valid/);
    }
  });

  it('when it would unpack to more than it says, or says too much', () => {
    const bomb = deflateRawSync(Buffer.alloc(50_000_000));
    const entry = { name: 'index', offset: 16, packed: bomb.length, bytes: 10, sha256: sha256('x') };
    expect(refusal(container({ format: 1, entries: [entry] }, bomb))).toMatch(/larger than the 10 bytes/);
    expect(refusal(container({ format: 1, entries: [{ ...entry, bytes: 2 ** 40 }] }, bomb))).toMatch(/manifest is not valid/);
    expect(refusal(container({ format: 1, entries: [{ ...entry, offset: 10 ** 9 }] }, bomb))).toMatch(/lies outside the file/);
    expect(refusal(container({ format: 2, entries: [] }))).toMatch(/manifest is not valid/);
  });

  it('when its content does not fit, though every hash is right', () => {
    expect(refusal(forged((name, data) => (name === first ? Buffer.from('{}') : data)))).toMatch(/run does not fit at/);
    expect(refusal(forged((name, data) => (name.endsWith('/evaluations') ? Buffer.from(canonicalJson([{ update: -1 }])) : data)))).toMatch(
      /evaluations does not fit/,
    );
    expect(refusal(forged((name, data) => (name.endsWith('/metrics/0') ? data.subarray(4) : data)))).toMatch(/bytes, .* expected/);
    expect(refusal(forged((name, data) => (name.endsWith('/episodes/0') ? data.subarray(0, data.length - 3) : data)))).toMatch(
      /middle of one/,
    );
    expect(refusal(forged((name, data) => (name.endsWith('/checkpoints/6') ? null : data)))).toMatch(/has no entry/);
  });
});

describe('a deleted run', () => {
  it('comes back complete when the deletion is undone', () => {
    const store = filled();
    const before = record(store, 1);
    store.runs.delete([1]);
    expect(store.runs.list().map(({ id }) => id)).toEqual([2]);
    expect(store.studies.find('my study')?.runs).toEqual([2]);
    store.runs.restore([1]);
    expect(store.runs.list().map(({ id }) => id)).toEqual([2, 1]);
    expect(record(store, 1)).toEqual(before);
  });

  it('leaves no row and no file once the trash is emptied, and its space is given back', () => {
    const store = filled();
    const { uid } = store.runs.get(1);
    const kept = store.metrics.series(2, 'loss');
    store.runs.delete([1]);
    expect(purge(store)).toBe(1);
    for (const table of ['metric_chunks', 'episodes', 'events', 'evaluations', 'checkpoints', 'distributions']) {
      expect(store.db.prepare(`SELECT count(*) AS n FROM ${table} WHERE run_id = 1`).get()).toEqual({ n: 0 });
    }
    expect(existsSync(join(store.dataFolder, 'checkpoints', uid))).toBe(false);
    expect(store.metrics.series(2, 'loss')).toEqual(kept);
    const { before, after } = vacuum(store);
    expect(after).toBeLessThanOrEqual(before);
    expect(store.trajectories.read(store.episodes.page(2, {}).episodes[0]?.id ?? 0).steps.length).toBe(3);
  });

  it('that is running is not deleted', () => {
    const store = filled();
    store.runs.change(2, { state: 'running' });
    expect(() => store.runs.delete([1, 2])).toThrow('Run 2 is running: stop it');
    expect(store.runs.list().length).toBe(2);
  });
});
