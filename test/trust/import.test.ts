// Files from elsewhere: small ones that would become large, ones whose contents lie, ones that fit and were altered. Each is
// refused with the place and the reason, leaves nothing behind and takes no more memory than an import may.

import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { calls } from '../../main/lab/features/runs.ts';
import { importElsewhere } from '../../main/process/import-elsewhere.ts';
import type { WorkerProcess } from '../../main/process/supervisor.ts';
import { rowOf } from '../../main/lab/rows.ts';
import { CheckpointFiles } from '../../main/store/checkpoints.ts';
import { sha256 } from '../../main/base/canonical.ts';
import { ContainerReader } from '../../main/interchange/container.ts';
import { importFile } from '../../main/interchange/import.ts';
import { packTokens } from '../../main/store/pack.ts';
import { RunWriter } from '../../main/store/run-writer.ts';
import { Store } from '../../main/store/store.ts';
import { exportRuns } from '../../main/interchange/transfer.ts';
import { openStore, temporaryFolder } from '../store/helpers.ts';
import { newRun, someEvaluation, someUpdate } from '../store/samples.ts';
import { startLab } from './lab.ts';

/** The entries of a good export, by their names within its one run. */
let good: ReadonlyMap<string, Buffer>;
let uid: string;

beforeAll(() => {
  const folder = join(temporaryFolder(), 'source');
  mkdirSync(folder);
  const store = Store.open(folder);
  const run = store.runs.create(newRun());
  ({ uid } = run);
  const writer = new RunWriter(store, run.id);
  for (let update = 1; update <= 3; update++) writer.apply(someUpdate(1, update));
  writer.apply(someEvaluation(1, 3));
  const checkpoint = new CheckpointFiles(folder, uid).save(3, (path) => writeFileSync(path, 'weights'));
  writer.apply({ type: 'checkpoint', checkpoint, kept: true });
  store.runs.change(run.id, { state: 'done', position: null });
  const file = join(folder, 'good.astrolab');
  exportRuns(store, [run.id], file);
  store.close();
  const reader = new ContainerReader(file);
  good = new Map(reader.names.map((name) => [name, reader.read(name)]));
  reader.close();
});

/** A well-formed file of another run, with one entry replaced. */
function altered(entry: string, content: (old: Buffer) => Buffer, own = randomUUID()): string {
  const file = join(temporaryFolder(), 'hostile.astrolab');
  const entries = [...good].map(([name, data]): [string, Buffer] => {
    const text = data[0] === 0x7b || data[0] === 0x5b;
    const renamed = text ? Buffer.from(data.toString('utf8').replaceAll(uid, own)) : data;
    return [name.replace(uid, own), name === `runs/${uid}/${entry}` ? content(renamed) : renamed];
  });
  writeFileSync(file, container(entries));
  return file;
}

/** A container as dense as deflate makes it; our writer stores what would look like a bomb as it is. */
function container(entries: readonly (readonly [string, Buffer])[]): Buffer {
  const head = Buffer.from('ASTROLAB-EXPORT\n');
  const parts = entries.map(([name, data]) => ({ name, data, packed: deflateRawSync(data) }));
  let offset = head.length;
  const listed = parts.map(({ name, data, packed: { length } }) => {
    const entry = { name, offset, packed: length, bytes: data.length, sha256: sha256(data) };
    offset += length;
    return entry;
  });
  const manifest = Buffer.from(JSON.stringify({ format: 1, entries: listed }));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(manifest.length);
  const tail = [manifest, Buffer.from(sha256(manifest), 'hex'), length, Buffer.from('ASTROLAB-END-01\n')];
  return Buffer.concat([head, ...parts.map((part) => part.packed), ...tail]);
}

const json = (change: (value: Record<string, unknown>) => unknown) => (old: Buffer) =>
  Buffer.from(JSON.stringify(change(JSON.parse(old.toString('utf8')))));

/** An episodes entry whose first episode has these token bytes. */
function tokens(bytes: Uint8Array): (old: Buffer) => Buffer {
  return (old) => {
    const head = old.readUInt32LE(0);
    const lengths = Buffer.alloc(8);
    lengths.writeUInt32LE(head, 0);
    lengths.writeUInt32LE(bytes.length, 4);
    return Buffer.concat([lengths, old.subarray(8, 8 + head), bytes]);
  };
}

