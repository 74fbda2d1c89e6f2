// A full disk, for real: the data folder lies on a file system of a few megabytes (a tmpfs, where the machine lets us mount
// one) or, everywhere, the database may not grow beyond a number of pages.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { checkIntegrity, isDiskFull } from '../../main/store/database.ts';
import { RunWriter } from '../../main/store/run-writer.ts';
import { Store } from '../../main/store/store.ts';
import { RunQueue } from '../../main/queue/queue.ts';
import { openStore } from './helpers.ts';
import { launchPretend } from './processes/launch.ts';
import { newRun, record, someUpdate } from './samples.ts';

const mounted: string[] = [];
afterAll(() => {
  for (const folder of mounted) {
    execFileSync('umount', [folder]);
    rmSync(folder, { recursive: true, force: true });
  }
});

/** A folder on a separate file system, or undefined where that is not allowed. */
function smallDisk(megabytes: number): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'astrolab-small-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder], { stdio: 'ignore' });
  } catch {
    rmSync(folder, { recursive: true, force: true });
    return undefined;
  }
  mounted.push(folder);
  return folder;
}

describe('a full disk', () => {
  it('rolls back the update that did not fit and keeps all before it', () => {
    const store = openStore();
    const run = store.runs.create(newRun()).id;
    const writer = new RunWriter(store, run);
    for (let update = 1; update <= 3; update++) writer.apply(someUpdate(1, update));
    const before = record(store, run);
    store.db.pragma(`max_page_count = ${String(store.db.pragma('page_count', { simple: true }))}`);
    let caught: unknown;
    try {
      for (let update = 4; update < 50; update++) writer.apply(someUpdate(1, update, 40));
    } catch (error) {
      caught = error;
    }
    expect(isDiskFull(caught)).toBe(true);
    expect(record(store, run)).toEqual(before);
    store.db.pragma('max_page_count = 1000000');
    writer.apply(someUpdate(1, 4));
    expect(store.runs.get(run).updates).toBe(4);
  });

  const disk = smallDisk(12);
  it.skipIf(disk === undefined)(
    'pauses the run with a message, loses nothing, and lets it resume with the same numbers when there is space',
    async () => {
      const calm = openStore();
      const straight = new RunQueue({ store: calm, launch: launchPretend(calm, { updates: 30 }) });
      straight.start();
      straight.add([newRun()]);
      await straight.settled();

      const folder = disk ?? '';
      const store = Store.open(folder);
      const queue = new RunQueue({ store, launch: launchPretend(store, { updates: 30, weightsBytes: 1_200_000, delayMs: 5 }) });
      queue.start();
      writeFileSync(join(folder, 'other-data'), Buffer.alloc(5_500_000));
      queue.add([newRun()]);
      await queue.settled();
      const { state, reason, updates } = store.runs.get(1);
      expect([state, reason]).toEqual(['paused', expect.stringContaining('The disk is full. Nothing was lost')]);
      expect(updates).toBeGreaterThan(0);
      expect(checkIntegrity(store.db)).toEqual([]);
      expect(store.checkpoints.newestSound(1)).toBeDefined();

      rmSync(join(folder, 'other-data'));
      queue.resume(1);
      await queue.settled();
      expect(store.runs.get(1)).toMatchObject({ state: 'done', updates: 30 });
      expect(record(store, 1)).toEqual(record(calm, 1));
      expect(existsSync(join(folder, 'astrolab.db'))).toBe(true);
      store.close();
    },
  );
});
