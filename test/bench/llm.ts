// `npm run bench -- llm`: language models against their peers in the same run: sampling against llama.cpp (node-llama-cpp) at equal bits, the LoRA step
// against PyTorch with transformers and PEFT. Weights are random in the shapes of real models. Each side is a process of its own; the idle ones are stopped.

import { join } from 'node:path';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { type BenchPrecision, type ModelName, PRECISIONS, ggufFile, makeModels, modelFolder } from './llm-models.ts';
import { type Python, Side, findPython, startOurs, startPeer } from './peer-process.ts';
import { median, report } from './report.ts';
import type { BenchRow } from './report.ts';

const { values: options } = parseArgs({
  options: {
    json: { type: 'boolean' },
    /** `sampling` or `steps` alone. */
    only: { type: 'string' },
    /** One model alone. */
    model: { type: 'string' },
    /** Sampling in one of f32, int8 and int4 alone. */
    precision: { type: 'string' },
    /** As few repetitions as show that it works, f32 alone; its times are not to be quoted. */
    quick: { type: 'boolean', default: false },
    /** torch.compile as a second mode of the peer; it compiles for minutes. */
    compiled: { type: 'boolean', default: false },
    threads: { type: 'string', default: String(Math.min(8, availableParallelism())) },
  },
});
const THREADS = Number(options.threads);
const ROUNDS = options.quick ? 1 : 3;
const MODELS = (['smollm2-135m', 'qwen2.5-0.5b'] as const).filter((name) => options.model === undefined || options.model === name);
const BATCHES = [
  { batch: 1, goal: 1.3, length: options.quick ? 8 : 48 },
  { batch: 16, goal: 2, length: options.quick ? 4 : 16 },
];
const CHOSEN = (options.quick ? (['f32'] as const) : (['f32', 'int8', 'int4'] as const)).filter(
  (precision) => options.precision === undefined || options.precision === precision,
);
if (CHOSEN.length === 0) throw new Error(`--precision ${options.precision}: there are f32, int8 and int4, with --quick f32 alone`);
const STEP = { rows: 4, length: 256, agent: 64 };

const ready = z.object({ threads: z.number() });
const timed = z.object({ seconds: z.array(z.number()) });
const sampled = timed.extend({ tokens: z.number() });
const rows: BenchRow[] = [];

const say = (text: string): void => void process.stderr.write(`${text} …\n`);

async function using<T>(side: Side, body: (side: Side) => Promise<T>): Promise<T> {
  try {
    await side.ask(ready, { command: 'hello', threads: THREADS });
    return await body(side);
  } finally {
    side.close();
  }
}

const startLlama = (): Side =>
  new Side('llama.cpp', process.execPath, [join(import.meta.dirname, 'llm-llama.ts')], { NODE_NO_WARNINGS: '1' });

async function speed(side: Side, request: { command: string; [key: string]: unknown }): Promise<number> {
  const { seconds, tokens } = await side.ask(sampled, request);
  return tokens / (seconds[0] ?? Number.NaN);
}

async function benchSampling(
  model: ModelName,
  precision: BenchPrecision,
  { batch, goal, length }: (typeof BATCHES)[number],
): Promise<void> {
  say(`sampling, ${model}, ${precision}, batch ${batch}`);
  await using(startOurs('llm-ours.ts'), (us) =>
    using(startLlama(), async (llama) => {
      const format = PRECISIONS[precision];
      const { seconds } = await us.ask(timed, { command: 'load', model, precision, batch });
      await llama.ask(timed, { command: 'load', file: ggufFile(model, format), batch });
      const ours: number[] = [];
      const theirs = { greedy: [] as number[], 'top 40': [] as number[] };
      for (let round = -1; round < ROUNDS; round++) {
        const mine = await speed(us, { command: 'sample', length });
        if (round >= 0) ours.push(mine);
        for (const mode of ['greedy', 'top 40'] as const) {
          const other = await speed(llama, { command: 'sample', length, mode });
          if (round >= 0) theirs[mode].push(other);
        }
      }
      const [greedy, drawn] = [median(theirs.greedy), median(theirs['top 40'])];
      rows.push({
        name: `sampling, ${model}, ${precision}, batch ${batch}`,
        ours: median(ours),
        peer: Math.max(greedy, drawn),
        mode: `llama.cpp ${format}, ${greedy > drawn ? 'greedy' : 'top 40'}`,
        unit: 'tokens/s',
        better: 'higher',
        goal,
      });
      if (batch !== 1 || precision !== 'f32') return;
      const { bytes } = await us.ask(z.object({ bytes: z.number() }), { command: 'second' });
      rows.push({
        name: `a second session, ${model}`,
        ours: bytes / 1e6,
        peer: null,
        unit: 'MB',
        better: 'lower',
        goal: 50,
        absolute: true,
      });
      const goalSeconds = model === 'qwen2.5-0.5b' ? 5 : null;
      const loading = { name: `loading to the first token, ${model}`, ours: seconds[0] ?? 0, peer: null, unit: 's' };
      rows.push({ ...loading, better: 'lower', goal: goalSeconds, absolute: true });
    }),
  );
}

