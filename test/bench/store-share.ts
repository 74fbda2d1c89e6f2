// Which share of a training run's time storing its record takes: a few updates of the flagship with a hasty reference policy,
// trained by the lab as `lab train` does it. Counted are the processor time in which the lab's process writes reports of updates (every
// metric, every episode with its tokens), as if it did not run beside the training, and the time in which the training process
// hands them over. The first update, in which everything is done for the first time, is left out.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { trainHere } from '../../main/commands/train.ts';
import { RunWriter } from '../../main/store/run-writer.ts';
import { Store } from '../../main/store/store.ts';
import { newRun } from '../../main/training/new-run.ts';
import { applyOverrides } from '../../main/training/overrides.ts';
import { loadPreset } from '../../main/training/presets.ts';

const CHANGES = [
  'reference.demonstrations=200',
  'reference.steps=10',
  'vstar.samples=[2]',
  'training.updates=6',
  'training.batch=64',
  'training.tasks=64',
  'evaluation.every=0',
  'evaluation.finalTasks=0',
];

/** In percent of the updates' time. */
export async function shareOfTraining(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'astrolab-bench-share-'));
  const store = Store.open(folder);
  const { apply } = RunWriter.prototype;
  let writing = 0;
  RunWriter.prototype.apply = function (report): void {
    const start = process.cpuUsage();
    apply.call(this, report);
    const { user, system } = process.cpuUsage(start);
    if (report.type === 'update' && report.update > 1) writing += (user + system) / 1e6;
  };
  try {
    const { id } = store.runs.create(newRun(applyOverrides(loadPreset('shop-astar-po').config, CHANGES), 'shop-astar-po', []));
    await trainHere(store, id);
    const sum = (name: string): number =>
      store.metrics
        .series(id, name)
        .values.slice(1)
        .reduce((total, value) => total + value, 0);
    if (sum('system/time.total') === 0) throw new Error(`The training run failed: ${store.runs.get(id).reason}`);
    return (100 * (writing + sum('system/time.storage'))) / sum('system/time.total');
  } finally {
    RunWriter.prototype.apply = apply;
    store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
