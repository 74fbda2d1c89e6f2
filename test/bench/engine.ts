// `npm run bench -- engine`: the training step and the sampler against PyTorch on the same machine, in the same run, eager and compiled;
// the better mode counts. All sides are child processes that take turns; the idle ones are stopped, because their waiting threads would spin on
// the other's cores. Nothing is installed: where no PyTorch is found, our numbers are printed and that is said. `--roofline` and `--growth` print other tables.

import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import type { ModelConfig } from '../../main/policy/transformer/transformer.ts';
import { growth } from './engine-growth.ts';
import { roofline, rooflineTable } from './engine-roofline.ts';
import { MEDIUM, SMALL, TINY } from './engine-sizes.ts';
import { type Python, type Side, describePeer, findPython, startOurs, startPeer } from './peer-process.ts';
import { median, report } from './report.ts';
import type { BenchRow } from './report.ts';

const { values: options } = parseArgs({
  options: {
    json: { type: 'boolean' },
    /** `steps` or `sampling` alone. */
    only: { type: 'string' },
    /** Of the steps those whose name has this in it, e.g. 5.9. */
    size: { type: 'string', default: '' },
    /** Instead: where a step's time goes, operator by operator, beside what it needs. */
    roofline: { type: 'boolean' },
    /** Instead: time and memory against parameters, context and batch. */
    growth: { type: 'boolean' },
    threads: { type: 'string', default: String(Math.min(8, availableParallelism())) },
  },
});
const THREADS = Number(options.threads);

/** Each size in its pair of processes, so that the peak memory is that of this work alone. */
const STEPS = [
  { name: 'training step, 0.94 M parameters', config: SMALL, batch: 32, goal: 0.85, rounds: 9, count: 2 },
  { name: 'training step, 5.9 M parameters', config: MEDIUM, batch: 8, goal: 0.85, rounds: 7, count: 1 },
  { name: 'training step, 30 k parameters', config: TINY, batch: 8, goal: 0.55, rounds: 9, count: 20 },
] as const;
const SAMPLES = [
  { batch: 1, goal: 2.5 },
  { batch: 16, goal: 1.6 },
  { batch: 64, goal: 1.4 },
] as const;

const timed = z.object({ seconds: z.array(z.number()) });
const sampled = timed.extend({ tokens: z.number() });

/** Floating-point operations of one training step: forward once, backward twice, attention included. */
function stepFlops(config: ModelConfig, batch: number): number {
  const { width, layers, feedForward, vocabulary, contextLength } = config;
  const weights = layers * (4 * width * width + 3 * width * feedForward) + vocabulary * width;
  const attention = 2 * layers * contextLength * width;
  return 3 * 2 * batch * contextLength * (weights + attention);
}

/** A mode of the peer with its process. */
interface Rival {
  readonly mode: string;
  readonly side: Side;
}

async function withSides<T>(python: Python | undefined, body: (us: Side, rivals: readonly Rival[]) => Promise<T>): Promise<T> {
  const us = startOurs('engine-ours.ts');
  const rivals = python?.modes.map((mode) => ({ mode, side: startPeer(python, 'engine_peer.py', THREADS) })) ?? [];
  const ready = z.object({ threads: z.number() });
  try {
    await us.ask(ready, { command: 'hello', threads: THREADS });
    for (const { mode, side } of rivals) await side.ask(ready, { command: 'hello', threads: THREADS, mode });
    return await body(us, rivals);
  } finally {
    for (const side of [us, ...rivals.map((rival) => rival.side)]) side.close();
  }
}

interface Best {
  readonly value: number;
  readonly mode: string;
}

/** Asks all in turn, `rounds` times after a warm-up (which compiles): our median seconds, and those of the fastest mode of the peer. */
async function duel(
  us: Side,
  rivals: readonly Rival[],
  request: { command: string; [key: string]: unknown },
  rounds: number,
): Promise<[number, Best | null]> {
  const sides = [us, ...rivals.map(({ side }) => side)];
  const times = sides.map((): number[] => []);
  for (let round = -1; round < rounds; round++) {
    for (const [index, side] of sides.entries()) {
      const answer = await side.ask(timed, request);
      if (round >= 0) times[index]?.push(...answer.seconds);
    }
  }
  const [mine = 0, ...theirs] = times.map(median);
  return [mine, least(rivals, theirs)];
}

