// The gain over the reference: counted by hand, with the world's clusters.

import { expect, test } from 'vitest';
import { againstReference } from '../../main/evaluation/against.ts';
import type { EvaluationResult } from '../../main/evaluation/evaluation-report.ts';
import { parseConfig } from '../catalog.ts';
import { BUILT_IN } from '../../main/config/catalog.ts';

/** Of a world that says nothing of its tasks: each is a cluster. */
const config = parseConfig({ world: { name: 'elsewhere' } });

const plays = (count: number, success: (index: number) => boolean): EvaluationResult[] =>
  Array.from({ length: count }, (_, index) => ({
    task: `task-${index}`,
    category: 'all',
    tier: 'plain',
    seed: index,
    success: success(index),
    return: success(index) ? 1 : 0,
    steps: 2,
    failure: success(index) ? null : 'timeout',
  }));

test('tasks that were gained and lost, the difference and its interval', () => {
  const before = plays(200, (index) => index % 2 === 0);
  const after = plays(200, (index) => (index % 2 === 0 && index >= 10) || (index % 2 === 1 && index < 80)); // 5 lost, 40 gained
  const against = againstReference(BUILT_IN, config, after, before);
  expect(against).toMatchObject({ n: 200, clusters: 200, gained: 40, lost: 5 });
  expect(against?.difference).toBeCloseTo(0.175);
  expect(against?.low).toBeGreaterThan(0.1);
  expect(against?.high).toBeLessThan(0.25);
  expect(against?.p).toBeLessThan(0.001);
  expect(against?.words).toContain('does better than its reference: 67.5% against 50.0%, difference +17.5 points');
});

test('a few tasks more are no clear difference', () => {
  const against = againstReference(
    BUILT_IN,
    config,
    plays(100, (index) => index < 52),
    plays(100, (index) => index < 50),
  );
  expect(against).toMatchObject({ gained: 2, lost: 0 });
  expect(against?.words).toContain('is not clearly different from its reference');
});

test('tasks of one product count as one', () => {
  const shop = { world: { name: 'shop', settings: {} } };
  const of = (success: boolean): EvaluationResult[] =>
    plays(40, () => success).map((play, index) => ({ ...play, task: `${index % 2}-plain-${index}` }));
  expect(againstReference(BUILT_IN, shop, of(true), of(false))).toMatchObject({ n: 40, clusters: 2, gained: 40 });
});

test('several draws of a task make the difference surer, and are not counted as tasks', () => {
  // Of 60 tasks the reference solves each in half of its draws, the run in three of four.
  const drawn = (draws: number, solved: (draw: number) => boolean): EvaluationResult[] =>
    Array.from({ length: draws }, (_, draw) =>
      plays(60, (task) => solved(draw + task)).map((play) => ({ ...play, seed: 1000 * draw + play.seed })),
    ).flat();
  const gain = (draws: number) =>
    againstReference(
      BUILT_IN,
      config,
      drawn(draws, (place) => place % 4 !== 0),
      drawn(draws, (place) => place % 2 === 0),
    );
  expect(gain(1)).toMatchObject({ n: 60, draws: 1, clusters: 60 });
  const four = gain(4);
  expect(four).toMatchObject({ n: 60, draws: 4, clusters: 60, gained: 120, lost: 60 });
  expect(four?.difference).toBeCloseTo(0.25);
  expect(four?.words).toContain('of 60 tasks, drawn 4 times each, in 60 clusters');
  const width = (against = gain(1)) => (against?.high ?? 0) - (against?.low ?? 0);
  expect(width(four)).toBeLessThan(width());
});

test('only tasks that both played are counted', () => {
  const all = plays(8, () => true);
  expect(againstReference(BUILT_IN, config, all, all.slice(6))).toMatchObject({ n: 2, draws: 1, clusters: 2 });
});

test('without a task in common there is nothing to say', () => {
  const others = plays(3, () => true).map((play) => ({ ...play, task: `${play.task}-other` }));
  expect(
    againstReference(
      BUILT_IN,
      config,
      plays(3, () => true),
      others,
    ),
  ).toBeUndefined();
});
