// Runs on a real Slurm cluster of six nodes on this machine: warned before the time limit, preempted, their node lost, cancelled,
// retried, failed, cut at the array limit, submitted by a lab that crashed, collected twice, reached through ssh. What comes back equals
// local runs byte for byte. The tests share the cluster and run side by side, because most of their time is the scheduler's; a run that is
// to be disturbed is stopped first (SIGSTOP), so that it cannot finish before, however busy the machine is.

import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { Cluster } from '../../main/cluster/cluster.ts';
import { type ClusterSettings, clusterSettings } from '../../main/cluster/clusters.ts';
import { follow } from '../../main/cluster/follow.ts';
import { Refused } from '../../main/cluster/slurm.ts';
import type { SubmissionStatus, TaskStatus } from '../../main/cluster/status.ts';
import type { Submission } from '../../main/cluster/submission.ts';
import { spawnChild } from '../../main/process/child.ts';
import { launchWith } from '../../main/process/launch.ts';
import { Store } from '../../main/store/store.ts';
import { trainAll, type WantedRun } from '../../main/study/work.ts';
import { outcome, smallRuns } from './outcome.ts';
import { endProcessesOf, pauseInTraining, SlurmCluster, slurmMissing, until } from './slurm-cluster.ts';

vi.setConfig({ testTimeout: 600_000, hookTimeout: 120_000 });

const missing = slurmMissing();

/** With a reference policy that is made in no time. */
const tinyRuns = (seeds: readonly number[], updates: number, changes: readonly string[] = []): WantedRun[] =>
  smallRuns(seeds, updates, ['reference.demonstrations=8', 'reference.steps=2', 'reference.checkTasks=1', ...changes]);

