// Our side of `npm run bench -- engine`: the same commands as engine_peer.py, one JSON object per line. The training step is
// the lab's own (cross-entropy over every position as the loss), the sampler is the one that plays episodes.

import { createInterface } from 'node:readline';
import { z } from 'zod';
import { Graph } from '../../main/engine/graph/graph.ts';
import { matmul } from '../../main/engine/graph/operators.ts';
import { Session, float } from '../../main/engine/runtime/session.ts';
import { Sampler } from '../../main/policy/sampling/sampler.ts';
import { modelLayout } from '../../main/policy/transformer/transformer.ts';
import type { ModelConfig } from '../../main/policy/transformer/transformer.ts';
import { Random } from '../../main/base/random.ts';
import { Monologue } from './monologue.ts';
import { type StepCase, stepCase } from './step-case.ts';

const config = z.object({
  vocabulary: z.number(),
  width: z.number(),
  layers: z.number(),
  heads: z.number(),
  feedForward: z.number(),
  gate: z.enum(['swiglu', 'relu', 'relu2', 'silu']),
  contextLength: z.number(),
  valueHead: z.boolean(),
  aids: z.object({ matchFlag: z.boolean(), pointer: z.boolean(), tokenShift: z.number() }),
});
const request = z.discriminatedUnion('command', [
  z.object({ command: z.literal('hello'), threads: z.number() }),
  z.object({ command: z.literal('train'), config, batch: z.number(), length: z.number() }),
  z.object({ command: z.literal('step'), count: z.number() }),
  z.object({ command: z.literal('sample'), config, batch: z.number(), length: z.number() }),
  z.object({ command: z.literal('gemm'), size: z.number(), count: z.number() }),
  z.object({ command: z.literal('memory') }),
]);

let threads = 1;
let training: StepCase | undefined;
let sampling: { key: string; sampler: Sampler } | undefined;
let product: { session: Session; feeds: Parameters<Session['run']>[0] } | undefined;

const random = Random.from('bench');
const startOf = (model: ModelConfig) => modelLayout(model).initialise(() => random.normal());

function train(model: ModelConfig, rows: number, length: number): object {
  training = stepCase(model, rows, length, { threads });
  return { parameters: training.parameters };
}

async function step(count: number): Promise<object> {
  if (!training) throw new Error('train comes before step');
  const seconds: number[] = [];
  let loss = 0;
  for (let i = 0; i < count; i++) {
    const begin = performance.now();
    ({ loss } = await training.trainer.step(training.batches, 1e-3));
    seconds.push((performance.now() - begin) / 1e3);
  }
  return { seconds, loss };
}

async function sample(model: ModelConfig, batch: number, length: number): Promise<object> {
  const key = JSON.stringify([model, batch]);
  if (sampling?.key !== key) {
    await sampling?.sampler.dispose();
    sampling = { key, sampler: new Sampler(model, startOf(model), { capacity: batch, threads }) };
  }
  const begin = performance.now();
  const episodes = Array.from({ length: batch }, (_, seed) => new Monologue(seed, length));
  await sampling.sampler.run(episodes);
  return { seconds: [(performance.now() - begin) / 1e3], tokens: batch * length };
}

async function gemm(size: number, count: number): Promise<object> {
  if (!product) {
    const graph = new Graph('gemm');
    const [a, b] = ['a', 'b'].map((name) => graph.input(name, 'float32', [size, size]));
    if (a && b) graph.output('c', matmul(a, b));
    const matrix = (): Float32Array => Float32Array.from({ length: size * size }, () => random.next());
    const feeds = { a: float(matrix(), [size, size]), b: float(matrix(), [size, size]) };
    product = { session: await Session.create(graph, { threads }), feeds };
  }
  const seconds: number[] = [];
  for (let i = 0; i < count; i++) {
    const begin = performance.now();
    await product.session.run(product.feeds);
    seconds.push((performance.now() - begin) / 1e3);
  }
  return { seconds };
}

async function answer(line: string): Promise<object> {
  const asked = request.parse(JSON.parse(line));
  switch (asked.command) {
    case 'hello':
      threads = asked.threads;
      return { name: 'Astrolab', threads };
    case 'train':
      return train(asked.config, asked.batch, asked.length);
    case 'step':
      return step(asked.count);
    case 'sample':
      return sample(asked.config, asked.batch, asked.length);
    case 'gemm':
      return gemm(asked.size, asked.count);
    case 'memory':
      return { peakBytes: process.resourceUsage().maxRSS * 1024 };
  }
}

for await (const line of createInterface({ input: process.stdin })) process.stdout.write(`${JSON.stringify(await answer(line))}\n`);
