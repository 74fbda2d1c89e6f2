import { expect, test } from 'vitest';
import type { Task } from '../../main/environment/environment.ts';
import { Random } from '../../main/base/random.ts';
import { TaskSampler } from '../../main/training/tasks.ts';

const tasks: Task[] = Array.from({ length: 10 }, (_, index) => ({
  id: `t${index}`,
  split: 'train',
  instruction: '',
  category: 'a',
  tier: 'plain',
  target: String(index),
  level: 0,
}));
const prioritised = { mode: 'prioritised', floor: 0.1, memory: 0.5 } as const;

test('an update holds every task at most once while there are enough, and then all of them again', () => {
  const sampler = new TaskSampler(prioritised);
  expect(new Set(sampler.draw(tasks, 10, Random.from(1)).map((task) => task.id)).size).toBe(10);
  const many = sampler.draw(tasks, 25, Random.from(2)).map((task) => task.id);
  expect(many).toHaveLength(25);
  expect(new Set(many.slice(0, 10)).size).toBe(10);
});

test('a mastered task comes up about floor / (floor + 1) as often as one that always fails', () => {
  const sampler = new TaskSampler(prioritised);
  for (const task of tasks) for (let i = 0; i < 30; i++) sampler.record(task.id, task.id !== 't3');
  let hard = 0;
  const draws = 4000;
  for (let i = 0; i < draws; i++) if (sampler.draw(tasks, 1, Random.from('draw', i))[0]?.id === 't3') hard += 1;
  const expected = 1.1 / (1.1 + 9 * 0.1);
  expect(Math.abs(hard / draws - expected)).toBeLessThan(0.04);
});

test('the memory survives being saved and restored', () => {
  const sampler = new TaskSampler(prioritised);
  sampler.record('t1', true);
  sampler.record('t1', false);
  expect(sampler.save()).toEqual({ t1: 0.5 });
  const again = new TaskSampler(prioritised, sampler.save());
  expect(again.draw(tasks, 10, Random.from(4))).toEqual(sampler.draw(tasks, 10, Random.from(4)));
});

test('mode mixed prefers what sometimes succeeds, first by the samples of stage 1 and then by the episodes', () => {
  const mixed = { mode: 'mixed', floor: 0.1, memory: 0 } as const;
  const samples = tasks.map(({ id }, index) => ({ task: id, success: index === 3 ? 0.5 : index % 2 }));
  const sampler = new TaskSampler(mixed);
  sampler.expect(samples);
  const share = (id: string): number => {
    const draws = Array.from({ length: 2000 }, (_, seed) => sampler.draw(tasks, 1, Random.from('draw', seed))[0]?.id);
    return draws.filter((drawn) => drawn === id).length / draws.length;
  };
  expect(share('t3')).toBeCloseTo(1.1 / (1.1 + 9 * 0.1), 1);

  sampler.record('t3', true); // mastered: all weigh the same
  expect(share('t3')).toBeCloseTo(0.1, 1);
  sampler.expect(samples); // what has been trained on is known better
  expect(share('t3')).toBeCloseTo(0.1, 1);
});

test('the samples of stage 1 change nothing in the other modes', () => {
  const sampler = new TaskSampler(prioritised);
  sampler.expect([{ task: 't1', success: 0.5 }]);
  expect(sampler.save()).toEqual({});
});