interface Measured {
  readonly mode: string;
  readonly seconds: number;
  readonly megabytes: number;
}

/** One side alone, so that the peak memory is that of this work. */
async function measureStep(side: Side, mode: string, request: { command: string; [key: string]: unknown }): Promise<Measured> {
  return using(side, async () => {
    if (mode === 'compiled') await side.ask(ready, { command: 'hello', threads: THREADS, mode });
    await side.ask(z.object({ parameters: z.number() }), request);
    await side.ask(timed, { command: 'step', count: 1 });
    const { seconds } = await side.ask(timed, { command: 'step', count: ROUNDS });
    const { peakBytes } = await side.ask(z.object({ peakBytes: z.number() }), { command: 'memory' });
    return { mode, seconds: median(seconds), megabytes: peakBytes / 1e6 };
  });
}

async function benchStep(model: ModelName, python: Python | undefined, recompute: boolean): Promise<void> {
  const how = recompute ? 'layers computed again' : 'LoRA step';
  say(`${how}, ${model}`);
  const ours = await measureStep(startOurs('llm-ours.ts'), 'ours', { command: 'train', model, ...STEP, recompute });
  const theirs: Measured[] = [];
  for (const mode of python ? ['eager', ...(options.compiled ? ['compiled'] : [])] : []) {
    if (!python) break;
    const request = { command: 'train', folder: modelFolder(model), ...STEP, recompute };
    theirs.push(await measureStep(startPeer(python, 'llm_peer.py', THREADS), mode, request));
  }
  const fastest = theirs.toSorted((a, b) => a.seconds - b.seconds)[0];
  const leanest = theirs.toSorted((a, b) => a.megabytes - b.megabytes)[0];
  const name = `${how}, ${model}, 4 × 256 tokens, rank 16`;
  rows.push({
    name,
    ours: ours.seconds,
    peer: fastest?.seconds ?? null,
    mode: fastest?.mode,
    unit: 's',
    better: 'lower',
    goal: recompute ? null : 0.9,
  });
  rows.push({
    name: `peak memory, ${how}, ${model}`,
    ours: ours.megabytes,
    peer: leanest?.megabytes ?? null,
    mode: leanest?.mode,
    unit: 'MB',
    better: 'lower',
    goal: recompute ? null : 0.6,
  });
}

/** What fails is reported and left out, so that the rest has its table. */
async function attempt(name: string, body: () => Promise<void>): Promise<void> {
  try {
    await body();
  } catch (error) {
    process.exitCode = 1;
    say(`${name} failed and is left out: ${error instanceof Error ? error.message : String(error)}`);
  }
}

const sampling = options.only !== 'steps';
makeModels(MODELS, sampling ? CHOSEN.map((precision) => PRECISIONS[precision]) : [], say);
const python = findPython();
if (sampling) {
  for (const model of MODELS)
    for (const precision of CHOSEN)
      for (const batch of BATCHES) await attempt(`sampling, ${model}, ${precision}`, () => benchSampling(model, precision, batch));
}
if (options.only !== 'sampling') {
  for (const model of MODELS)
    for (const recompute of options.quick ? [false] : [false, true])
      await attempt(`step, ${model}`, () => benchStep(model, python, recompute));
}
const torch = python ? `PyTorch ${python.version} with transformers and PEFT` : 'no PyTorch was found (ASTROLAB_PYTHON=…)';
report(rows, `llama.cpp through node-llama-cpp 3.22, the faster of greedy and top 40; ${torch}; ${THREADS} threads`);
