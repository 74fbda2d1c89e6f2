// Sessions by name, made when first asked for. Every shape of a batch is a session of its own with memory of its own, so
// only so many are kept: the one unused for longest goes. Tiny graphs run in one thread, because waking a second one for every
// operator costs more than it does; all others forgo planned memory, which would hold 1.6 times as much (see session.ts).

import { peakBytes } from './memory.ts';
import { Session } from './session.ts';
import type { SessionOptions } from './session.ts';
import type { StepGraph } from './training-graphs.ts';

/** Measured: at 2 MB one thread is 8% faster, at 8 MB two are 24% faster. */
const TINY_BYTES = 4e6;

export interface Program {
  readonly session: Session;
  /** Names of the numbers in its report, after loss and norm. */
  readonly metrics: readonly string[];
}

export class ProgramCache {
  readonly #options: SessionOptions;
  readonly #limit: number;
  readonly #programs = new Map<string, Program>();

  constructor(options: SessionOptions, limit: number) {
    this.#options = options;
    this.#limit = limit;
  }

  get size(): number {
    return this.#programs.size;
  }

  async get(key: string, build: () => StepGraph): Promise<Program> {
    const known = this.#programs.get(key);
    if (known) {
      this.#programs.delete(key);
      this.#programs.set(key, known);
      return known;
    }
    const [oldest] = this.#programs;
    if (oldest && this.#programs.size >= this.#limit) {
      this.#programs.delete(oldest[0]);
      await oldest[1].session.dispose();
    }
    const { graph, metrics } = build();
    const keepOnDevice = this.#options.target === 'gpu' ? [...graph.outputs.keys()].filter((name) => name.startsWith('next.')) : [];
    const fitting = peakBytes(graph) < TINY_BYTES ? { threads: 1 } : { plannedMemory: false };
    const program = { session: await Session.create(graph, { ...this.#options, ...fitting, keepOnDevice }), metrics };
    this.#programs.set(key, program);
    return program;
  }

  async dispose(): Promise<void> {
    for (const { session } of this.#programs.values()) await session.dispose();
    this.#programs.clear();
  }
}
