// Collecting a result whose task had failed before: the row that said so goes to the trash, and rows of real runs stay.

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { sha256 } from '../../main/base/canonical.ts';
import { clusterSettings } from '../../main/cluster/clusters.ts';
import { collectResults } from '../../main/cluster/collect.ts';
import { openPlace } from '../../main/cluster/place.ts';
import { planSubmission } from '../../main/cluster/plan.ts';
import type { SubmissionStatus } from '../../main/cluster/status.ts';
import { Submission } from '../../main/cluster/submission.ts';
import { exportRuns } from '../../main/interchange/transfer.ts';
import { trainAll, type WantedRun } from '../../main/study/work.ts';
import { openStore, temporaryFolder } from '../store/helpers.ts';
import { smallRuns } from './outcome.ts';
import { newRun } from '../catalog.ts';

test('a run that failed on a cluster and succeeded when it was retried is one row of the list', async () => {
  const store = openStore();
  const wanted = smallRuns([1, 2], 2);
  const failing = (open: readonly WantedRun[]) => Promise.resolve(open.map(({ config }) => ({ config, reason: 'Its node failed' })));
  const launch = () => {
    throw new Error('nothing trains here');
  };
  const failed = await trainAll(store, wanted, { launch, jobs: 1, remote: failing });
  expect(failed.map(({ state, reason }) => [state, reason])).toEqual(wanted.map(() => ['failed', 'Its node failed']));
  // The second one was also tried on this machine, and that is worth keeping.
  store.runs.change(failed[1]?.id ?? 0, { startedAt: 1 });

  const settings = clusterSettings.parse({ name: 'test', folder: temporaryFolder() });
  const { file, requests } = planSubmission(store, settings, wanted, { title: 'retried' });
  const submission = Submission.create(settings.folder, file, requests);
  const node = openStore();
  const tasks = file.tasks.map(({ id, uid, name, seed, planned }, index) => {
    const config = wanted[index]?.config;
    if (!config) throw new Error('no config');
    const run = node.runs.create({ ...newRun(config, 'shop-tiny', []), uid });
    node.runs.change(run.id, { state: 'done', position: null, updates: 2, startedAt: 1 });
    const result = submission.path('results', `${id}.1-0.astrolab`);
    exportRuns(node, [run.id], result);
    const data = readFileSync(result);
    const done = { state: 'done', reason: '', node: 'n1', attempts: 2, phase: '', done: 2, total: 2, success: null, saved: 2 } as const;
    const found = { file: `${id}.1-0.astrolab`, sha256: sha256(data), bytes: data.length };
    return { id, uid, name, seed, planned, ...done, log: null, job: '1_0', result: found };
  });
  const counts = { unsubmitted: 0, pending: 0, running: 0, requeued: 0, done: 2, failed: 0, cancelled: 0, unknown: 0 };
  const status: SubmissionStatus = { id: file.id, title: '', cluster: 'test', createdAt: 1, source: 'squeue', tasks, sharers: [], counts };
  const { added, refused } = await collectResults(store, openPlace(store.dataFolder, settings), submission, status);
  expect([added.length, refused]).toEqual([2, []]);
  const rows = store.runs.list().map(({ seed, state, startedAt }) => [seed, state, startedAt]);
  expect(rows.sort()).toEqual([
    [1, 'done', 1],
    [2, 'done', 1],
    [2, 'failed', 1],
  ]);
  expect(store.runs.list({ deleted: true }).map(({ id }) => id)).toEqual([failed[0]?.id]);
});
