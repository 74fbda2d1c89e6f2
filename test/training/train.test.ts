import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { builtInAlgorithms } from '../../main/algorithm/registry.ts';
import { TOP_ALTERNATIVES } from '../../main/policy/sampling/draw.ts';
import { train } from '../../main/training/train.ts';
import { Random } from '../../main/base/random.ts';
import { Killed, TestHost, smallest } from './host.ts';

const hosts: TestHost[] = [];
const host = (): TestHost => {
  const made = new TestHost();
  hosts.push(made);
  return made;
};
afterEach(() => {
  for (const made of hosts.splice(0)) made.remove();
});

afterAll(() => TestHost.forgetReferences());

describe('a run repeats', () => {
  let numbers: unknown[];
  let weights: string;
  let reports: number;

  beforeAll(async () => {
    const first = new TestHost();
    expect(await train(smallest(), first)).toBe('done');
    numbers = first.numbers();
    weights = first.lastWeights();
    reports = first.reports.length;
    first.remove();
  }, 120_000);

  test('the same config and seed give the same metrics, episodes and weights; another seed gives others', async () => {
    const again = host();
    await train(smallest(), again);
    expect(again.numbers()).toEqual(numbers);
    expect(again.lastWeights()).toBe(weights);
    const other = host();
    await train(smallest({ seed: 2 }), other);
    expect(other.numbers()).not.toEqual(numbers);
  });

  test('killed at any report and resumed, it ends with the same numbers and weights, bit for bit', async () => {
    const random = Random.from('kill');
    for (let kill = 0; kill < 3; kill++) {
      const interrupted = host();
      interrupted.dieAfter = 3 + random.below(reports + 6);
      try {
        await train(smallest(), interrupted);
      } catch (error) {
        if (!(error instanceof Killed)) throw error;
        interrupted.rewind();
        await train(smallest(), interrupted);
      }
      expect(interrupted.numbers()).toEqual(numbers);
      expect(interrupted.lastWeights()).toBe(weights);
    }
  });

  test('stepped update by update, it ends with the same numbers', async () => {
    const stepped = host();
    for (const [until, outcome] of [
      [1, 'stopped'],
      [2, 'stopped'],
      [3, 'stopped'],
      [4, 'done'],
    ] as const) {
      stepped.until = until;
      if (until > 1) stepped.rewind();
      expect(await train(smallest(), stepped)).toBe(outcome);
    }
    expect(stepped.numbers()).toEqual(numbers);
    expect(stepped.lastWeights()).toBe(weights);
  });

  test('stopped after an update, it says so and can be resumed', async () => {
    const stopped = host();
    const stopping = new AbortController();
    const report = stopped.report.bind(stopped);
    stopped.report = async (message) => {
      await report(message);
      if (message.type === 'update') stopping.abort();
    };
    expect(await train(smallest(), stopped, stopping.signal)).toBe('stopped');
    expect(stopped.reports.filter(({ type }) => type === 'update').length).toBe(1);
    stopped.rewind();
    expect(await train(smallest(), stopped)).toBe('done');
    expect(stopped.numbers()).toEqual(numbers);
    expect(stopped.lastWeights()).toBe(weights);
  });
});

test('a reference policy is cloned once and found again by a later run with the same recipe', async () => {
  TestHost.forgetReferences();
  const [first, second] = [host(), host()];
  await train(smallest({ training: { updates: 1, batch: 4, tasks: 4 } }), first);
  await train(smallest({ seed: 3, training: { updates: 1, batch: 4, tasks: 4 } }), second);
  const cloned = (made: TestHost): number => made.reports.filter(({ type }) => type === 'reference').length;
  expect([cloned(first), cloned(second)]).toEqual([1, 0]);
});

test.each(builtInAlgorithms.map(({ id }) => id))('%s trains from the first update to the last with finite numbers', async (id) => {
  const made = host();
  const config = smallest({
    algorithm: { id },
    curriculum: { mode: 'updates', every: 1, start: 2 },
    training: { updates: 2, batch: 8, tasks: 12, microBatch: 4096 },
  });
  expect(await train(config, made)).toBe('done');
  const updates = made.reports.flatMap((report) => (report.type === 'update' ? [report] : []));
  expect(updates).toHaveLength(2);
  for (const { metrics } of updates) for (const [name, value] of Object.entries(metrics)) expect(Number.isFinite(value), name).toBe(true);
  expect(updates.map(({ metrics }) => metrics['rollout.level'])).toEqual([2, 3]);
});

test.each([
  ['grpo', { id: 'grpo', group: 4, credit: 'branch', creditBranches: 2 }],
  ['astar-po', { id: 'astar-po', group: 2, credit: 'branch', creditBranches: 2 }],
])('%s with credit by branches plays on from every state, counts it, and repeats', async (_, algorithm) => {
  const training = { updates: 2, batch: 8, tasks: 12, microBatch: 4096 };
  const [first, again] = [host(), host()];
  await train(smallest({ algorithm, training }), first);
  await train(smallest({ algorithm, training }), again);
  expect(again.numbers()).toEqual(first.numbers());
  const updates = first.reports.flatMap((report) => (report.type === 'update' ? [report] : []));
  for (const { metrics, episodes } of updates) {
    expect(metrics['branch.episodes']).toBeGreaterThan(0);
    expect(metrics['branch.steps']).toBeGreaterThanOrEqual(metrics['branch.episodes']!);
    // Every turn has its advantage, for replay.
    for (const { steps } of episodes) for (const { tokens } of steps) expect(tokens.advantages.length).toBe(tokens.ids.length);
  }
});

test('a reference that follows the policy is in the checkpoint: stopped between two moves of it, a run ends with the same bits', async () => {
  const config = smallest({ algorithm: { id: 'oapl', group: 4, lag: 3 }, training: { updates: 5, batch: 8, tasks: 12, microBatch: 4096 } });
  const [whole, stepped] = [host(), host()];
  await train(config, whole);
  for (const until of [2, 3, 5]) {
    stepped.until = until;
    if (until > 2) stepped.rewind();
    await train(config, stepped);
  }
  expect(stepped.numbers()).toEqual(whole.numbers());
  expect(stepped.lastWeights()).toBe(whole.lastWeights());
});

test('training episodes are drawn with training.minP: at 1 every token is the likeliest, at 0 not', async () => {
  const likeliest = async (minP: number): Promise<boolean[]> => {
    const made = host();
    await train(smallest({ training: { updates: 1, batch: 4, tasks: 4, minP } }), made);
    const drawn = made.reports.flatMap((report) => (report.type === 'update' ? report.episodes : [])).flatMap(({ steps }) => steps);
    return drawn.flatMap(({ tokens: { ids, topIds } }) => [...ids].map((token, i) => token === topIds[TOP_ALTERNATIVES * i]));
  };
  const [certain, free] = [await likeliest(1), await likeliest(0)];
  expect(certain.length).toBeGreaterThan(4);
  expect(certain).not.toContain(false);
  expect(free).toContain(false);
});
