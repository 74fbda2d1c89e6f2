// The roofline of a training step: for every operator of the runtime the time it takes (the runtime's own profile, one thread) beside the time that its
// floating-point operations need at the speed of a large product of matrices, or its bytes at the speed of a large addition, whichever is more.
// What is far above its roof is what could be faster; what is at its roof is only faster if less is computed.

import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { Graph } from '../../main/engine/graph/graph.ts';
import type { Tensor } from '../../main/engine/graph/graph.ts';
import { add, matmul } from '../../main/engine/graph/operators.ts';
import { Session, float } from '../../main/engine/runtime/session.ts';
import type { ModelConfig } from '../../main/policy/transformer/transformer.ts';
import { median } from './report.ts';
import { stepCase } from './step-case.ts';

const STEPS = 5;

/** The shapes of an event's values, each under the name of its type. */
const shapes = z.array(z.record(z.string(), z.array(z.number())));
const event = z.looseObject({
  cat: z.string(),
  name: z.string(),
  dur: z.number(),
  args: z
    .looseObject({ op_name: z.string().optional(), input_type_shape: shapes.optional(), output_type_shape: shapes.optional() })
    .optional(),
});

/** What all runs of one operator add up to in a step. */
export interface OperatorRow {
  readonly operator: string;
  readonly runs: number;
  readonly milliseconds: number;
  readonly gigaflops: number;
  readonly gigabytes: number;
  /** What its flops or its bytes need. */
  readonly roof: number;
}

export interface Speeds {
  /** Floating-point operations and bytes in a second, of one thread. */
  readonly flops: number;
  readonly bytes: number;
}

const count = (shape: readonly number[]): number => shape.reduce((product, size) => product * size, 1);
const first = (value: Record<string, readonly number[]> | undefined): readonly number[] => Object.values(value ?? {})[0] ?? [];

/** 2·m·k·n for every matrix of the batch: the product of the three sizes is the square of m·k·n. */
export function productFlops(a: readonly number[], b: readonly number[], c: readonly number[]): number {
  const batch = b.length > 2 ? count(c.slice(0, -2)) : 1;
  return 2 * Math.sqrt((count(a) * count(b) * count(c)) / batch);
}

/** Adds the events of a profile up by operator; `steps` is how many steps they are of. */
export function operatorRows(events: readonly unknown[], steps: number, speeds: Speeds): OperatorRow[] {
  const rows = new Map<string, { runs: number; milliseconds: number; gigaflops: number; gigabytes: number }>();
  for (const raw of events) {
    const parsed = event.safeParse(raw);
    if (!parsed.success || parsed.data.cat !== 'Node' || !parsed.data.name.endsWith('_kernel_time')) continue;
    const { dur, args } = parsed.data;
    const operator = args?.op_name ?? 'unknown';
    const [inputs, outputs] = [args?.input_type_shape ?? [], args?.output_type_shape ?? []];
    const row = rows.get(operator) ?? { runs: 0, milliseconds: 0, gigaflops: 0, gigabytes: 0 };
    row.runs += 1 / steps;
    row.milliseconds += dur / 1e3 / steps;
    // A reshape moves nothing, and int64 values are few: four bytes each is near enough.
    if (operator !== 'Reshape')
      row.gigabytes += (4 * [...inputs, ...outputs].reduce((sum, value) => sum + count(first(value)), 0)) / 1e9 / steps;
    if (/^(Gemm|MatMul|FusedMatMul)$/.test(operator))
      row.gigaflops += productFlops(first(inputs[0]), first(inputs[1]), first(outputs[0])) / 1e9 / steps;
    rows.set(operator, row);
  }
  return [...rows]
    .map(([operator, row]) => ({
      operator,
      ...row,
      roof: Math.max((row.gigaflops * 1e12) / speeds.flops, row.gigaflops > 0 ? 0 : (row.gigabytes * 1e12) / speeds.bytes),
    }))
    .sort((a, b) => b.milliseconds - a.milliseconds);
}

