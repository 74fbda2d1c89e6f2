// Sessions side by side: each lane is a thread with sessions of one thread each. Two lanes that each compute a micro-batch finish sooner than
// one session with two threads that computes both: half of a step's operators run in one thread whatever the session has, and the others
// wait for each other at every operator. Results do not depend on the number of lanes, because whoever asks adds them up in order.
// Left out on purpose: devices. A lane that ends unexpectedly (it ran out of memory) fails what it was asked.

import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { InferenceSession } from 'onnxruntime-node';
import { z } from 'zod';
import { projectFolder } from '../../base/paths.ts';
import type { AdamWFactors, AdamWVectors } from '../kernels/vectors.ts';
import { OutOfMemoryError } from './errors.ts';

/** A value as it travels between threads: shared memory is shared, everything else is copied or handed over. */
export interface PlainValue {
  readonly type: string;
  readonly data: ArrayBufferView;
  readonly dims: readonly number[];
}
export type PlainValues = Readonly<Record<string, PlainValue>>;

/** What a lane is asked to do, numbered. */
export type LaneRequest =
  | { readonly id: number; readonly kind: 'create'; readonly session: number; readonly model: Uint8Array; readonly options: object }
  | {
      readonly id: number;
      readonly kind: 'run';
      readonly session: number;
      readonly feeds: PlainValues;
      readonly wanted: readonly string[];
      /** Results in shared memory, which are written and not handed back. */
      readonly given: PlainValues;
    }
  | { readonly id: number; readonly kind: 'bind'; readonly session: number; readonly feeds: PlainValues }
  | { readonly id: number; readonly kind: 'release'; readonly session: number }
  | {
      readonly id: number;
      readonly kind: 'load';
      readonly program: number;
      readonly module: WebAssembly.Module;
      readonly kernel: string;
      readonly memory: WebAssembly.Memory;
    }
  | { readonly id: number; readonly kind: 'assist'; readonly program: number; readonly control: Int32Array }
  | { readonly id: number; readonly kind: 'unload'; readonly program: number }
  | { readonly id: number; readonly kind: 'adamW'; readonly vectors: AdamWVectors; readonly factors: AdamWFactors };

const answer = z.object({
  id: z.number(),
  error: z.string().optional(),
  names: z.array(z.string()).optional(),
  results: z.record(z.string(), z.custom<PlainValue>()).optional(),
});
type Answer = z.infer<typeof answer>;
export type LaneAnswer = Answer;

type Asked<T> = T extends LaneRequest ? Omit<T, 'id'> : never;

/** The thread beside this code: the source when this is the source, the bundle when this is the bundle. */
function threadFile(): string {
  return import.meta.url.endsWith('.ts')
    ? join(projectFolder(), 'main/engine/runtime/lane-thread.ts')
    : join(projectFolder(), 'out/main/engine-lane.js');
}

/** The code of the error with which a thread ends whose heap is full. */
const HEAP_FULL = 'ERR_WORKER_OUT_OF_MEMORY';

/** Megabytes of a lane's heap for what is new: it makes few objects, and the usual 32 are filled before anything is given back. */
const YOUNG = 2;

export class Lane {
  #thread: Worker | undefined;
  readonly #pending = new Map<number, { resolve(answer: Answer): void; reject(error: Error): void }>();
  #requests = 0;
  #sessions = 0;

  async create(model: Uint8Array<ArrayBuffer>, options: InferenceSession.SessionOptions): Promise<LaneSession> {
    const session = ++this.#sessions;
    const { names = [] } = await this.ask({ kind: 'create', session, model, options }, [model.buffer]);
    return new LaneSession(this, session, names);
  }

  async ask(request: Asked<LaneRequest>, handed: readonly ArrayBuffer[] = []): Promise<Answer> {
    const id = ++this.#requests;
    const thread = this.#started();
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    this.#pending.set(id, { resolve, reject });
    thread.ref(); // the process stays alive while it waits for the answer, and only then
    thread.postMessage({ id, ...request }, [...handed]);
    const given = await promise;
    if (given.error !== undefined) throw new Error(given.error);
    return given;
  }

  #started(): Worker {
    if (this.#thread) return this.#thread;
    const thread = new Worker(threadFile(), { resourceLimits: { maxYoungGenerationSizeMb: YOUNG } });
    thread.on('message', (message: unknown) => {
      const given = answer.parse(message);
      this.#pending.get(given.id)?.resolve(given);
      this.#pending.delete(given.id);
      if (this.#pending.size === 0) thread.unref();
    });
    const ended = (reason: string, EndError: new (message: string) => Error = Error): void => {
      this.#thread = undefined;
      for (const { reject } of this.#pending.values()) reject(new EndError(`A thread of the engine ended while it computed: ${reason}`));
      this.#pending.clear();
    };
    thread.on('error', (error) => ended(String(error), 'code' in error && error.code === HEAP_FULL ? OutOfMemoryError : Error));
    thread.on('exit', (code) => ended(`exit code ${code}`));
    this.#thread = thread;
    return thread;
  }
}

/** A session in a lane, with the part of InferenceSession that the engine uses. */
export class LaneSession {
  readonly inputNames: readonly string[];
  readonly #lane: Lane;
  readonly #session: number;

  constructor(lane: Lane, session: number, inputNames: readonly string[]) {
    this.#lane = lane;
    this.#session = session;
    this.inputNames = inputNames;
  }

  async run(feeds: PlainValues, wanted: readonly string[], given: PlainValues = {}): Promise<PlainValues> {
    const { results = {} } = await this.#lane.ask({ kind: 'run', session: this.#session, feeds, wanted, given });
    return results;
  }

  /** Feeds in shared memory that stay the same values (not numbers) from run to run. */
  async bind(feeds: PlainValues): Promise<void> {
    await this.#lane.ask({ kind: 'bind', session: this.#session, feeds });
  }

  async release(): Promise<void> {
    await this.#lane.ask({ kind: 'release', session: this.#session });
  }
}

/** The lanes of this process, made when first needed: several trainers and scorers take turns in them. */
const lanes: Lane[] = [];

export function laneNumber(index: number): Lane {
  return (lanes[index] ??= new Lane());
}

/** Threads that compute side by side at most: each has sessions of its own, which take memory. */
const MOST_LANES = 4;

/** How many lanes so many threads make. */
export const lanesOf = (threads = availableParallelism(), most = MOST_LANES): number => Math.max(1, Math.min(most, threads));

/** Threads of a session in a lane: one, but where the number of lanes is given, the lanes share them all. */
export const laneThreads = (threads = availableParallelism(), most?: number): number =>
  most === undefined ? 1 : Math.max(1, Math.floor(threads / lanesOf(threads, most)));
