// Progress is told sparsely, but what begins is told at once: who watches sees every piece of work.

import { expect, test } from 'vitest';
import { ProgressReporter } from '../../main/training/progress.ts';
import type { RunReport } from '../../main/training/reports.ts';

test('an evaluation that follows another at once is told from its beginning', async () => {
  const told: string[] = [];
  const progress = new ProgressReporter(async (report: RunReport) => {
    if (report.type === 'progress') told.push(`${report.update}: ${report.done} of ${report.total}`);
  });
  for (const update of [0, 1]) for (let done = 1; done <= 5; done++) await progress.report(update, 'evaluating', done, 5);
  // Within a quarter of a second: the beginning and the end of each.
  expect(told).toEqual(['0: 1 of 5', '0: 5 of 5', '1: 1 of 5', '1: 5 of 5']);
});
