// See simulate.ts.

import { expect, test } from 'vitest';
import { simulate } from './simulate.ts';

test('10,000 tasks, 5% preempted, 1% of nodes lost, the scheduler silent for a minute: nothing is lost, nothing is submitted twice', async () => {
  expect(await simulate(10_000)).toBeGreaterThan(10);
});
