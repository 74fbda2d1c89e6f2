// A whole study through the command line on a real Slurm cluster, tuned there too, with a preemption and the loss of a node in it: its
// verdicts, arms and every run equal those of the same study on this machine.

import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Cluster } from '../../main/cluster/cluster.ts';
import { clusterSettings, saveCluster } from '../../main/cluster/clusters.ts';
import type { TaskStatus } from '../../main/cluster/status.ts';
import { projectFolder } from '../../main/base/paths.ts';
import { Store } from '../../main/store/store.ts';
import { readRecord } from '../../main/study/record.ts';
import { openStore, temporaryFolder } from '../store/helpers.ts';
import { outcome } from './outcome.ts';
import { TINY_STUDY } from './tiny-study.ts';
import { endProcessesOf, SlurmCluster, slurmMissing, until } from './slurm-cluster.ts';

const missing = slurmMissing();

describe.skipIf(missing !== null)(`a study on a cluster${missing === null ? '' : ` (skipped: ${missing})`}`, () => {
  let slurm: SlurmCluster;
  beforeAll(async () => {
    slurm = await SlurmCluster.start({ nodes: 3, nodeTimeout: 6 });
  });
  afterAll(() => slurm.stop());

  test('with a preemption and a lost node in it equals the local one', async () => {
    const [far, near] = [temporaryFolder(), temporaryFolder()];
    const definition = join(far, 'tiny.json');
    writeFileSync(definition, JSON.stringify(TINY_STUDY));
    const settings = clusterSettings.parse({ name: 'test', folder: join(slurm.folder, 'shared', 'study'), memory: '200' });
    const store = Store.open(far);
    saveCluster(store, settings);
    store.close();
    const run = ['study', 'run', 'tiny', '--definition', definition];
    const local = lab(near, ...run, '--jobs', '1');
    const remote = lab(far, ...run, '--on', 'test');
    const watcher = new Cluster(openStore(), settings);
    const preempted = await trainingTask(watcher);
    slurm.run('sbatch', '--partition=high', `--nodelist=${preempted.node}`, '--output=/dev/null', '--wrap=sleep 1');
    const lost = await trainingTask(watcher, preempted.uid);
    slurm.loseNode(lost.node);
    endProcessesOf(lost.folder, lost.id);
    expect(await remote).toBe(0);
    expect(await local).toBe(0);
    expect(conclusions(far)).toEqual(conclusions(near));
    const again = await Promise.all((await watcher.submissions()).map((submission) => watcher.status(submission)));
    const attempts = again.flatMap(({ tasks }) => tasks.map(({ uid, attempts: count }) => [uid, count] as const));
    expect(
      attempts
        .filter(([, count]) => count > 1)
        .map(([uid]) => uid)
        .sort(),
    ).toEqual([preempted.uid, lost.uid].sort());
  });
});

function lab(data: string, ...args: string[]): Promise<number | null> {
  const cli = join(projectFolder(), 'main', 'commands', 'cli.ts');
  const child = spawn(process.execPath, [cli, '--data', data, '--json', ...args], {
    env: { ...process.env, ELECTRON_RUN_AS_NODE: '1', NODE_NO_WARNINGS: '1' },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return new Promise((resolve) => child.on('close', resolve));
}

/** A task other than `except` that is in the middle of its training. */
async function trainingTask(cluster: Cluster, except: string | null = null): Promise<TaskStatus & { folder: string }> {
  let found: (TaskStatus & { folder: string }) | undefined;
  await until(
    'a task trains',
    async () => {
      for (const submission of await cluster.submissions()) {
        const { tasks } = await cluster.status(submission);
        const one = tasks.find(
          ({ state, phase, done, uid }) => state === 'running' && phase === 'training' && done >= 2 && done < 30 && uid !== except,
        );
        if (one) found = { ...one, folder: submission.folder };
      }
      return found !== undefined;
    },
    300_000,
  );
  if (!found) throw new Error('no task trains');
  return found;
}

/** Verdicts, arms and all runs of the study, without what is the machine's or the database's. */
function conclusions(data: string): unknown {
  const store = openStore(data);
  const record = readRecord(store.studies.find('tiny')?.plan);
  if (!record) throw new Error('there is no record of the study');
  const runs = store.runs.list().map(({ id, name, seed }) => [name, seed, outcome(store, id)] as const);
  return {
    claims: record.claims,
    tuned: record.tuned,
    arms: record.arms.map(({ id, mean, iqm, runs: own }) => [id, mean, iqm, own.map(({ seed, success }) => [seed, success])]),
    runs: runs.sort((a, b) => `${a[0]} ${a[1]}`.localeCompare(`${b[0]} ${b[1]}`)),
  };
}
