// What a run with a language model takes of the memory, beside what was planned for it (main/training/batching/memory-plan.ts): random weights in the shapes of
// MiniMind2 and SmolLM2-135M, each trained for a moment in a process that seems to have no more memory than the plan needs.

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { z } from 'zod';
import { MINIMIND, SHAPES } from './llm-models.ts';
import { type BenchRow, report } from './report.ts';

const numbersOf = (shape: object) => Object.fromEntries(Object.entries(shape).filter(([, value]) => typeof value === 'number'));
const SMALL = numbersOf(MINIMIND);
const LARGER = numbersOf(SHAPES['smollm2-135m']);

const CASES: Readonly<Record<string, object>> = {
  '26 M': { shape: SMALL, training: { microBatch: 2560 } },
  '26 M, recomputed': { shape: SMALL, training: { microBatch: 4096, recompute: true } },
  '26 M, int8': { shape: SMALL, policy: { precision: 'int8' }, training: { microBatch: 2048 } },
  '26 M, every weight trained': { shape: SMALL, policy: { train: 'all' }, training: { microBatch: 1024 } },
  '135 M': { shape: LARGER, training: { microBatch: 1024 } },
};

const result = z.object({ peak: z.number(), needed: z.number(), most: z.number() });
const program = fileURLToPath(new URL('../training/planned-run.ts', import.meta.url));
const rows: BenchRow[] = [];
for (const [name, spec] of Object.entries(CASES)) {
  process.stderr.write(`${name}\n`);
  const { stdout } = await promisify(execFile)(process.execPath, [program, JSON.stringify({ ...spec, tight: true })]);
  const { peak, needed } = result.parse(JSON.parse(stdout));
  rows.push({ name, ours: peak / 1e6, peer: needed / 1e6, unit: 'MB', better: 'lower', goal: 1 });
}
report(rows, 'what was planned to be needed');
