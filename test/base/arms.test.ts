// Which arm a run belongs to follows from its config alone; what the arms are called is what tells them apart.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ArmRun, groupIntoArms, usualGrouping } from '../../main/base/arms.ts';

const run = (number: number, group: string, change: Partial<ArmRun> = {}): ArmRun => ({
  run: number,
  name: group,
  variant: 'grpo',
  seed: number,
  group,
  ...change,
});
const keys = (runs: readonly ArmRun[], differing: Parameters<typeof groupIntoArms>[2] = []): string[] =>
  groupIntoArms(runs, 'config', differing).map(({ key }) => key);

describe('arms by configuration', () => {
  test('hold the same runs whatever these are called', () => {
    const one = fc.record({
      group: fc.constantFrom('a', 'b', 'c'),
      variant: fc.constantFrom('ppo', 'grpo'),
      name: fc.constantFrom('x', 'y', 'z'),
    });
    fc.assert(
      fc.property(
        fc.array(one, { minLength: 1, maxLength: 8 }),
        fc.array(fc.constantFrom('x', 'y', 'w'), { minLength: 8, maxLength: 8 }),
        (given, names) => {
          const runs = given.map((own, index) => run(index + 1, own.group, own));
          const renamed = runs.map((own, index) => ({ ...own, name: names[index] ?? '' }));
          const members = (of: readonly ArmRun[]) => groupIntoArms(of, 'config', []).map((arm) => arm.members.map((member) => member.run));
          expect(members(renamed)).toEqual(members(runs));
          expect(new Set(keys(renamed)).size).toBe(members(runs).length);
        },
      ),
    );
  });

  test('are called by their algorithm where that tells them apart, else by the name of most of their runs', () => {
    expect(keys([run(1, 'a', { variant: 'ppo' }), run(2, 'b')])).toEqual(['ppo', 'grpo']);
    const seeds = [run(1, 'a'), run(2, 'a', { name: 'renamed' }), run(3, 'a'), run(4, 'b')];
    expect(keys(seeds)).toEqual(['a', 'b']);
  });

  test('of one name are told apart by the algorithm, then by settings, then by their runs', () => {
    const named = (number: number, group: string, variant = 'grpo') => run(number, group, { name: 'same', variant });
    expect(keys([named(1, 'a'), named(2, 'b', 'ppo'), run(3, 'c')])).toEqual(['same (grpo)', 'same (ppo)', 'c']);
    const rates = [
      { key: 'training.learningRate', values: [0.001, 0.001, 0.002] },
      { key: 'seed', values: [1, 2, 1] },
    ];
    expect(keys([named(1, 'a'), named(2, 'a'), named(3, 'b')], rates)).toEqual([
      'same (grpo), learningRate = 0.001',
      'same (grpo), learningRate = 0.002',
    ]);
    expect(keys([named(1, 'a'), named(2, 'a'), named(3, 'b')])).toEqual(['same (grpo) (#1, #2)', 'same (grpo) (#3)']);
  });
});

test('arms go by algorithm, by run or by a setting where that is asked for', () => {
  const runs = [run(1, 'a', { variant: 'ppo' }), run(2, 'a', { variant: 'ppo' }), run(3, 'b')];
  const arms = (by: string) =>
    groupIntoArms(runs, by, [{ key: 'threads', values: [1, undefined, 1] }]).map(({ key, members }) => [key, members.length]);
  expect(arms('variant')).toEqual([
    ['ppo', 2],
    ['grpo', 1],
  ]);
  expect(arms('run').map(([key]) => key)).toEqual(['#1 a, seed 1', '#2 a, seed 2', '#3 b, seed 3']);
  expect(arms('threads')).toEqual([
    ['threads = 1', 2],
    ['threads = –', 1],
  ]);
});

test('runs in several worlds have only the algorithm in common', () => {
  expect(usualGrouping([{ world: 'here' }, { world: 'here' }])).toBe('config');
  expect(usualGrouping([{ world: 'here' }, { world: 'there' }])).toBe('variant');
});
