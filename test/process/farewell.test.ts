// The last words of a training process: a real one, whose parent reads nothing until it is done, as a busy lab may. Its
// final evaluation is larger than a pipe holds, so most of it is still inside when there is nothing left to compute.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { spawnChild } from '../../main/process/child.ts';
import { launchWith } from '../../main/process/launch.ts';
import { type RunReport, runReport } from '../../main/training/reports.ts';
import { openStore, temporaryFolder } from '../store/helpers.ts';
import { applyOverrides, loadPreset, newRun } from '../catalog.ts';

const TASKS = 200;
const SMALLEST = [
  'threads=1',
  'algorithm=grpo',
  'policy.width=16',
  'policy.layers=1',
  'reference.demonstrations=8',
  'reference.steps=1',
  'reference.checkTasks=1',
  'training.updates=1',
  'training.batch=4',
  'training.tasks=2',
  'evaluation.tasks=2',
  `evaluation.finalTasks=${TASKS}`,
];

function block(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

/** Blocks this process, event loop and all, until a file is there. */
function blockUntil(file: string): void {
  for (let waited = 0; !existsSync(file); waited += 50) {
    if (waited > 150_000) throw new Error(`${file} was expected within 150 seconds`);
    block(50);
  }
}

test('everything a run reported arrives before its process counts as ended, however late it is read', { timeout: 240_000 }, async () => {
  const folder = temporaryFolder();
  const store = openStore(folder);
  const run = store.runs.create(newRun(applyOverrides(loadPreset('shop-tiny').config, SMALLEST), 'shop-tiny'));
  const heard: RunReport[] = [];
  const { ended } = launchWith(spawnChild, folder)({ run, checkpoint: undefined, origin: undefined, until: null }, (raw) => {
    if (heard.length === 0) {
      blockUntil(join(folder, 'checkpoints', run.uid, '00000001.safetensors'));
      // By now it would like to go.
      block(1500);
    }
    heard.push(runReport.parse(raw));
  });
  expect(await ended).toBe('exit code 0');
  const told = heard.length;
  expect(heard.at(-1)).toMatchObject({ type: 'finished', outcome: 'done', update: 1 });
  const final = heard.findLast((report) => report.type === 'evaluation');
  expect(final?.results).toHaveLength(TASKS);
  expect(final?.episodes).toHaveLength(TASKS);
  expect(heard.filter(({ type }) => type === 'checkpoint')).toHaveLength(2);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(heard).toHaveLength(told);
});
