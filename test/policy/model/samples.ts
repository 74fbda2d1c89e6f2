// What the tests of language models share: the golden folders, a temporary folder, and hand-made model files.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

export const GOLDEN = ['tiny-llama', 'tiny-qwen2', 'tiny-qwen3', 'tiny-qwen2-bf16-shards'] as const;

export const goldenFolder = (name: string): string => fileURLToPath(new URL(`../../golden/llm/${name}`, import.meta.url));

export function goldenJson(name: string, file: string): unknown {
  return JSON.parse(readFileSync(join(goldenFolder(name), file), 'utf8'));
}

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'astrolab-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A safetensors file with this header and so many bytes of zeros after it. */
export function writeHeader(file: string, header: unknown, bytes: number): void {
  const text = typeof header === 'string' ? header : JSON.stringify(header);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(Buffer.byteLength(text)));
  writeFileSync(file, Buffer.concat([length, Buffer.from(text), Buffer.alloc(bytes)]));
}
