// A program for memory-bound.test.ts: trains in a process of its own and prints the most memory it ever held and a hash of its weights.

import { train } from '../../main/training/train.ts';
import { TestHost, smallest } from './host.ts';

const host = new TestHost();
const config = smallest({
  memory: Number(process.argv[2]),
  threads: 2,
  world: { name: 'shop', settings: { maxSteps: 15 } },
  policy: { width: 64, layers: 2, heads: 4, feedForward: 128, contextLength: 256 },
  algorithm: { id: 'ppo', klCoefficient: 0.02, minibatches: 2 },
  reference: { demonstrations: 64, batch: 32, steps: 3, warmup: 1, checkEvery: 3, checkTasks: 8 },
  training: { updates: 2, batch: 48, tasks: 24 },
  evaluation: { every: 0, finalTasks: 0 },
});
try {
  await train(config, host);
  console.log(
    JSON.stringify({
      megabytes: (process.resourceUsage().maxRSS * 1024) / 1e6,
      weights: host.lastWeights(),
      numbers: host.numbers(),
    }),
  );
} finally {
  host.remove();
  TestHost.forgetReferences();
}