const zeros = (megabytes: number): Buffer => Buffer.alloc(megabytes * 1_000_000, '0,');
const packed = (raw: Uint8Array): Buffer => Buffer.concat([Uint8Array.of(1), deflateRawSync(raw)]);

/** Each a file of a few kilobytes to a few megabytes. */
const BOMBS: readonly (readonly [what: string, entry: string, content: (old: Buffer) => Buffer, reason: RegExp])[] = [
  ['fifty million values', 'events', () => Buffer.concat([Buffer.from('['), zeros(100), Buffer.from('0]')]), /would inflate/],
  [
    'fifteen million values in 30 MB',
    'evaluations',
    () => Buffer.concat([Buffer.from('['), zeros(30), Buffer.from('0]')]),
    /more than \d+ values/,
  ],
  ['a million nested lists', 'events', () => Buffer.from(`${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}`), /nested more than 64 deep/],
  [
    'a million points of the spark line',
    'run',
    json((run) => ({ ...run, spark: Array.from({ length: 1_000_000 }, (_, i) => [i, 0.5]) })),
    /more than \d+ values/,
  ],
  ['a name of 50 MB', 'run', json((run) => ({ ...run, name: 'x'.repeat(50_000_000) })), /would inflate/],
  ['a name of 5 MB', 'run', json((run) => ({ ...run, name: 'x'.repeat(5_000_000) })), /name/],
  ['tokens that inflate to 400 MB', 'episodes/0', tokens(packed(Buffer.alloc(400_000_000))), /inflates to more than/],
  [
    'tokens that promise a trillion',
    'episodes/0',
    tokens(packed(Buffer.from([1, 0x80, 0x80, 0x80, 0x80, 0x80, 0x20, 0, 0]))),
    /cannot hold/,
  ],
  ['steps that promise a billion', 'episodes/0', tokens(packed(Buffer.from([0x80, 0x80, 0x80, 0x80, 0x04]))), /cannot hold/],
];

describe('a bomb', () => {
  test.each(BOMBS)('%s is refused, with the reason', (_what, entry, content, reason) => {
    const store = openStore();
    expect(() => importFile(store, altered(entry, content))).toThrow(reason);
    expect(store.runs.list()).toEqual([]);
    expect(existsSync(join(store.dataFolder, 'checkpoints'))).toBe(false);
  });

  test.skipIf(process.platform !== 'linux')('does not take `lab import` beyond 500 MB', async () => {
    const folder = temporaryFolder();
    for (const [, entry, content] of [BOMBS[1], BOMBS[6]].filter((bomb) => bomb !== undefined)) {
      const file = altered(entry, content);
      const lab = startLab(folder, ['import', file]);
      let over = false;
      void lab.ended.then(() => (over = true));
      let most = 0;
      while (!over) {
        most = Math.max(most, ...family(lab.pid).map(peakMemory));
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      expect((await lab.ended).code).toBe(1);
      expect((await lab.ended).err).toContain('was refused');
      expect(most).toBeGreaterThan(10_000_000);
      expect(most).toBeLessThan(500_000_000);
    }
  });
});

/** The processes of a group; the lab is the leader of its own. */
function family(group: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return (
          Number(
            readFileSync(`/proc/${pid}/stat`, 'latin1')
              .replace(/^.*\)\s/s, '')
              .split(' ')[2],
          ) === group
        );
      } catch {
        return false;
      }
    });
}

