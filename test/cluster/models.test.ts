// Runs with a language model on a node of a cluster: it maps the model from where it lies, and the scheduler is asked for the memory it needs.

import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ClusterSettings, clusterSettings } from '../../main/cluster/clusters.ts';
import { EXIT } from '../../main/cluster/exit.ts';
import { planSubmission } from '../../main/cluster/plan.ts';
import { batchScript } from '../../main/cluster/script.ts';
import { Submission } from '../../main/cluster/submission.ts';
import { runTask } from '../../main/cluster/task.ts';
import { ModelRegistry } from '../../main/policy/model/files/registry.ts';
import { importFile } from '../../main/interchange/import.ts';
import type { Store } from '../../main/store/store.ts';
import { memoryOf } from '../../main/training/batching/fit-memory.ts';
import { USABLE } from '../../main/training/batching/memory-plan.ts';
import { writeTinyModel } from '../policy/model/tiny-model.ts';
import { openStore, temporaryFolder } from '../store/helpers.ts';
import { model } from '../training/model-host.ts';
import { BUILT_IN } from '../../main/config/catalog.ts';

let shared = '';
beforeAll(() => {
  shared = mkdtempSync(join(tmpdir(), 'astrolab-shared-'));
  writeTinyModel(shared);
});
afterAll(() => rmSync(shared, { recursive: true, force: true }));

function lab(): Store {
  const store = openStore();
  new ModelRegistry(store.dataFolder).add(shared, 'tiny');
  return store;
}

const cluster = (changes: Partial<ClusterSettings> = {}): ClusterSettings =>
  clusterSettings.parse({ name: 'test', folder: temporaryFolder(), ...changes });

const config = model({}, {}, { training: { updates: 1, batch: 4, tasks: 4, warmup: 0, microBatch: 4096 } });
const wanted = [{ config, preset: null, tags: [] }];

/** Submits the run and does its task as a node would. */
async function onNode(store: Store): Promise<{ code: number; submission: Submission }> {
  const settings = cluster();
  const { file, requests } = planSubmission(store, settings, wanted, { title: 'a language model' });
  const submission = Submission.create(settings.folder, file, requests);
  const { folder } = submission;
  return { submission, code: await runTask({ folder, task: '0001', label: '1-0', job: '1', signal: new AbortController().signal }) };
}

test('a node trains a language model that lies on the shared file system', async () => {
  const store = lab();
  const { code, submission } = await onNode(store);
  expect(code).toBe(EXIT.done);
  const [imported] = importFile(store, submission.path('results', '0001.1-0.astrolab')).runs;
  expect(store.runs.get(imported?.run ?? 0)).toMatchObject({ state: 'done', updates: 1 });
});

test('a node that does not see the model, or sees another one, says so', async () => {
  const store = lab();
  const failure = async (): Promise<string> => {
    const { code, submission } = await onNode(store);
    expect(code).toBe(EXIT.failed);
    return readFileSync(submission.path('progress', '0001.1-0.jsonl'), 'utf8');
  };
  renameSync(shared, `${shared}-elsewhere`);
  expect(await failure()).toContain(`is expected at ${shared}, but there is nothing on`);
  mkdirSync(shared);
  writeTinyModel(shared, { intermediate_size: 40 });
  expect(await failure()).toContain(`holds another model than the one called`);
  rmSync(shared, { recursive: true });
  renameSync(`${shared}-elsewhere`, shared);
});

test('the memory that the run may use is asked for; a cluster that gives a task less than it needs is refused', () => {
  const store = lab();
  const plan = memoryOf(BUILT_IN, config, store.dataFolder);
  if (!plan) throw new Error('There is no plan');
  const script = (settings: ClusterSettings): string => {
    const { file } = planSubmission(store, settings, wanted, { title: 'memory' });
    return batchScript({ cluster: file.cluster, folder: '/x', name: 'x', part: 0, tasks: 1, after: [] });
  };
  expect(script(cluster())).toContain(`#SBATCH --mem=${Math.ceil(plan.most / USABLE / 2 ** 20)}M\n`);
  expect(script(cluster({ memory: '64G' }))).toContain('#SBATCH --mem=64G\n');
  expect(() => script(cluster({ memory: '300M' }))).toThrow(/needs \d+ MB of memory; the cluster test gives a task 300M/);
});
