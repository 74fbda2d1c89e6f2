// `npm run bench -- cluster [--runs N]`: what a cluster costs, on a real Slurm of two nodes on this machine. Processor time of N tiny runs
// (200 by default) through Slurm against the same runs through the local queue; collecting 200 results (copies of a real one under other
// uids); the states of 1,000 tasks of a real array that is held. Processor time, because a scheduler's waiting is not the lab's.

import { appendFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { sha256 } from '../../main/base/canonical.ts';
import { Cluster } from '../../main/cluster/cluster.ts';
import { clusterSettings } from '../../main/cluster/clusters.ts';
import { collectResults } from '../../main/cluster/collect.ts';
import { follow } from '../../main/cluster/follow.ts';
import { openPlace } from '../../main/cluster/place.ts';
import { type Submission, taskNumber } from '../../main/cluster/submission.ts';
import { spawnChild } from '../../main/process/child.ts';
import { launchWith } from '../../main/process/launch.ts';
import { ContainerReader, ContainerWriter } from '../../main/interchange/container.ts';
import { Store } from '../../main/store/store.ts';
import { trainAll } from '../../main/study/work.ts';
import { smallRuns } from '../cluster/outcome.ts';
import { SlurmCluster, slurmMissing } from '../cluster/slurm-cluster.ts';
import { type BenchRow, report } from './report.ts';

const RUNS = Number(process.argv[process.argv.indexOf('--runs') + 1] || 200) || 200;
const UPDATES = 2;
const RESULTS = 200;
const TASKS = 1000;
const TICKS_PER_SECOND = 100;

const missing = slurmMissing();
if (missing !== null) throw new Error(`This benchmark needs a Slurm cluster on this machine: ${missing}`);

const folder = mkdtempSync(join(tmpdir(), 'astrolab-bench-cluster-'));
const seeds = Array.from({ length: RUNS }, (_, index) => index + 1);
const slurm = await SlurmCluster.start({ nodes: 2, maxArraySize: 1001 });
try {
  const wanted = smallRuns(seeds, UPDATES);
  const local = Store.open(join(folder, 'local'));
  const before = ownSeconds();
  await trainAll(local, wanted, { launch: launchWith(spawnChild, local.dataFolder), jobs: 2 });
  const localSeconds = ownSeconds() - before;
  local.close();

  const store = Store.open(join(folder, 'lab'));
  // What the shell of each task and its children took, and the step daemon above it.
  const setup = `trap 'times > "$folder/logs/times-$SLURM_JOB_ID"; cat /proc/$PPID/stat >> "$folder/logs/times-$SLURM_JOB_ID"' EXIT`;
  const at = new Cluster(store, clusterSettings.parse({ name: 'bench', folder: join(folder, 'shared'), memory: '200', setup }));
  const [labBefore, daemonsBefore] = [ownSeconds(), daemonSeconds()];
  const { submission } = await at.submit(wanted, { title: 'bench' });
  if (!submission) throw new Error('nothing was submitted');
  const failed = await follow(at, [submission]);
  if (failed.length > 0) throw new Error(`${failed.length} tasks failed: ${failed[0]?.reason ?? ''}`);
  const slurmSeconds = ownSeconds() - labBefore + daemonSeconds() - daemonsBefore + taskSeconds(submission);
  const collecting = await collectCopies(submission);
  const [first, again] = await refreshHeld();
  store.close();
  const rows: BenchRow[] = [
    { name: `${RUNS} tiny runs, processor time`, ours: slurmSeconds, peer: localSeconds, unit: 's', better: 'lower', goal: 1.15 },
    { name: `collecting ${RESULTS} results`, ours: collecting.seconds, peer: null, unit: 's', better: 'lower', goal: 10, absolute: true },
    {
      name: `collecting ${RESULTS} results, processor time`,
      ours: collecting.processor,
      peer: null,
      unit: 's',
      better: 'lower',
      goal: null,
    },
    { name: `states of ${TASKS} tasks, first look`, ours: first, peer: null, unit: 's', better: 'lower', goal: 1, absolute: true },
    { name: `states of ${TASKS} tasks, again`, ours: again, peer: null, unit: 's', better: 'lower', goal: 1, absolute: true },
  ];
  report(
    rows,
    `the local queue, two runs at a time; load of the machine ${loadavg()
      .map((load) => load.toFixed(1))
      .join(' ')}`,
  );
} finally {
  await slurm.stop();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** Processor seconds of this process and of its children that have ended. */
function ownSeconds(): number {
  return statSeconds(readFileSync('/proc/self/stat', 'latin1'), 4);
}

/** utime and stime, and with 4 fields those of children, of a line of /proc/PID/stat. */
function statSeconds(stat: string, fields: 2 | 4): number {
  const numbers = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 11 + fields)
    .map(Number);
  return numbers.reduce((sum, ticks) => sum + ticks, 0) / TICKS_PER_SECOND;
}

function daemonSeconds(): number {
  const files = readdirSync(slurm.folder).filter((name) => /^(slurmd\..*|slurmctld)\.pid$/.test(name));
  const pids = [...files, 'munge/pid'].map((file) => readFileSync(join(slurm.folder, file), 'utf8').trim());
  return pids.reduce((sum, pid) => sum + statSeconds(readFileSync(`/proc/${pid}/stat`, 'latin1'), 4), 0);
}

/** From the lines of the shell's `times` (0m0.010s 0m0.020s, of itself and of its children) and the step daemon's line. */
function taskSeconds(submission: Submission): number {
  const files = readdirSync(submission.path('logs')).filter((name) => name.startsWith('times-'));
  if (files.length < RUNS) throw new Error(`${files.length} tasks left their times, ${RUNS} were expected`);
  return files.reduce((sum, name) => {
    const text = readFileSync(submission.path('logs', name), 'utf8');
    const shell = [...text.matchAll(/(\d+)m([\d.]+)s/g)].reduce(
      (all, [, minutes, seconds]) => all + Number(minutes) * 60 + Number(seconds),
      0,
    );
    return sum + shell + statSeconds(text, 2);
  }, 0);
}

/** Copies of one real result under other uids, collected into a fresh lab. */
async function collectCopies(submission: Submission): Promise<{ seconds: number; processor: number }> {
  const fresh = Store.open(join(folder, 'collect'));
  const status = await at0(fresh).status(submission);
  const [sample] = status.tasks;
  if (!sample?.result || sample.uid === null) throw new Error('no result to copy');
  const tasks = Array.from({ length: RESULTS }, (_, index) => {
    const uid = randomUUID();
    const id = taskNumber(5000 + index);
    const file = `${id}.1-0.astrolab`;
    copyResult(submission.path('results', sample.result?.file ?? ''), submission.path('results', file), sample.uid ?? '', uid);
    const data = readFileSync(submission.path('results', file));
    return { ...sample, id, uid, result: { file, sha256: sha256(data), bytes: data.length } };
  });
  const [begin, busy] = [performance.now(), ownSeconds()];
  const { added } = await collectResults(fresh, openPlace(fresh.dataFolder, submission.file.cluster), submission, { ...status, tasks });
  const [seconds, processor] = [(performance.now() - begin) / 1000, ownSeconds() - busy];
  if (added.length !== RESULTS) throw new Error(`${added.length} runs were collected, ${RESULTS} expected`);
  fresh.close();
  return { seconds, processor };
}

function copyResult(from: string, to: string, oldUid: string, newUid: string): void {
  const reader = new ContainerReader(from);
  const writer = new ContainerWriter(to);
  for (const name of reader.names) {
    const data = reader.read(name);
    const named = name === 'index' || name.endsWith('/run');
    writer.add(name.replace(oldUid, newUid), named ? Buffer.from(data.toString('utf8').replaceAll(oldUid, newUid)) : data);
  }
  writer.finish();
  reader.close();
}

function at0(store: Store): Cluster {
  return new Cluster(store, clusterSettings.parse({ name: 'bench', folder: join(folder, 'shared') }));
}

/** A held array of 1,000 tasks, each with a progress file of an earlier attempt: the first look of a lab, and the next one. */
async function refreshHeld(): Promise<[number, number]> {
  const store = Store.open(join(folder, 'held'));
  const held = new Cluster(store, clusterSettings.parse({ name: 'held', folder: join(folder, 'shared-held'), options: ['--hold'] }));
  const { submission } = await held.submit(
    smallRuns(
      Array.from({ length: TASKS }, (_, index) => index + 1),
      8,
    ),
    { title: 'held' },
  );
  if (!submission) throw new Error('nothing was submitted');
  const job = submission.parts().at(-1)?.job ?? '';
  for (const { id } of submission.file.tasks) {
    const file = submission.path('progress', `${id}.1-0.jsonl`);
    writeFileSync(file, `${JSON.stringify({ is: 'started', at: 1, job, node: 'n1', processor: 'x' })}\n`);
    for (let done = 1; done <= 100; done++)
      appendFileSync(file, `${JSON.stringify({ is: 'progress', at: done, phase: 'training', done, total: 100, success: 0.5 })}\n`);
  }
  const times: number[] = [];
  for (let look = 0; look < 2; look++) {
    const begin = performance.now();
    const { counts, source } = await held.status(submission);
    times.push((performance.now() - begin) / 1000);
    if (counts.requeued !== TASKS || source !== 'squeue') throw new Error(`unexpected states ${JSON.stringify(counts)} from ${source}`);
  }
  await held.cancel(submission, null);
  store.close();
  return [times[0] ?? Number.NaN, times[1] ?? Number.NaN];
}
