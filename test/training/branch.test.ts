import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type StoredTensor, readCheckpoint } from '../../main/engine/runtime/checkpoint.ts';
import { bestValidation } from '../../main/metrics/alerts.ts';
import { train } from '../../main/training/train.ts';
import { TestHost, smallest } from './host.ts';

const hosts: TestHost[] = [];
const host = (branchFrom?: string): TestHost => {
  const made = new TestHost();
  made.branchFrom = branchFrom;
  hosts.push(made);
  return made;
};
let parent: TestHost;

beforeAll(async () => {
  parent = new TestHost();
  await train(smallest(), parent);
}, 120_000);
afterEach(() => {
  for (const made of hosts.splice(0)) made.remove();
});
afterAll(() => {
  parent.remove();
  TestHost.forgetReferences();
});

const checkpoints = (made: TestHost): Map<number, string> =>
  new Map(
    made.reports.flatMap((report) =>
      report.type === 'checkpoint' ? [[report.checkpoint.update, made.files.path(report.checkpoint)] as const] : [],
    ),
  );
const tensors = (made: TestHost, update: number) => readCheckpoint(checkpoints(made).get(update) ?? '');
const same = (a: StoredTensor | undefined, b: StoredTensor | undefined): boolean => a !== undefined && a.data.join() === b?.data.join();
const results = (made: TestHost, update: number): unknown =>
  made.reports.flatMap((report) =>
    report.type === 'evaluation' && report.kind === 'periodic' && report.update === update ? [report.results] : [],
  );
const said = (made: TestHost): string => made.reports.flatMap((report) => (report.type === 'event' ? [report.text] : [])).join('\n');

test('a branch starts with the weights, the optimizer state and the validation success of the checkpoint', async () => {
  const branch = host(checkpoints(parent).get(2));
  const config = smallest({ training: { updates: 1, batch: 8, tasks: 12, learningRate: 1e-4, microBatch: 4096 } });
  expect(await train(config, branch)).toBe('done');
  const [from, to] = [tensors(parent, 2), tensors(branch, 0)];
  expect(to.step).toBe(from.step);
  expect(from.tensors.size).toBeGreaterThan(10);
  for (const [name, tensor] of from.tensors) expect(same(tensor, to.tensors.get(name)), name).toBe(true);
  expect(same(tensors(parent, 0).tensors.get('embedding'), from.tensors.get('embedding')), 'training had changed them').toBe(false);
  expect(results(branch, 0)).toEqual(results(parent, 2));
  expect(said(branch)).toContain('weights and the optimizer state');
  expect(tensors(branch, 1).step, 'it learns on').toBe(from.step + 1);
});

test('a branch to an algorithm with a critic keeps the weights and starts the optimizer anew, and says so', async () => {
  const branch = host(checkpoints(parent).get(2));
  const config = smallest({ algorithm: { id: 'ppo' }, training: { updates: 1, batch: 8, tasks: 12, microBatch: 4096 } });
  expect(await train(config, branch)).toBe('done');
  const [from, to] = [tensors(parent, 2), tensors(branch, 0)];
  expect(to.step).toBe(0);
  expect(to.tensors.size).toBeGreaterThan(from.tensors.size);
  const weights = [...from.tensors].filter(([name]) => !name.startsWith('optimizer.'));
  for (const [name, tensor] of weights) expect(same(tensor, to.tensors.get(name)), name).toBe(true);
  expect(said(branch)).toContain('the optimizer starts anew');
});

test('the best update has a checkpoint even where none is due', async () => {
  const made = host();
  await train(smallest({ checkpoints: { every: 0 }, evaluation: { every: 1, tasks: 12, finalTasks: 0 } }), made);
  const validations = made.reports.flatMap((report) =>
    report.type === 'evaluation'
      ? [{ update: report.update, k: report.results.filter(({ success }) => success).length, n: report.results.length }]
      : [],
  );
  expect(validations).toHaveLength(5);
  const best = new Set(validations.map((_, index) => bestValidation(validations.slice(0, index + 1))?.update));
  expect([...checkpoints(made).keys()]).toEqual([...new Set([0, ...best, 4])].sort());
});
