// Reads that take long (comparisons, searches, reports, exports) run in threads with read-only connections: one for what a page waits for,
// one for files, so that an export holds up no page. A thread is started when it is first needed.

import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { z } from 'zod';
import { projectFolder } from '../base/paths.ts';
import { CallFailure, failureCodes, type Progress } from './definition.ts';

export const readerData = z.object({ dataFolder: z.string(), readOnly: z.boolean() });
export const toReader = z.object({ id: z.number(), feature: z.string(), name: z.string(), input: z.unknown() });
type ToReader = z.infer<typeof toReader>;

const failure = z.object({ code: z.enum(failureCodes), message: z.string(), hint: z.string() });
const fromReader = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('progress'), id: z.number(), share: z.number(), what: z.string() }),
  z.object({ kind: z.literal('done'), id: z.number(), value: z.unknown() }),
  z.object({ kind: z.literal('failed'), id: z.number(), failure }),
]);
export type FromReader = z.infer<typeof fromReader>;

export interface ReadOptions {
  /** Writes or checks files, for which no page waits: in a thread of its own. */
  readonly files?: true;
  readonly progress?: Progress;
  /** Aborted, the read ends at once; what it began to write is left to whoever asked. */
  readonly signal?: AbortSignal;
}

interface Pending {
  readonly message: ToReader;
  readonly progress: Progress;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** One thread and what it was asked. */
class Reader {
  readonly #data: z.infer<typeof readerData>;
  readonly #pending = new Map<number, Pending>();
  #thread: Worker | null = null;
  #asked = 0;

  constructor(data: z.infer<typeof readerData>) {
    this.#data = data;
  }

  read(feature: string, name: string, input: unknown, { progress = () => {}, signal }: ReadOptions = {}): Promise<unknown> {
    this.#asked += 1;
    const message = { id: this.#asked, feature, name, input };
    return new Promise((resolve, reject) => {
      this.#pending.set(message.id, { message, progress, resolve, reject });
      signal?.addEventListener('abort', () => {
        if (!this.#take(message.id)) return;
        reject(new CallFailure('cancelled', 'It was cancelled.', 'Nothing was changed.'));
        this.renew();
      });
      this.#start().postMessage(message);
    });
  }

  /** Ends the thread; what else it was asked is asked of the next one. */
  renew(): void {
    this.close();
    if (this.#pending.size === 0) return;
    const thread = this.#start();
    for (const { message } of this.#pending.values()) thread.postMessage(message);
  }

  close(): void {
    void this.#thread?.terminate();
    this.#thread = null;
  }

  #start(): Worker {
    if (this.#thread) return this.#thread;
    const thread = new Worker(threadFile(), { workerData: this.#data });
    this.#thread = thread;
    thread.on('message', (message) => {
      if (thread === this.#thread) this.#receive(fromReader.parse(message));
    });
    thread.on('error', (error) => this.#failed(thread, error.message));
    thread.on('exit', (code) => this.#failed(thread, `exit code ${code}`));
    return thread;
  }

  #receive(message: FromReader): void {
    if (message.kind === 'progress') return this.#pending.get(message.id)?.progress(message.share, message.what);
    const pending = this.#take(message.id);
    if (message.kind === 'done') pending?.resolve(message.value);
    else pending?.reject(new CallFailure(message.failure.code, message.failure.message, message.failure.hint));
  }

  #take(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    return pending;
  }

  /** It ended by itself, for want of memory for instance. */
  #failed(thread: Worker, reason: string): void {
    if (thread !== this.#thread) return;
    this.#thread = null;
    for (const { reject } of this.#pending.values())
      reject(new CallFailure('job-failed', `The reader ended unexpectedly: ${reason}`, 'Try again.'));
    this.#pending.clear();
  }
}

/** The readers of a lab. */
export class Readers {
  readonly #pages: Reader;
  readonly #files: Reader;

  constructor(dataFolder: string, readOnly: boolean) {
    const data = { dataFolder, readOnly };
    this.#pages = new Reader(data);
    this.#files = new Reader(data);
  }

  readonly read = (feature: string, name: string, input: unknown, options: ReadOptions = {}): Promise<unknown> =>
    (options.files ? this.#files : this.#pages).read(feature, name, input, options);

  /** For plug-ins that have changed: the next threads load them anew. */
  renew(): void {
    this.#pages.renew();
    this.#files.renew();
  }

  close(): void {
    this.#pages.close();
    this.#files.close();
  }
}

/** The reader beside this code: the source when this is the source, the bundle when this is the bundle. */
const threadFile = (): string => join(projectFolder(), import.meta.url.endsWith('.ts') ? 'main/lab/reader.ts' : 'out/main/lab-reader.js');
