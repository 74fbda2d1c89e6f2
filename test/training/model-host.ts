// Runs with a tiny language model as their policy: the smallest config, and hosts that have the model registered.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { ModelRegistry } from '../../main/policy/model/files/registry.ts';
import { writeTinyModel } from '../policy/model/tiny-model.ts';
import { TestHost, smallest } from './host.ts';

export const model = (changes: Record<string, unknown> = {}, policy: Record<string, unknown> = {}, others: Record<string, unknown> = {}) =>
  smallest({
    world: { name: 'shop', settings: { maxSteps: 4 } },
    policy: { kind: 'model', contextLength: 512, model: { name: 'tiny', rank: 4, alpha: 8, answerTokens: 64, ...changes }, ...policy },
    reference: { demonstrations: 8, batch: 4, steps: 2, warmup: 1, checkEvery: 2, checkTasks: 2 },
    training: { updates: 2, batch: 4, tasks: 4, warmup: 1, microBatch: 4096 },
    evaluation: { every: 2, tasks: 2, finalTasks: 2 },
    checkpoints: { every: 1 },
    ...others,
  });

/** Writes the model before the tests of a file and removes everything after them; each call of what it returns is another host. */
export function modelHosts(): () => TestHost {
  let folder = '';
  const hosts: TestHost[] = [];
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'astrolab-tiny-'));
    writeTinyModel(folder);
  });
  afterAll(() => {
    for (const host of hosts) host.remove();
    rmSync(folder, { recursive: true, force: true });
    TestHost.forgetReferences();
  });
  return () => {
    const made = new TestHost();
    new ModelRegistry(made.dataFolder).add(folder, 'tiny');
    hosts.push(made);
    return made;
  };
}
