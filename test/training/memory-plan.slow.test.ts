// The memory that was planned for a run with a language model is what its process takes: not less, and not far more.

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { z } from 'zod';

const result = z.object({ peak: z.number(), needed: z.number(), most: z.number() });

/** Of what was planned to be needed, what a run takes at least: a plan that is far above it would refuse what fits. */
const LEAST = 0.5;

test('a run on a machine with no more memory than was planned to be needed takes no more', async () => {
  const env = { ...process.env, ELECTRON_RUN_AS_NODE: '1', NODE_NO_WARNINGS: '1' };
  const program = fileURLToPath(new URL('./planned-run.ts', import.meta.url));
  const shape = { hidden_size: 256, num_hidden_layers: 4, num_attention_heads: 4, intermediate_size: 704 };
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [program, JSON.stringify({ shape, reference: { steps: 0, demonstrations: 0 }, tight: true })],
    { env },
  );
  const { peak, needed, most } = result.parse(JSON.parse(stdout));
  expect(peak).toBeLessThanOrEqual(needed);
  expect(peak).toBeGreaterThan(LEAST * needed);
  expect(most).toBeGreaterThan(needed);
}, 120_000);
