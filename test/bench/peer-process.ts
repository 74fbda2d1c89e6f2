// What the benchmarks against PyTorch share: each side is a child process that answers JSON lines and is stopped while the
// other works, because its waiting threads would spin on the other's cores; and PyTorch is found and set up as well as it
// can be on a CPU. Nothing is installed.

import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { z } from 'zod';

/** One of the two competitors: a process that answers JSON lines and sleeps while it is not asked. */
export class Side {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<string>;
  readonly #name: string;
  #errors = '';

  constructor(name: string, command: string, args: readonly string[], environment: NodeJS.ProcessEnv) {
    this.#name = name;
    this.#child = spawn(command, args, { env: { ...process.env, ...environment } });
    this.#child.stderr.on('data', (data) => (this.#errors = (this.#errors + String(data)).slice(-2000)));
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  async ask<T>(schema: z.ZodType<T>, request: { command: string; [key: string]: unknown }): Promise<T> {
    this.#signal('SIGCONT');
    this.#child.stdin.write(`${JSON.stringify(request)}\n`);
    const { value, done } = await this.#lines.next();
    if (done) throw new Error(`${this.#name} ended while asked to ${request.command}: ${this.#errors.trim()}`);
    this.#signal('SIGSTOP');
    return schema.parse(JSON.parse(value));
  }

  close(): void {
    this.#signal('SIGCONT');
    this.#child.stdin.end();
    this.#child.kill();
  }

  #signal(signal: 'SIGCONT' | 'SIGSTOP'): void {
    if (process.platform !== 'win32') this.#child.kill(signal);
  }
}

/** Our side: a TypeScript file of this folder. */
export function startOurs(file: string): Side {
  return new Side('Our side', process.execPath, [join(import.meta.dirname, file)], { NODE_NO_WARNINGS: '1', ORT_DISABLE_TELEMETRY: '1' });
}

/** The interpreter that can import torch, if there is one. */
export function findPython(): string | undefined {
  const candidates = [process.env.ASTROLAB_PYTHON, '/usr/bin/python3', 'python3', 'python'].filter((name) => name !== undefined);
  return candidates.find((python) => spawnSync(python, ['-c', 'import torch']).status === 0);
}

/** PyTorch's side: a Python file of this folder. */
export function startPeer(python: string, file: string, threads: number): Side {
  return new Side('PyTorch', python, [join(import.meta.dirname, file)], {
    OMP_NUM_THREADS: String(threads),
    PYTHONDONTWRITEBYTECODE: '1',
    MALLOC_TRIM_THRESHOLD_: '1000000000', // keeps freed memory, without which PyTorch asks the system for it every step
    MALLOC_MMAP_THRESHOLD_: '1000000000',
    // OpenBLAS as Debian builds it does not always choose its AVX-512 kernels by itself.
    ...(hasAvx512() ? { OPENBLAS_CORETYPE: 'SkylakeX' } : {}),
  });
}

function hasAvx512(): boolean {
  return process.platform === 'linux' && readFileSync('/proc/cpuinfo', 'utf8').includes('avx512dq');
}

/** What was measured against, for the report. */
export function describePeer(python: string | undefined, threads: number): string {
  if (python === undefined) return 'none: no Python with PyTorch was found (Debian: apt-get install python3-torch libopenblas0-openmp)';
  const version = spawnSync(python, ['-c', 'import torch; print(torch.__version__)'], { encoding: 'utf8' }).stdout.trim();
  return `PyTorch ${version}, ${threads} threads, OpenBLAS${hasAvx512() ? ' SkylakeX' : ''}`;
}
