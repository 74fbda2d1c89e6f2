// Which share of a training run's time storing its record takes: a few updates of the flagship with a hasty reference policy,
// trained by the lab as `lab train` does it. Counted is processor time of the lab's process, as if it did not run beside
// the training (that of storing what the run reports, every metric and every episode with its tokens, and all of it, with receiving and
// checking the reports), and the time in which the training process hands its reports over. The first updates, in which everything is done for the first
// time, are left out, and the last, which does not say how long its report took. Beside other work the updates take longer and the share looks smaller.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RunWriter } from '../../main/store/run-writer.ts';
import { Store } from '../../main/store/store.ts';
import { spawnChild } from '../../main/process/child.ts';
import { launchWith } from '../../main/process/launch.ts';
import { writerOptions } from '../../main/queue/new-run.ts';
import { RunQueue } from '../../main/queue/queue.ts';
import { applyOverrides, loadPreset, newRun } from '../catalog.ts';

/** The updates that count. */
const FROM = 6;
const TO = 25;

const CHANGES = [
  'reference.demonstrations=1000',
  'reference.steps=60',
  'reference.checkEvery=60',
  'reference.checkTasks=10',
  'vstar.samples=[1]',
  `training.updates=${TO + 1}`,
  'training.tasks=256',
  'evaluation.every=0',
  'evaluation.finalTasks=0',
];

const seconds = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1e6;

/** In percent of the updates' time: writing into the store (with the hand-over), and everything that the lab's process does. */
export async function shareOfTraining(): Promise<{ writing: number; everything: number }> {
  const folder = mkdtempSync(join(tmpdir(), 'astrolab-bench-share-'));
  const store = Store.open(folder);
  let before = process.cpuUsage();
  let inWriter = 0;
  let [writing, everything] = [0, 0];
  const { apply } = RunWriter.prototype;
  RunWriter.prototype.apply = function timed(this: RunWriter, report): void {
    const start = process.cpuUsage();
    apply.call(this, report);
    inWriter += seconds(process.cpuUsage(start));
  };
  const queue = new RunQueue({
    store,
    launch: launchWith(spawnChild, folder),
    writer: writerOptions,
    onReport: (_run, report) => {
      if (report.type !== 'update') return;
      if (report.update < FROM) [before, inWriter] = [process.cpuUsage(), 0];
      if (report.update === TO) [writing, everything] = [inWriter, seconds(process.cpuUsage(before))];
    },
  });
  try {
    const { id } = store.runs.create(newRun(applyOverrides(loadPreset('shop-astar-po').config, CHANGES), 'shop-astar-po', []));
    queue.train(id);
    await queue.settled();
    const sum = (name: string, from: number, to: number): number =>
      store.metrics.series(id, name, { from, to }).values.reduce((total, value) => total + value, 0);
    const training = sum('system/time.total', FROM, TO);
    const handing = sum('system/time.storage', FROM, TO);
    if (writing === 0 || training === 0) throw new Error(`The training run failed: ${store.runs.get(id).reason}`);
    const share = (time: number): number => (100 * (time + handing)) / (training + handing);
    return { writing: share(writing), everything: share(everything) };
  } finally {
    RunWriter.prototype.apply = apply;
    await queue.close();
    store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
