// A task that cannot continue from its snapshot says so and ends: only a retry, which somebody asks for, begins the run again.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { clusterSettings } from '../../main/cluster/clusters.ts';
import { EXIT } from '../../main/cluster/exit.ts';
import { planSubmission } from '../../main/cluster/plan.ts';
import { ProgressReader } from '../../main/cluster/progress.ts';
import { Submission } from '../../main/cluster/submission.ts';
import { runTask } from '../../main/cluster/task.ts';
import { importFile } from '../../main/interchange/import.ts';
import { exportRuns } from '../../main/interchange/transfer.ts';
import { openStore, temporaryFolder } from '../store/helpers.ts';
import { smallRuns } from './outcome.ts';
import { newRun } from '../catalog.ts';

const TINY = ['reference.demonstrations=8', 'reference.steps=2', 'reference.checkTasks=1', 'training.batch=2', 'training.tasks=2'];

test('a snapshot that cannot be read, or is of another run, fails the task with the reason; its retry begins the run again', async () => {
  const store = openStore();
  const wanted = smallRuns([1], 2, TINY);
  const settings = clusterSettings.parse({ name: 'test', folder: temporaryFolder() });
  const { file, requests } = planSubmission(store, settings, wanted, { title: 'snapshot' });
  const submission = Submission.create(settings.folder, file, requests);
  const snapshot = submission.path('snapshots', '0001.astrolab');
  const attempt = (label: string): Promise<number> =>
    runTask({ folder: submission.folder, task: '0001', label, job: '1', signal: new AbortController().signal });
  const end = () => new ProgressReader(submission.folder).read().get('0001')?.at(-1)?.end;
  const [config] = wanted.map((one) => one.config);
  if (!config) throw new Error('no config');

  mkdirSync(submission.path('snapshots'), { recursive: true });
  writeFileSync(snapshot, 'half of a snapshot');
  expect(await attempt('1-0')).toBe(EXIT.failed);
  expect(end()).toMatchObject({
    is: 'failed',
    reason: expect.stringMatching(/cannot continue from its snapshot.*does not begin like an export.*A retry begins the run again/),
  });
  expect([existsSync(snapshot), readFileSync(`${snapshot}.refused`, 'utf8')]).toEqual([false, 'half of a snapshot']);

  const other = store.runs.create(newRun(config, 'shop-tiny', []));
  exportRuns(store, [other.id], snapshot);
  expect(await attempt('2-0')).toBe(EXIT.failed);
  expect(end()).toMatchObject({ is: 'failed', reason: expect.stringMatching(/holds another run/) });

  expect(await attempt('3-0')).toBe(EXIT.done);
  const [run] = importFile(store, submission.path('results', '0001.3-0.astrolab'), { only: file.tasks[0]?.uid ?? '' }).runs;
  expect(store.runs.get(run?.run ?? 0)).toMatchObject({ state: 'done', updates: 2 });
});
