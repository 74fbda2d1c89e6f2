// Our side of `npm run bench -- llm`: JSON lines in, JSON lines out. Sampling is the sampler that plays episodes, the LoRA step the trainer of runs.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { neg } from '../../main/engine/graph/operators.ts';
import { Trainer, freshState } from '../../main/engine/runtime/training-step.ts';
import type { MicroBatch } from '../../main/engine/runtime/training-step.ts';
import { PackedBatch } from '../../main/policy/transformer/batch.ts';
import { TARGETS } from '../../main/policy/model/adapter.ts';
import { modelNetwork } from '../../main/policy/model/model-network.ts';
import { ModelRegistry } from '../../main/policy/model/files/registry.ts';
import { policyObjective } from '../../main/policy/transformer/network.ts';
import type { PolicyNetwork } from '../../main/policy/transformer/network.ts';
import { Sampler } from '../../main/policy/sampling/sampler.ts';
import { privateBytes as anonymousBytes } from '../../main/training/batching/session-pool.ts';
import { Random } from '../../main/base/random.ts';
import { benchFolder } from './llm-models.ts';
import { Monologue } from './monologue.ts';

const request = z.discriminatedUnion('command', [
  z.object({ command: z.literal('hello'), threads: z.number() }),
  z.object({ command: z.literal('load'), model: z.string(), precision: z.enum(['f32', 'int8', 'int4']), batch: z.number() }),
  z.object({ command: z.literal('sample'), length: z.number() }),
  z.object({ command: z.literal('second') }),
  z.object({
    command: z.literal('train'),
    model: z.string(),
    rows: z.number(),
    length: z.number(),
    agent: z.number(),
    recompute: z.boolean(),
  }),
  z.object({ command: z.literal('step'), count: z.number() }),
  z.object({ command: z.literal('memory') }),
]);

const LORA = { rank: 16, alpha: 32, targets: [...TARGETS] };
const random = Random.from('bench-llm');
let threads = 1;
let loaded: { network: PolicyNetwork; sampler: Sampler; batch: number } | undefined;
let training: { trainer: Trainer; batches: MicroBatch[]; mapped: number } | undefined;
/** The most that a step held: memory of this process alone, and the weights, which are in memory once though every session maps them. */
let peak = 0;

const open = (model: string, precision: 'f32' | 'int8' | 'int4', trained: typeof LORA | 'none') =>
  modelNetwork({ ...new ModelRegistry(join(benchFolder, 'data')).open(model, precision), trained, contextLength: 512, precision });

/** From nothing to the first token of each row. */
async function load(model: string, precision: 'f32' | 'int8' | 'int4', batch: number): Promise<object> {
  await loaded?.sampler.dispose();
  open(model, precision, 'none'); // the converted file is made once and not counted
  const begin = performance.now();
  const network = open(model, precision, 'none');
  loaded = { network, sampler: new Sampler(network, network.layout.zeros(), { capacity: batch, threads }), batch };
  await sample(1);
  return { seconds: [(performance.now() - begin) / 1e3] };
}

async function sample(length: number): Promise<object> {
  if (!loaded) throw new Error('load comes before sample');
  const { sampler, batch } = loaded;
  const begin = performance.now();
  await sampler.run(Array.from({ length: batch }, (_, seed) => new Monologue(seed, length)));
  return { seconds: [(performance.now() - begin) / 1e3], tokens: batch * length };
}

/** Memory that is this process's alone: what is mapped from a file belongs to nobody. */
function privateBytes(): number {
  const text = readFileSync('/proc/self/smaps_rollup', 'utf8');
  const kilobytes = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? Number.NaN);
  return 1024 * (kilobytes('Private_Dirty') + kilobytes('Swap'));
}

/** What a second session of the same model costs, after its first tokens. */
async function second(): Promise<object> {
  if (!loaded) throw new Error('load comes before second');
  const { network } = loaded;
  const before = privateBytes();
  const sampler = new Sampler(network, network.layout.zeros(), { capacity: 1, threads });
  await sampler.run([new Monologue(1, 8)]);
  const after = privateBytes();
  await sampler.dispose();
  return { bytes: after - before };
}

function train(model: string, rows: number, length: number, agent: number, recompute: boolean): object {
  const network = open(model, 'f32', LORA);
  const mask = { allowed: new Int32Array(0) };
  const episodes = Array.from({ length: rows }, () => {
    const tokens = Array.from({ length: length + 1 }, () => random.below(40_000));
    const places = Array.from({ length: agent }, (_, i) => length - agent + i);
    return [
      { tokens, flags: tokens.map(() => 0), agent: places.map((position) => ({ position, target: tokens[position + 1] ?? 0, mask })) },
    ];
  });
  // As the lab cuts an update: lanes share its rows.
  const lanes = network.lanes ?? 1;
  const share = rows / lanes;
  const shape = { rows: share, time: length, agentTokens: agent, masks: 0, episodes: share };
  const state = freshState(
    network.layout,
    network.layout.initialise(() => random.normal()),
  );
  const build = policyObjective(network, shape, { recompute }, (_graph, policy) => ({ loss: neg(policy.tokenMean(policy.logProbs)) }));
  const batches = Array.from({ length: lanes }, (_, lane) => {
    const packed = new PackedBatch(episodes.slice(lane * share, (lane + 1) * share), network, shape);
    return { key: 'bench', build, feeds: { ...packed.feeds, ...PackedBatch.divisors(rows, rows * agent) } };
  });
  const trainer = new Trainer({ layout: network.layout, state, session: { threads, spinning: false }, lanes });
  training = { trainer, batches, mapped: network.mappedBytes ?? 0 };
  return { parameters: network.layout.count };
}

async function step(count: number): Promise<object> {
  if (!training) throw new Error('train comes before step');
  const { trainer, batches, mapped } = training;
  const seconds: number[] = [];
  const look = (): void => void (peak = Math.max(peak, anonymousBytes() + mapped));
  const looking = setInterval(look, 20);
  for (let i = 0; i < count; i++) {
    const begin = performance.now();
    await trainer.step(batches, 1e-4);
    seconds.push((performance.now() - begin) / 1e3);
    look();
  }
  clearInterval(looking);
  return { seconds };
}

async function answer(line: string): Promise<object> {
  const asked = request.parse(JSON.parse(line));
  switch (asked.command) {
    case 'hello':
      threads = asked.threads;
      return { threads };
    case 'load':
      return load(asked.model, asked.precision, asked.batch);
    case 'sample':
      return sample(asked.length);
    case 'second':
      return second();
    case 'train':
      return train(asked.model, asked.rows, asked.length, asked.agent, asked.recompute);
    case 'step':
      return step(asked.count);
    case 'memory':
      return { peakBytes: peak };
  }
}

for await (const line of createInterface({ input: process.stdin })) process.stdout.write(`${JSON.stringify(await answer(line))}\n`);
