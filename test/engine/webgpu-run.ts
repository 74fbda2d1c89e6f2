// A whole run (reference, V*, updates, evaluation) on WebGPU: run by device.slow.test.ts over software Vulkan, in a process of its own.

import { train } from '../../main/training/train.ts';
import { playedUpdates } from '../training/compare-runs.ts';
import { TestHost, smallest } from '../training/host.ts';
import { answer } from './vulkan.ts';

/** Small enough for a card made of software, with every stage; 10 updates. */
export const tiny = (device: string) =>
  smallest({
    device,
    reference: { demonstrations: 24, batch: 8, steps: 3, warmup: 1, checkEvery: 3, checkTasks: 1 },
    vstar: { samples: [2] },
    training: { updates: 10, batch: 4, tasks: 4, warmup: 1, microBatch: 4096 },
    evaluation: { every: 10, tasks: 1, finalTasks: 1 },
    checkpoints: { every: 10 },
  });

export async function playTiny(device: string) {
  const host = new TestHost();
  try {
    await train(tiny(device), host);
    const measured = host.reports.flatMap((report) => (report.type === 'update' ? [report.metrics] : []));
    return { updates: playedUpdates(host), numbers: host.numbers(), weights: host.lastWeights(), counts: measured.at(-1) ?? {} };
  } finally {
    host.remove();
    TestHost.forgetReferences();
  }
}

await answer('webgpu-run.ts', () => playTiny('webgpu'));
