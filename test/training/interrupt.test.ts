// Ctrl-C in a terminal reaches the lab and its training process alike; the run must still end in order, with a checkpoint.

import { expect, test } from 'vitest';
import { Store } from '../../main/store/store.ts';
import { temporaryFolder } from '../store/helpers.ts';
import { startLab, tinyRun } from '../trust/lab.ts';

test.skipIf(process.platform === 'win32')('Ctrl-C ends the run in order, with a checkpoint', async () => {
  const folder = temporaryFolder();
  const lab = startLab(folder, ['--json', ...tinyRun()]);
  await lab.hears('training:');
  process.kill(-lab.pid, 'SIGINT');
  const { code, out } = await lab.ended;
  const { run, state, updates } = JSON.parse(out);
  expect([code, state]).toEqual([4, 'stopped']);
  expect(updates).toBeGreaterThanOrEqual(1);
  expect(updates).toBeLessThan(5000);
  const store = Store.read(folder);
  expect(store.checkpoints.newestSound(run)?.update).toBe(updates);
  store.close();
});
