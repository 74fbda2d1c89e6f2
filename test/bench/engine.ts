// `npm run bench -- engine`: the training step and the sampler against PyTorch on the same machine, in the same run.
// Both sides are child processes that take turns; the idle one is stopped, because its waiting threads would spin on
// the other's cores. Nothing is installed: where no PyTorch is found, our own numbers are printed and that is said.

import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { type Side, describePeer, findPython, startOurs, startPeer } from './peer-process.ts';
import { median, report } from './report.ts';
import type { BenchRow } from './report.ts';

const { values: options } = parseArgs({
  options: {
    json: { type: 'boolean' },
    /** `steps` or `sampling` alone. */
    only: { type: 'string' },
    threads: { type: 'string', default: String(Math.min(8, availableParallelism())) },
  },
});
const THREADS = Number(options.threads);

const model = { gate: 'swiglu', valueHead: false, aids: { matchFlag: false, pointer: false, tokenShift: 0 } };
const SMALL = { ...model, vocabulary: 512, width: 128, layers: 4, heads: 4, feedForward: 400, contextLength: 128 };
const MEDIUM = { ...model, vocabulary: 2048, width: 256, layers: 6, heads: 8, feedForward: 824, contextLength: 256 };
const TINY = { ...model, vocabulary: 128, width: 32, layers: 2, heads: 2, feedForward: 96, contextLength: 32 };

/** Each size in its own pair of processes, so that the peak memory is that of this work alone. */
const STEPS = [
  { name: 'training step, 0.94 M parameters', config: SMALL, batch: 32, goal: 0.85, rounds: 9, count: 2 },
  { name: 'training step, 5.9 M parameters', config: MEDIUM, batch: 8, goal: 0.92, rounds: 7, count: 1 },
  { name: 'training step, 30 k parameters', config: TINY, batch: 8, goal: 0.4, rounds: 9, count: 20 },
] as const;
const SAMPLES = [
  { batch: 1, goal: 1.2 },
  { batch: 16, goal: 1.4 },
  { batch: 64, goal: 1.3 },
] as const;

const timed = z.object({ seconds: z.array(z.number()) });
const sampled = timed.extend({ tokens: z.number() });

/** Floating-point operations of one training step: forward once, backward twice, attention included. */
function stepFlops(config: typeof SMALL, batch: number): number {
  const { width, layers, feedForward, vocabulary, contextLength } = config;
  const weights = layers * (4 * width * width + 3 * width * feedForward) + vocabulary * width;
  const attention = 2 * layers * contextLength * width;
  return 3 * 2 * batch * contextLength * (weights + attention);
}

async function withSides<T>(python: string | undefined, body: (us: Side, them: Side | undefined) => Promise<T>): Promise<T> {
  const us = startOurs('engine-ours.ts');
  const them = python === undefined ? undefined : startPeer(python, 'engine_peer.py', THREADS);
  try {
    for (const side of [us, them]) await side?.ask(z.object({ threads: z.number() }), { command: 'hello', threads: THREADS });
    return await body(us, them);
  } finally {
    us.close();
    them?.close();
  }
}

/** Asks both in turn, `rounds` times after a warm-up, and gives the median seconds of each. */
async function duel(
  us: Side,
  them: Side | undefined,
  request: { command: string; [key: string]: unknown },
  rounds: number,
): Promise<[number, number | null]> {
  const times: [number[], number[]] = [[], []];
  for (let round = -1; round < rounds; round++) {
    for (const [index, side] of [us, them].entries()) {
      const answer = await side?.ask(timed, request);
      if (round >= 0) times[index]?.push(...(answer?.seconds ?? []));
    }
  }
  return [median(times[0]), them ? median(times[1]) : null];
}

async function benchSteps(python: string | undefined, rows: BenchRow[]): Promise<void> {
  for (const { name, config, batch, goal, rounds, count } of STEPS) {
    await withSides(python, async (us, them) => {
      process.stderr.write(`${name} …\n`);
      const request = { command: 'train', config, batch, length: config.contextLength };
      const parameters: number[] = [];
      for (const side of [us, them]) if (side) parameters.push((await side.ask(z.object({ parameters: z.number() }), request)).parameters);
      if (new Set(parameters).size > 1) throw new Error(`The two models differ: ${parameters.join(' and ')} parameters`);
      const [mine, theirs] = await duel(us, them, { command: 'step', count }, rounds);
      rows.push({ name, ours: mine * 1e3, peer: theirs === null ? null : theirs * 1e3, unit: 'ms', better: 'lower', goal });

      const memory: number[] = [];
      for (const side of [us, them])
        if (side) memory.push((await side.ask(z.object({ peakBytes: z.number() }), { command: 'memory' })).peakBytes / 1e6);
      rows.push({
        name: `peak memory, ${name.split(', ')[1]}`,
        ours: memory[0] ?? 0,
        peer: memory[1] ?? null,
        unit: 'MB',
        better: 'lower',
        goal: 1,
      });

      const [ourGemm, theirGemm] = await duel(us, them, { command: 'gemm', size: 1024, count: 5 }, 3);
      const peak = (2 * 1024 ** 3) / Math.min(ourGemm, theirGemm ?? ourGemm);
      const share = (seconds: number): number => (100 * stepFlops(config, batch)) / seconds / peak;
      const gigaflops = (peak / 1e9).toFixed(0);
      rows.push({
        name: `share of the machine's Gemm peak (${gigaflops} GFLOPS), ${name.split(', ')[1]}`,
        ours: share(mine),
        peer: theirs === null ? null : share(theirs),
        unit: '%',
        better: 'higher',
        goal: null,
      });
    });
  }
}

async function benchSampling(python: string | undefined, rows: BenchRow[]): Promise<void> {
  await withSides(python, async (us, them) => {
    for (const { batch, goal } of SAMPLES) {
      process.stderr.write(`sampling, batch ${batch} …\n`);
      const request = { command: 'sample', config: SMALL, batch, length: SMALL.contextLength };
      const [mine, theirs] = await duel(us, them, request, batch === 64 ? 5 : 9);
      const { tokens } = await us.ask(sampled, request);
      rows.push({
        name: `sampling, batch ${batch}`,
        ours: tokens / mine,
        peer: theirs === null ? null : tokens / theirs,
        unit: 'tokens/s',
        better: 'higher',
        goal,
      });
    }
  });
}

const python = findPython();
const rows: BenchRow[] = [];
if (options.only !== 'sampling') await benchSteps(python, rows);
if (options.only !== 'steps') await benchSampling(python, rows);
report(rows, describePeer(python, THREADS));
