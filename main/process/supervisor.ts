// Keeps the worker process alive: starts it, listens to its heartbeat, notices a crash or a hang, says why, and
// starts it again, with a limit so that a process that dies at once does not spin. How a process is made comes in as a
// function.

import { fromWorker } from './messages.ts';
import type { FromWorker, Job, JobResult, ToWorker } from './messages.ts';

/** A process that takes jobs. */
export interface WorkerProcess {
  readonly pid: number | undefined;
  send(message: ToWorker): void;
  kill(): void;
  onMessage(listener: (message: unknown) => void): void;
  /** `reason` in words: "exit code 139", "signal SIGKILL", "crashed". */
  onExit(listener: (reason: string) => void): void;
}

/** Where the worker process is in its life. `restarting` and `failed` carry the reason of the last crash. */
export interface WorkerStatus {
  readonly state: 'stopped' | 'starting' | 'ready' | 'restarting' | 'failed';
  readonly pid: number | null;
  /** Number of restarts after a crash. */
  readonly restarts: number;
  /** Why it last died; empty when it never did. */
  readonly reason: string;
}

export interface SupervisorOptions {
  readonly spawn: () => WorkerProcess;
  /** Silence longer than this means the process hangs: it is killed and reported. A long native call is silent too, so: minutes. */
  readonly patienceMs?: number;
  /** More crashes than this within `crashWindowMs` and it stays down until `start` is called again. */
  readonly crashLimit?: number;
  readonly crashWindowMs?: number;
  readonly onStatus?: (status: WorkerStatus) => void;
  /** Everything the worker says that is not about a job's end: progress, reports. */
  readonly onMessage?: (message: FromWorker) => void;
}

interface Pending {
  readonly job: Job;
  readonly resolve: (result: JobResult) => void;
  readonly reject: (error: Error) => void;
}

/** The process died while a job was under way. */
export class WorkerCrash extends Error {
  readonly code = 'worker-crashed';
  readonly hint =
    'The worker process is started again by itself. Try again; a training run continues from its last checkpoint with Resume.';
}

/** The job itself failed; the process lives. */
export class JobFailure extends Error {
  readonly code = 'job-failed';
  readonly hint = '';
}

export class Supervisor {
  readonly #options: Required<Omit<SupervisorOptions, 'onStatus' | 'onMessage'>> & SupervisorOptions;
  readonly #pending = new Map<number, Pending>();
  #process: WorkerProcess | null = null;
  #status: WorkerStatus = { state: 'stopped', pid: null, restarts: 0, reason: '' };
  #crashes: number[] = [];
  #lastSeen = 0;
  #watch: NodeJS.Timeout | null = null;
  #nextJob = 1;

  constructor(options: SupervisorOptions) {
    this.#options = { patienceMs: 300_000, crashLimit: 3, crashWindowMs: 60_000, ...options };
  }

  get status(): WorkerStatus {
    return this.#status;
  }

  /** Starts the process unless it runs already. After `failed` it counts crashes from zero again. */
  start(): void {
    if (this.#process) return;
    if (this.#status.state === 'failed') this.#crashes = [];
    this.#spawn();
  }

  stop(): void {
    const process = this.#process;
    this.#forget();
    this.#rejectAll(new WorkerCrash('The worker process was stopped while the job was under way'));
    process?.kill();
    this.#report({ state: 'stopped', pid: null });
  }

  /** Sends a job and waits for its end. Starts the process if need be. */
  run(job: Job): Promise<JobResult> {
    this.start();
    const id = this.#nextJob++;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { job, resolve, reject });
      this.#process?.send({ kind: 'job', id, job });
    });
  }

  #spawn(): void {
    const process = this.#options.spawn();
    this.#process = process;
    this.#lastSeen = performance.now();
    this.#report({ state: 'starting', pid: process.pid ?? null });
    process.onMessage((message) => {
      if (process === this.#process) this.#receive(message);
    });
    process.onExit((reason) => {
      if (process === this.#process) this.#exited(reason);
    });
    this.#watch ??= setInterval(() => this.#checkPulse(), Math.min(1000, this.#options.patienceMs / 4));
    this.#watch.unref();
  }

  #receive(raw: unknown): void {
    this.#lastSeen = performance.now();
    const message = fromWorker.parse(raw);
    switch (message.kind) {
      case 'heartbeat':
        if (this.#status.state !== 'ready') this.#report({ state: 'ready', pid: this.#process?.pid ?? null });
        return;
      case 'done':
        this.#pending.get(message.id)?.resolve(message.result);
        this.#pending.delete(message.id);
        return;
      case 'failed':
        this.#pending.get(message.id)?.reject(new JobFailure(message.message));
        this.#pending.delete(message.id);
        return;
      default:
        this.#options.onMessage?.(message);
    }
  }

  #checkPulse(): void {
    const silence = performance.now() - this.#lastSeen;
    if (!this.#process || silence < this.#options.patienceMs) return;
    const process = this.#process;
    this.#exited(`no sign of life for ${(silence / 1000).toFixed(1)} s`);
    process.kill();
  }

  #exited(reason: string): void {
    this.#forget();
    this.#rejectAll(new WorkerCrash(`The worker process ended unexpectedly (${reason})`));
    const now = performance.now();
    this.#crashes = [...this.#crashes.filter((time) => now - time < this.#options.crashWindowMs), now];
    if (this.#crashes.length > this.#options.crashLimit) {
      this.#report({ state: 'failed', pid: null, reason });
      return;
    }
    this.#report({ state: 'restarting', pid: null, reason, restarts: this.#status.restarts + 1 });
    this.#spawn();
  }

  #forget(): void {
    this.#process = null;
    if (this.#watch) clearInterval(this.#watch);
    this.#watch = null;
  }

  #rejectAll(error: Error): void {
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
  }

  #report(change: Partial<WorkerStatus>): void {
    this.#status = { ...this.#status, ...change };
    this.#options.onStatus?.(this.#status);
  }
}