function least(rivals: readonly Rival[], values: readonly number[]): Best | null {
  const all = rivals.map(({ mode }, index) => ({ mode, value: values[index] ?? Number.POSITIVE_INFINITY }));
  return all.sort((a, b) => a.value - b.value)[0] ?? null;
}

async function benchSteps(python: Python | undefined, rows: BenchRow[]): Promise<void> {
  for (const { name, config, batch, goal, rounds, count } of STEPS.filter((step) => step.name.includes(options.size))) {
    await withSides(python, async (us, rivals) => {
      process.stderr.write(`${name} …\n`);
      const sides = [us, ...rivals.map(({ side }) => side)];
      const request = { command: 'train', config, batch, length: config.contextLength };
      const parameters = new Set<number>();
      for (const side of sides) parameters.add((await side.ask(z.object({ parameters: z.number() }), request)).parameters);
      if (parameters.size > 1) throw new Error(`The models differ: ${[...parameters].join(' and ')} parameters`);
      const [mine, theirs] = await duel(us, rivals, { command: 'step', count }, rounds);
      const milliseconds = theirs && theirs.value * 1e3;
      rows.push({ name, ours: mine * 1e3, peer: milliseconds, mode: theirs?.mode, unit: 'ms', better: 'lower', goal });

      const memory: number[] = [];
      for (const side of sides) memory.push((await side.ask(z.object({ peakBytes: z.number() }), { command: 'memory' })).peakBytes / 1e6);
      const [ourMemory = 0, ...theirMemory] = memory;
      const leanest = least(rivals, theirMemory);
      rows.push({
        name: `peak memory, ${name.split(', ')[1]}`,
        ours: ourMemory,
        peer: leanest?.value ?? null,
        mode: leanest?.mode,
        unit: 'MB',
        better: 'lower',
        goal: 0.6,
      });

      const [ourGemm, theirGemm] = await duel(us, rivals, { command: 'gemm', size: 1024, count: 5 }, 3);
      const peak = (2 * 1024 ** 3) / Math.min(ourGemm, theirGemm?.value ?? ourGemm);
      const share = (seconds: number): number => (100 * stepFlops(config, batch)) / seconds / peak;
      rows.push({
        name: `share of the machine's Gemm peak (${(peak / 1e9).toFixed(0)} GFLOPS), ${name.split(', ')[1]}`,
        ours: share(mine),
        peer: theirs && share(theirs.value),
        mode: theirs?.mode,
        unit: '%',
        better: 'higher',
        goal: config === TINY ? null : 75,
        absolute: true,
      });
    });
  }
}

async function benchSampling(python: Python | undefined, rows: BenchRow[]): Promise<void> {
  await withSides(python, async (us, rivals) => {
    for (const { batch, goal } of SAMPLES) {
      process.stderr.write(`sampling, batch ${batch} …\n`);
      const request = { command: 'sample', config: SMALL, batch, length: SMALL.contextLength };
      const [mine, theirs] = await duel(us, rivals, request, batch === 64 ? 5 : 9);
      const { tokens } = await us.ask(sampled, request);
      rows.push({
        name: `sampling, batch ${batch}`,
        ours: tokens / mine,
        peer: theirs && tokens / theirs.value,
        mode: theirs?.mode,
        unit: 'tokens/s',
        better: 'higher',
        goal,
      });
    }
  });
}

async function printRooflines(): Promise<void> {
  for (const { name, config, batch } of STEPS.filter((step) => step.name.includes(options.size)))
    process.stdout.write(`${name}\n${rooflineTable(await roofline(config, batch, config.contextLength))}\n\n`);
}

const python = findPython();
if (options.roofline) await printRooflines();
else if (options.growth) process.stdout.write(`${await growth(python, THREADS)}\npeer: ${describePeer(python, THREADS)}, here eager\n`);
else {
  const rows: BenchRow[] = [];
  if (options.only !== 'sampling') await benchSteps(python, rows);
  if (options.only !== 'steps') await benchSampling(python, rows);
  report(rows, describePeer(python, THREADS));
}