/** What one thread of this machine does at best: a product of 1024 × 1024 matrices, and an addition of 4 MB each. */
async function measureSpeeds(): Promise<Speeds> {
  const timed = async (shape: readonly number[], operation: (a: Tensor, b: Tensor) => Tensor): Promise<number> => {
    const graph = new Graph('speed');
    const inputs = ['a', 'b'].map((name) => graph.input(name, 'float32', shape));
    const [a, b] = inputs;
    if (!a || !b) throw new Error('Two inputs are declared');
    // The result is summed up by a product with a vector, so that only little is copied out of the runtime.
    const ones = graph.constant(new Float32Array(Number(shape[1])).fill(1), [Number(shape[1]), 1]);
    graph.output('c', matmul(operation(a, b), ones));
    const session = await Session.create(graph, { threads: 1 });
    const feeds = Object.fromEntries(['a', 'b'].map((name) => [name, float(new Float32Array(count(shape)).fill(0.5), shape)]));
    const seconds: number[] = [];
    for (let i = 0; i < 15; i++) {
      const begin = performance.now();
      await session.run(feeds);
      seconds.push((performance.now() - begin) / 1e3);
    }
    await session.dispose();
    return Math.min(...seconds);
  };
  const size = 1024;
  return {
    flops: (2 * size ** 3) / (await timed([size, size], (a, b) => matmul(a, b))),
    bytes: (3 * 4 * size * size) / (await timed([size, size], add)),
  };
}

/** Profiles the step of a model; `rows` and `length` are those of the whole batch. */
export async function roofline(
  model: ModelConfig,
  rows: number,
  length: number,
): Promise<{ rows: OperatorRow[]; speeds: Speeds; step: number }> {
  const folder = mkdtempSync(join(tmpdir(), 'astrolab-roofline-'));
  try {
    const speeds = await measureSpeeds();
    const extra = { enableProfiling: true, profileFilePrefix: join(folder, 'step') };
    const { trainer, batches } = stepCase(model, rows, length, { threads: 1, extra });
    const seconds: number[] = [];
    for (let step = 0; step < STEPS; step++) {
      const begin = performance.now();
      await trainer.step(batches, 1e-3);
      seconds.push((performance.now() - begin) / 1e3);
    }
    await trainer.dispose();
    const events = readdirSync(folder).flatMap((file) => z.array(z.unknown()).parse(JSON.parse(readFileSync(join(folder, file), 'utf8'))));
    return { rows: operatorRows(events, STEPS, speeds), speeds, step: median(seconds.slice(1)) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const digits = (value: number): string => (value === 0 ? '' : value.toFixed(value < 10 ? 2 : 0));

/** The table as text; operators below a hundredth of the step are one row. */
export function rooflineTable({ rows, speeds, step }: Awaited<ReturnType<typeof roofline>>): string {
  const total = rows.reduce((sum, { milliseconds }) => sum + milliseconds, 0);
  const [shown, small] = [rows.filter((row) => row.milliseconds >= total / 100), rows.filter((row) => row.milliseconds < total / 100)];
  const sum = (part: readonly OperatorRow[], key: 'milliseconds' | 'roof' | 'runs' | 'gigaflops' | 'gigabytes'): number =>
    part.reduce((all, row) => all + row[key], 0);
  const line = (name: string, part: readonly OperatorRow[]): string[] => [
    name,
    sum(part, 'runs').toFixed(0),
    digits(sum(part, 'milliseconds')),
    `${((100 * sum(part, 'milliseconds')) / total).toFixed(1)}%`,
    digits(sum(part, 'gigaflops')),
    digits(sum(part, 'gigabytes')),
    digits(sum(part, 'roof')),
    sum(part, 'roof') === 0 ? '' : (sum(part, 'milliseconds') / sum(part, 'roof')).toFixed(2),
  ];
  const cells = [
    ['operator', 'runs', 'ms', 'share', 'GFLOP', 'GB', 'roof, ms', 'ms / roof'],
    ...shown.map((row) => line(row.operator, [row])),
    line(`${small.length} others`, small),
    line('all operators', rows),
  ];
  const widths = cells[0]?.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0))) ?? [];
  const text = cells.map((row) => row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join('  '));
  return [
    ...text,
    `one thread: ${(speeds.flops / 1e9).toFixed(0)} GFLOPS, ${(speeds.bytes / 1e9).toFixed(1)} GB/s; the whole step (profiled) ${(1e3 * step).toFixed(1)} ms, of which outside operators ${(1e3 * step - total).toFixed(1)} ms`,
  ].join('\n');
}
