// What the benchmarks against PyTorch share: each side is a child process that answers JSON lines and is stopped while the
// other works, because its waiting threads would spin on the other's cores; and the newest PyTorch is found. Nothing is installed.

import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
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

/** A Python that can import PyTorch. */
export interface Python {
  readonly path: string;
  readonly version: string;
  /** How its users run a model: as written, and compiled. The better one counts. */
  readonly modes: readonly string[];
}

const MODES = ['eager', 'compiled'] as const;
/** Fused attention came with 2.0, fused AdamW on a CPU with 2.4. */
const OLDEST = [2, 4] as const;

/** The newest PyTorch among ASTROLAB_PYTHON, a virtual environment in .cache/torch and the system's; undefined: none is new enough. */
export function findPython(): Python | undefined {
  const own = join(import.meta.dirname, '..', '..', '.cache', 'torch', 'bin', 'python');
  const found = [process.env.ASTROLAB_PYTHON, own, '/usr/bin/python3', 'python3', 'python'].flatMap((path) => {
    if (path === undefined) return [];
    const { status, stdout } = spawnSync(path, ['-c', 'import torch; print(torch.__version__)'], { encoding: 'utf8' });
    return status === 0 ? [{ path, version: stdout.trim(), modes: MODES }] : [];
  });
  const number = ({ version }: Python): number => {
    const [major = 0, minor = 0] = version.split('.').map((part) => Number.parseInt(part, 10));
    return major * 1000 + minor;
  };
  return found.filter((python) => number(python) >= OLDEST[0] * 1000 + OLDEST[1]).sort((a, b) => number(b) - number(a))[0];
}

/** PyTorch's side: a Python file of this folder. */
export function startPeer(python: Python, file: string, threads: number): Side {
  return new Side('PyTorch', python.path, [join(import.meta.dirname, file)], {
    OMP_NUM_THREADS: String(threads),
    PYTHONDONTWRITEBYTECODE: '1',
    MALLOC_TRIM_THRESHOLD_: '1000000000', // keeps freed memory, without which PyTorch asks the system for it every step
    MALLOC_MMAP_THRESHOLD_: '1000000000',
  });
}

/** What was measured against, for the report. */
export function describePeer(python: Python | undefined, threads: number): string {
  if (python !== undefined)
    return `PyTorch ${python.version}, ${threads} threads; each row against the best of its modes (${python.modes.join(', ')})`;
  return `none: no Python with PyTorch ${OLDEST.join('.')} or newer was found. python3 -m venv .cache/torch && .cache/torch/bin/pip install torch makes one; ASTROLAB_PYTHON=… names another`;
}
