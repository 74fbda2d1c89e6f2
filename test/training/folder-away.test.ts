// The data folder goes away while a run trains (a disk is unmounted): whatever is written next fails with its name, and nothing makes the
// folder anew, where it would stand in the way of the one that comes back.

import { existsSync, renameSync } from 'node:fs';
import { afterEach, expect, test } from 'vitest';
import { DataFolderGone } from '../../main/base/paths.ts';
import type { RunReport } from '../../main/training/reports.ts';
import { train } from '../../main/training/train.ts';
import { TestHost, smallest } from './host.ts';

afterEach(() => TestHost.forgetReferences());

test.each([
  ['while the reference is cloned', 'progress', false],
  ['while the reference is cloned, and the run is stopped', 'progress', true],
  ['while tasks are valued', 'vstar', false],
  ['while tasks are valued, and the run is stopped', 'vstar', true],
  ['while it trains', 'update', false],
] as const)('%s', async (_when, type: RunReport['type'], stopped) => {
  const host = new TestHost();
  const away = `${host.dataFolder}-away`;
  const stopping = new AbortController();
  const report = host.report.bind(host);
  let gone = false;
  host.report = async (message) => {
    await report(message);
    if (gone || message.type !== type) return;
    gone = true;
    renameSync(host.dataFolder, away);
    if (stopped) stopping.abort();
  };
  await expect(train(smallest({ checkpoints: { every: 1 } }), host, stopping.signal)).rejects.toThrow(DataFolderGone);
  expect(existsSync(host.dataFolder)).toBe(false);
  renameSync(away, host.dataFolder);
  host.remove();
});
