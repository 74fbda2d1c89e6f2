// llama.cpp's side of `npm run bench -- llm`, through node-llama-cpp in Electron's Node as ours: JSON lines in, JSON lines out.

import { createInterface } from 'node:readline';
import { z } from 'zod';
import { openLlama } from '../peers/peers.ts';
import type { LlamaContext, LlamaSequence } from '../peers/peers.ts';

const request = z.discriminatedUnion('command', [
  z.object({ command: z.literal('hello'), threads: z.number() }),
  z.object({ command: z.literal('load'), file: z.string(), batch: z.number() }),
  z.object({ command: z.literal('sample'), length: z.number(), mode: z.enum(['greedy', 'top 40']) }),
]);

const llama = await openLlama();
let threads = 1;
let loaded: { context: LlamaContext; sequences: LlamaSequence[] } | undefined;

async function load(file: string, batch: number): Promise<object> {
  const begin = performance.now();
  const model = await llama.loadModel({ modelPath: file });
  const context = await model.createContext({ sequences: batch, contextSize: 256, batchSize: Math.max(64, batch), threads });
  loaded = { context, sequences: Array.from({ length: batch }, () => context.getSequence()) };
  await sample(1, 'greedy');
  return { seconds: [(performance.now() - begin) / 1e3] };
}

/** All rows at once; node-llama-cpp puts what they ask for into one batch. */
async function sample(length: number, mode: 'greedy' | 'top 40'): Promise<object> {
  if (!loaded) throw new Error('load comes before sample');
  const options = mode === 'greedy' ? { temperature: 0 } : { temperature: 1, topK: 40, topP: 1, minP: 0 };
  const { sequences } = loaded;
  for (const sequence of sequences) await sequence.clearHistory();
  const begin = performance.now();
  await Promise.all(
    sequences.map(async (sequence, row) => {
      const said = sequence.evaluate([1 + row], options);
      for (let count = 0; count < length; count++) await said.next();
      await said.return(undefined);
    }),
  );
  return { seconds: [(performance.now() - begin) / 1e3], tokens: sequences.length * length };
}

async function answer(line: string): Promise<object> {
  const asked = request.parse(JSON.parse(line));
  switch (asked.command) {
    case 'hello':
      threads = asked.threads;
      return { threads };
    case 'load':
      return load(asked.file, asked.batch);
    case 'sample':
      return sample(asked.length, asked.mode);
  }
}

for await (const line of createInterface({ input: process.stdin })) process.stdout.write(`${JSON.stringify(await answer(line))}\n`);
