// Which share of a training run's time storing its record takes: a few updates of the flagship with a hasty reference policy,
// trained by the lab as `lab train` does it. Counted are all processor time of the lab's process, which does nothing meanwhile but receive,
// check and store what the run reports (every metric, every episode with its tokens), as if it did not run beside the training,
// and the time in which the training process hands its reports over. The first update, in which everything is done for the first
// time, is left out, and the last, which does not tell how long its report took. Beside other work the updates take longer and the share looks smaller.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Store } from '../../main/store/store.ts';
import { spawnChild } from '../../main/training/child.ts';
import { launchWith } from '../../main/training/launch.ts';
import { newRun, writerOptions } from '../../main/training/new-run.ts';
import { applyOverrides } from '../../main/training/overrides.ts';
import { loadPreset } from '../../main/training/presets.ts';
import { RunQueue } from '../../main/training/queue.ts';

/** The updates that count. */
const FROM = 2;
const TO = 6;

const CHANGES = [
  'reference.demonstrations=200',
  'reference.steps=10',
  'vstar.samples=[2]',
  `training.updates=${TO + 1}`,
  'training.batch=64',
  'training.tasks=64',
  'evaluation.every=0',
  'evaluation.finalTasks=0',
];

/** In percent of the updates' time. */
export async function shareOfTraining(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'astrolab-bench-share-'));
  const store = Store.open(folder);
  let before = process.cpuUsage();
  let writing = 0;
  const queue = new RunQueue({
    store,
    launch: launchWith(spawnChild, folder),
    writer: writerOptions,
    onReport: (_run, report) => {
      if (report.type !== 'update') return;
      if (report.update < FROM) before = process.cpuUsage();
      if (report.update !== TO) return;
      const { user, system } = process.cpuUsage(before);
      writing = (user + system) / 1e6;
    },
  });
  try {
    const { id } = store.runs.create(newRun(applyOverrides(loadPreset('shop-astar-po').config, CHANGES), 'shop-astar-po', []));
    queue.train(id);
    await queue.settled();
    const sum = (name: string, from: number, to: number): number =>
      store.metrics.series(id, name, { from, to }).values.reduce((total, value) => total + value, 0);
    const training = sum('system/time.total', FROM, TO);
    // How long a report took is known, and told, one update later.
    const handing = sum('system/time.storage', FROM + 1, TO + 1);
    if (writing === 0 || training === 0) throw new Error(`The training run failed: ${store.runs.get(id).reason}`);
    return (100 * (writing + handing)) / (training + handing);
  } finally {
    await queue.close();
    store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