function peakMemory(pid: number): number {
  try {
    return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

describe('an import', () => {
  test('refuses what the list of runs could not show: NaN in the spark line', () => {
    const store = openStore();
    const nan = altered('run', (old) =>
      Buffer.from(old.toString('utf8').replace(/"spark":\[\[1,[^\]]*\]/, '"spark":[[1,{"$number":"NaN"}]')),
    );
    expect(() => importFile(store, nan)).toThrow(/does not fit at spark\.0/);
    expect(() =>
      importFile(
        store,
        altered(
          'run',
          json((run) => ({ ...run, seconds: 'Infinity' })),
        ),
      ),
    ).toThrow(/seconds/);
  });

  test('checks a run that is there already like a new one', () => {
    const store = openStore();
    const same = randomUUID();
    importFile(
      store,
      altered('nothing', (old) => old, same),
    );
    expect(
      importFile(
        store,
        altered('nothing', (old) => old, same),
      ).runs,
    ).toMatchObject([{ added: false }]);
    expect(() =>
      importFile(
        store,
        altered('events', () => Buffer.from('[{}]'), same),
      ),
    ).toThrow(/events does not fit at 0/);
    expect(() =>
      importFile(
        store,
        altered('episodes/0', (old) => old.subarray(0, -3), same),
      ),
    ).toThrow(/in the middle of one/);
  });

  test('that is refused at its last part leaves no file behind', () => {
    const store = openStore();
    const file = altered('checkpoints', () => Buffer.from('[{"kept":true,"update":3},{"kept":true,"update":4}]'));
    expect(() => importFile(store, file)).toThrow(/no entry .*checkpoints\/4/);
    expect(store.runs.list()).toEqual([]);
    expect(readdirSync(join(store.dataFolder, 'checkpoints'))).toEqual([]);
  });

  test('names the file, the place and the reason, in words', () => {
    const store = openStore();
    expect(() => importFile(store, store.dataFolder)).toThrow(/is a folder; the file of an export was expected/);
    expect(() =>
      importFile(
        store,
        altered('events', () => Buffer.from('{"a":')),
      ),
    ).toThrow(/hostile\.astrolab was refused: runs\/.*\/events cannot be read: it is not JSON/);
  });
});

describe('a damaged run', () => {
  test('is shown as damaged, beside the others', () => {
    const store = openStore();
    const [sound, curve, time] = [1, 2, 3].map((seed) => store.runs.create(newRun({ seed })).id);
    store.db.prepare('UPDATE runs SET spark = ? WHERE id = ?').run(Buffer.from([1, 0, 0]), curve);
    store.db.prepare('UPDATE runs SET seconds = 1e999 WHERE id = ?').run(time);
    store.db.prepare(`UPDATE runs SET config = 'not json', group_hash = 'x' WHERE id = ?`).run(time);
    const { runs } = calls['runs.list'].answer.parse({ runs: store.runs.list().map((run) => rowOf(store, run)) });
    expect(runs.map(({ id, damaged }) => [id, damaged === null])).toEqual([
      [time, false],
      [curve, false],
      [sound, true],
    ]);
    expect(runs[1]?.damaged).toContain('training curve');
    expect(runs[0]?.damaged).toContain('training time');
  });

  test('tokens of an episode that were never too large still open', () => {
    const many = new Float32Array(200_000);
    const step = {
      ids: new Int32Array(200_000),
      logProbs: many,
      referenceLogProbs: many,
      entropies: many,
      values: many,
      advantages: many,
      topIds: new Int32Array(),
      topProbs: new Float32Array(),
    };
    expect(packTokens([step]).length).toBeGreaterThan(1000);
  });
});

test('a cancelled import leaves no checkpoint files behind, and touches none of the runs that are there', async () => {
  const store = openStore();
  const here = store.runs.create(newRun()).uid;
  const file = (run: string): string => join(store.dataFolder, 'checkpoints', run, '00000003.safetensors');
  const write = (run: string): void => void new CheckpointFiles(store.dataFolder, run).save(3, (path) => writeFileSync(path, 'weights'));
  write(here);
  const cancel = new AbortController();
  const heard: string[] = [];
  let exit = (_reason: string): void => {};
  // An import that has written the checkpoints of its first run when it is cancelled; it ends a moment after it was killed.
  const spawn = (): WorkerProcess => ({
    pid: 1,
    send: () => {
      write('being-imported');
      setImmediate(() => cancel.abort());
    },
    kill: () => {
      setImmediate(() => {
        heard.push(existsSync(file('being-imported')) ? 'ended with files' : 'ended without');
        exit('signal SIGKILL');
      });
    },
    onMessage: () => {},
    onExit: (listener) => {
      const before = exit;
      exit = (reason) => (before(reason), listener(reason));
    },
  });
  const work = importElsewhere(spawn, store.dataFolder, 'some.astrolab', { signal: cancel.signal });
  await expect(work).rejects.toThrow('The import of some.astrolab was cancelled. Nothing was changed.');
  expect(heard).toEqual(['ended with files']);
  expect([existsSync(file('being-imported')), existsSync(file(here))]).toEqual([false, true]);
  expect(readdirSync(join(store.dataFolder, 'checkpoints'))).toEqual([here]);
});
