// The sessions of training graphs. Tiny graphs run in one thread, because waking a second one for every operator costs more than it
// saves; all others forgo planned memory, which would hold 1.6 times as much (see session.ts).

import { laneNumber, laneThreads, lanesOf } from './lanes.ts';
import { peakBytes } from '../graph/memory.ts';
import { type MemoryPool, type Planned, SessionCache } from './session-cache.ts';
import { Session } from './session.ts';
import type { SessionOptions } from './session.ts';
import type { StepGraph } from '../graph/training-graphs.ts';

/** Measured: at 2 MB one thread is 8% faster, at 8 MB two are 24% faster. */
const TINY_BYTES = 4e6;
/** What a session holds for every byte alive at once in its graph. Measured: 1.25 (300 MB) to 2 (20 MB), because the runtime's arena grows in powers of two. */
const ARENA = 1.4;

export interface Program {
  readonly session: Session;
  /** Names of the numbers in its report, after loss and norm. */
  readonly metrics: readonly string[];
  dispose(): Promise<void>;
}

export class ProgramCache {
  readonly #options: SessionOptions;
  readonly #most: number | undefined;
  readonly #programs: SessionCache<Program>;

  /** `most`: lanes at most, which share all threads; missing: one for every thread. */
  constructor(options: SessionOptions, limit: number, pool?: MemoryPool, most?: number) {
    this.#options = options;
    this.#most = most;
    this.#programs = new SessionCache(limit, pool);
  }

  /** How many micro-batches may be computed side by side: what the session may have of threads. */
  get lanes(): number {
    const { target = 'cpu', threads, extra } = this.#options;
    return target === 'cpu' && !extra ? lanesOf(threads, this.#most) : 1;
  }

  get(key: string, build: () => StepGraph): Promise<Program> {
    return this.#programs.get(key, this.#plan(build));
  }

  /** Makes use of a program, which stays until then. `lane`: the number of the thread that it lives in; each has sessions of its own. */
  use<R>(key: string, build: () => StepGraph, lane: number | undefined, body: (program: Program) => Promise<R>): Promise<R> {
    return this.#programs.use(lane === undefined ? key : `${key} in lane ${lane}`, this.#plan(build, lane), body);
  }

  #plan(build: () => StepGraph, lane?: number): () => Planned<Program> {
    return () => {
      const { graph, metrics } = build();
      const bytes = peakBytes(graph);
      const beside = lane !== undefined && { threads: laneThreads(this.#options.threads, this.#most), lane: laneNumber(lane) };
      const fitting = bytes < TINY_BYTES ? { threads: 1 } : { plannedMemory: false };
      const create = async (): Promise<Program> => {
        const session = await Session.create(graph, { ...this.#options, ...fitting, ...beside });
        return { session, metrics, dispose: () => session.dispose() };
      };
      return { bytes: ARENA * bytes, create };
    };
  }

  async dispose(): Promise<void> {
    await this.#programs.dispose();
  }
}
