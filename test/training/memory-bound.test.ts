// The setting `memory` bounds the training process, and which sessions are given up for that changes no number.

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { z } from 'zod';

const result = z.object({ megabytes: z.number(), weights: z.string(), numbers: z.array(z.unknown()) });

/** Long episodes in many shapes, trained in a process with so many MB. */
async function trainedWith(memory: number): Promise<z.infer<typeof result>> {
  const env = { ...process.env, ELECTRON_RUN_AS_NODE: '1', NODE_NO_WARNINGS: '1' };
  const program = fileURLToPath(new URL('./bounded-run.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [program, String(memory)], { env });
  return result.parse(JSON.parse(stdout));
}

test('a run that would take more memory than its setting stays below it, with the same numbers and weights', async () => {
  const limit = 450;
  const [free, bounded] = [await trainedWith(4000), await trainedWith(limit)];
  expect(free.megabytes).toBeGreaterThan(limit); // or else nothing is shown
  expect(bounded.megabytes).toBeLessThanOrEqual(limit);
  expect(bounded.numbers).toEqual(free.numbers);
  expect(bounded.weights).toBe(free.weights);
});