describe.skipIf(missing !== null)(`a Slurm cluster on this machine${missing === null ? '' : ` (skipped: ${missing})`}`, () => {
  let slurm: SlurmCluster;
  let folders = 0;
  const stores: Store[] = [];
  const path = process.env.PATH ?? '';
  beforeAll(async () => {
    slurm = await SlurmCluster.start({ nodes: 6, maxArraySize: 2 });
    process.env.PATH = `${pretendedSsh(join(slurm.folder, 'bin'))}:${path}`;
  });
  afterAll(async () => {
    process.env.PATH = path;
    for (const store of stores) store.close();
    await slurm.stop();
  });

  const openLab = (): Store => {
    const store = Store.open(join(slurm.folder, 'labs', String(stores.length)));
    stores.push(store);
    return store;
  };
  const settings = (more: Partial<ClusterSettings> = {}): ClusterSettings => {
    const folder = join(slurm.folder, 'shared', String((folders += 1)));
    return clusterSettings.parse({ name: 'test', folder, memory: '200', ...more });
  };
  const find = ({ tasks, sharers }: SubmissionStatus, id: string): TaskStatus => {
    const found = [...sharers, ...tasks].find((task) => task.id === id);
    if (!found) throw new Error(`no task ${id}`);
    return found;
  };
  const taskOf = async (at: Cluster, submission: Submission, id: string): Promise<TaskStatus> => find(await at.status(submission), id);

  test.concurrent('runs that were warned, preempted and lost with their node equal local runs, and are collected once', async () => {
    const store = openLab();
    const at = new Cluster(store, settings({ setup: 'export ASTROLAB_SNAPSHOT_SECONDS=1' }));
    const wanted = tinyRuns([1, 2, 3], 20);
    const { submission } = await at.submit(wanted, { title: 'disturbed' });
    if (!submission) throw new Error('nothing was submitted');
    const parts = submission.parts();
    expect(parts.map(({ tasks }) => tasks)).toEqual([['s0'], ['0001', '0002'], ['0003']]); // the array limit is 2
    const again = await at.submit(wanted, { title: 'disturbed' });
    expect([again.submission, again.attached.map(({ id }) => id)]).toEqual([null, [submission.id]]);

    const warn = async (): Promise<void> => {
      const paused = await pauseInTraining(submission.folder, '0001');
      slurm.run('scancel', '--signal=USR1', '--batch', (await taskOf(at, submission, '0001')).job ?? '');
      await until('the warning arrives', () => paused.warned());
      paused.resume();
    };
    const preempt = async (): Promise<void> => {
      const paused = await pauseInTraining(submission.folder, '0002');
      const { node } = await taskOf(at, submission, '0002');
      slurm.run('sbatch', '--partition=high', `--nodelist=${node}`, '--output=/dev/null', '--wrap=sleep 1');
      await until('it is preempted', () => paused.warned());
      paused.resume();
    };
    const lose = async (): Promise<string> => {
      await pauseInTraining(submission.folder, '0003', 2);
      const { node } = await taskOf(at, submission, '0003');
      slurm.loseNode(node);
      endProcessesOf(submission.folder, '0003');
      slurm.run('scontrol', 'update', `NodeName=${node}`, 'State=DOWN', 'Reason=lost');
      return node;
    };
    const [, , node] = await Promise.all([warn(), preempt(), lose()]);

    const local = openLab();
    const [trained, failed] = await Promise.all([
      trainAll(local, wanted, { launch: launchWith(spawnChild, local.dataFolder), jobs: 1 }),
      follow(new Cluster(store, at.settings), [submission]),
    ]);
    expect(failed).toEqual([]);
    const { tasks } = await at.status(submission);
    expect(tasks.map(({ state, attempts, saved }) => [state, attempts, (saved ?? 0) > 0])).toEqual([1, 2, 3].map(() => ['done', 2, true]));
    const collected = await at.collect(submission, await at.status(submission));
    expect([collected.added, collected.known.length]).toEqual([[], 3]);
    slurm.startNode(node);

    for (const [index, { uid }] of tasks.entries()) {
      const run = store.runs.findByUid(uid ?? '');
      expect(outcome(store, run?.id ?? 0)).toEqual(outcome(local, trained[index]?.id ?? 0));
    }
    expect(store.references.list().map(({ sha256 }) => sha256)).toEqual(local.references.list().map(({ sha256 }) => sha256));
  });

  test.concurrent('a failed task ends nothing but itself; cancelled and failed ones can be retried; a retry needs no second lab', async () => {
    const store = openLab();
    const at = new Cluster(store, settings());
    const wanted = [...tinyRuns([1], 2), ...tinyRuns([2], 2, ['device=cuda']), ...tinyRuns([3], 2000)];
    const { submission } = await at.submit(wanted, { title: 'mixed' });
    if (!submission) throw new Error('nothing was submitted');
    const long = await pauseInTraining(submission.folder, '0003');
    expect(await at.cancel(submission, ['0003'])).toEqual(['0003']);
    long.resume();
    const ended = await follow(at, [submission]);
    expect(ended.map(({ id, state }) => [id, state])).toEqual([
      ['0002', 'failed'],
      ['0003', 'cancelled'],
    ]);
    expect(ended[0]?.reason).toMatch(/cuda/);
    expect(await at.log(submission, '0002')).toMatch(/cuda/);
    expect(store.runs.list().map(({ seed }) => seed)).toEqual([1]);
    expect(await at.retry(submission, ['0003'])).toEqual(['0003']);
    await until('it runs again', async () => (await taskOf(at, submission, '0003')).attempts === 2, 300_000);
    expect(await at.cancel(submission, null)).toEqual(['0003']);
    await until('all is cancelled', async () => (await at.status(submission)).counts.cancelled === 1);
  });

  test.concurrent('what a lab that crashed had submitted is found by its name; what it had not is submitted; other code is refused', async () => {
    const store = openLab();
    const at = new Cluster(store, settings({ partition: 'nowhere' }));
    await expect(at.submit(tinyRuns([1, 2, 3], 2), { title: 'crashed' })).rejects.toBeInstanceOf(Refused);
    const [submission] = await at.submissions();
    if (!submission) throw new Error('the submission was lost');
    expect((await at.status(submission)).tasks.map(({ state, reason }) => [state, /partition/.test(reason)])).toEqual(
      [1, 2, 3].map(() => ['unsubmitted', false]),
    );

    // The partition is corrected in the lab's settings, as the refusal says, and one of the tasks gets code of another version. The lab dies after
    // sbatch, before it could note the answer.
    const mended = new Cluster(store, { ...at.settings, partition: '' });
    const request = submission.path('requests', '0002.json');
    writeFileSync(request, readFileSync(request, 'utf8').replace(/"source":"[0-9a-f]+"/, '"source":"0123456789abcdef"'));
    const [corrected] = await mended.submissions();
    if (!corrected) throw new Error('the submission was lost');
    await mended.resume(corrected);
    const journal = submission.path('journal.jsonl');
    const lines = readFileSync(journal, 'utf8').trim().split('\n');
    writeFileSync(journal, `${lines.slice(0, -1).join('\n')}\n`);
    expect(corrected.parts().at(-1)?.job).toBeNull();
    await mended.resume(corrected);
    expect(
      readFileSync(journal, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).job),
    ).toEqual(lines.map((line) => JSON.parse(line).job));
    const ended = await follow(mended, [corrected]);
    expect(ended.map(({ id, reason }) => [id, /The code on this node is Astrolab .* but the lab that submitted/.test(reason)])).toEqual([
      ['0002', true],
    ]);
    expect(store.runs.list().map(({ state }) => state)).toEqual(['done', 'done']);
  });

  test.concurrent('through ssh (a pretended one that runs the command here): files travel, the test job runs, a run comes back', async () => {
    const store = openLab();
    const at = new Cluster(store, settings({ host: 'login' }));
    expect(await at.test()).toMatchObject({ node: expect.stringMatching(/^n[1-6]$/) });
    const { submission } = await at.submit(tinyRuns([7], 2), { title: 'over ssh' });
    if (!submission) throw new Error('nothing was submitted');
    expect(submission.folder.startsWith(store.dataFolder)).toBe(true);
    expect(await follow(at, [submission])).toEqual([]);
    expect(store.runs.list().map(({ seed, state }) => [seed, state])).toEqual([[7, 'done']]);
    expect(store.references.list()).toHaveLength(1);
    const unreachable = new Cluster(store, settings({ host: 'elsewhere' }));
    await expect(unreachable.submissions()).rejects.toThrow(/elsewhere did not answer/);
  });
});

/** A program called ssh that treats its arguments as ssh does (options, the host, the rest as one command for a shell) and knows one host. */
function pretendedSsh(bin: string): string {
  mkdirSync(bin);
  writeFileSync(
    join(bin, 'ssh'),
    '#!/bin/sh\nwhile [ "${1#-}" != "$1" ]; do [ "$1" = -o ] && shift; shift; done\n[ "$1" = login ] || exit 255\nshift\nexec sh -c "$*"\n',
  );
  chmodSync(join(bin, 'ssh'), 0o755);
  return bin;
}
