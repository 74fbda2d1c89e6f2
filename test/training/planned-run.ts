// A program for memory-plan.test.ts and `npm run bench -- memory`: trains a language model with random weights in a process of its own and prints
// the most memory it ever held beside the plan. With `tight` the machine seems to have no more than the plan needs.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { ModelRegistry } from '../../main/policy/model/files/registry.ts';
import { fitMemory } from '../../main/training/batching/fit-memory.ts';
import { USABLE } from '../../main/training/batching/memory-plan.ts';
import { privateBytes } from '../../main/training/batching/session-pool.ts';
import { train } from '../../main/training/train.ts';
import { writeTinyModel } from '../policy/model/tiny-model.ts';
import { TestHost, smallest } from './host.ts';
import { BUILT_IN } from '../../main/config/catalog.ts';

const { shape, policy, training, reference, tight } = z
  .object({
    /** Changes of the model's config.json, and of the run's config. */
    shape: z.record(z.string(), z.number()),
    policy: z.record(z.string(), z.unknown()).default({}),
    training: z.record(z.string(), z.unknown()).default({}),
    reference: z.record(z.string(), z.unknown()).default({}),
    tight: z.boolean().default(false),
  })
  .parse(JSON.parse(process.argv[2] ?? '{}'));

const host = new TestHost();
const folder = mkdtempSync(join(tmpdir(), 'astrolab-planned-'));
writeTinyModel(folder, shape);
new ModelRegistry(host.dataFolder).add(folder, 'random');
const config = smallest({
  threads: 2,
  world: { name: 'shop', settings: { maxSteps: 3 } },
  vstar: { samples: [1] },
  policy: { kind: 'model', contextLength: 512, model: { name: 'random', rank: 16, alpha: 32, ...policy } },
  algorithm: { id: 'astar-po' },
  reference: { demonstrations: 16, batch: 16, steps: 1, warmup: 1, checkEvery: 1, checkTasks: 2, ...reference },
  training: { updates: 1, batch: 16, tasks: 4, microBatch: 4096, ...training },
  evaluation: { every: 0, finalTasks: 0 },
});
const { plan } = fitMemory(BUILT_IN, config, host.dataFolder);
if (!plan) throw new Error('There is no plan');
if (tight) process.availableMemory = () => plan.needed / USABLE - privateBytes();
// What sessions have taken stays theirs, so it is seen after each call.
let peak = 0;
const timer = setInterval(() => (peak = Math.max(peak, privateBytes() + plan.parts.weights)), 20);
try {
  await train(config, host);
  console.log(JSON.stringify({ peak, needed: plan.needed, most: plan.most }));
} finally {
  clearInterval(timer);
  host.remove();
  rmSync(folder, { recursive: true, force: true });
  TestHost.forgetReferences();
}
