// The queue: which run trains next, and every change of a run's state. One or more runs train at a time, each in a
// process that `launch` starts; what they report is stored here, by the one writer. Every state is on disk before it is
// shown, so a restart finds the queue as it was; a run that crashes is marked with its reason and the next one starts.

import { DataFolderGone } from '../base/paths.ts';
import { isDiskFull } from '../store/database.ts';
import { keepReserve, releaseReserve } from '../store/disk-space.ts';
import { RunLocked } from '../store/locks.ts';
import { RunWriter, type RunWriterOptions } from '../store/run-writer.ts';
import type { NewRun, Run } from '../store/runs.ts';
import type { Store } from '../store/store.ts';
import { type RunReport, runReport } from '../training/reports.ts';
import type { RunState } from '../base/vocabulary.ts';
import { withCard } from './cards.ts';
import { recover } from './recover.ts';
import { startRun, checkResumable, NoSoundCheckpoint, type StartingPoint } from './start.ts';

/** A training process as the queue sees it. */
export interface Launched {
  readonly pid: number | undefined;
  /** Has it save and end. */
  stop(): void;
  kill(): void;
  /** Resolves when the process is gone, with the reason in words ("exit code 0", "signal SIGKILL"). */
  readonly ended: Promise<string>;
}

export interface LaunchRequest extends StartingPoint {
  /** Save and end after this update, if given. */
  readonly until: number | null;
}

/** Starts a training process. Reports may come any time after it has returned. */
export type Launch = (request: LaunchRequest, report: (report: unknown) => void) => Launched;

export interface QueueOptions {
  readonly store: Store;
  readonly launch: Launch;
  /** Runs that train at the same time. */
  readonly concurrent?: number;
  /** How many cards there are; default: what the system lists. */
  readonly cards?: () => number;
  readonly writer?: (run: Run) => RunWriterOptions;
  /** After every change of a run that the list shows. */
  readonly onChange?: (run: Run) => void;
  /** Everything a run reports, once it is stored. */
  readonly onReport?: (run: number, report: RunReport) => void;
}

interface End {
  readonly state: RunState;
  readonly reason: string | null;
  /** Something went wrong, though the run has not failed: the log marks it. */
  readonly wrong?: true;
}

interface Live {
  readonly process: Launched;
  readonly writer: RunWriter;
  /** The device it uses. */
  readonly device: string;
  /** What a run that ends before its last update becomes. */
  stopsAs: 'paused' | 'stopped';
  /** The state the run ends in when its process goes; null while nothing was said: then it crashed. */
  end: End | null;
}

/** Interval at which the queue checks whether the data folder is still there and whether another lab left a run behind. */
const WATCH_MS = 1000;

const RESUMABLE: readonly RunState[] = ['paused', 'stopped', 'failed', 'interrupted'];

export class RunQueue {
  readonly #store: Store;
  readonly #options: QueueOptions;
  readonly #live = new Map<number, Live>();
  /** Runs whose record may be dropped because the user said so. */
  readonly #restarts = new Set<number>();
  /** Runs that continue on the CPU although their config names a device. */
  readonly #onCpu = new Set<number>();
  /** Runs that the lab before this one trained when it ended. */
  readonly #left = new Set<number>();
  #watch: NodeJS.Timeout | undefined;
  #concurrent: number;
  #open = false;

  constructor(options: QueueOptions) {
    this.#store = options.store;
    this.#options = options;
    this.#concurrent = options.concurrent ?? 1;
  }

  /**
   * Opens the queue: what a crash left is marked, then waiting runs start. Returns the interrupted runs. `continues`: the lab before this one
   * ended unexpectedly, so what it trained is trained again, as soon as its training processes have gone.
   */
  start({ continues = false } = {}): Run[] {
    if (continues)
      for (const { id } of this.#store.runs.list({ states: ['running'] })) if (this.#store.locks.orphaned(id)) this.#left.add(id);
    keepReserve(this.#store.dataFolder);
    this.#open = true;
    const interrupted = this.#recover();
    this.#keepWatch();
    this.#fill();
    return interrupted;
  }

  /** Marks what a crash left; what the lab before trained waits to be continued. */
  #recover(): Run[] {
    const interrupted = recover(this.#store);
    const continued = interrupted.filter(({ id }) => this.#left.delete(id));
    for (const { id, pauseAt } of continued) this.#enqueueFirst(id, pauseAt);
    if (continued.length > 0) this.#fill();
    return interrupted;
  }

  setConcurrent(count: number): void {
    if (!Number.isInteger(count) || count < 1) throw new RangeError(`At least one run at a time is expected, found ${count}`);
    this.#concurrent = count;
    this.#fill();
  }

  /** Adds runs at the end of the queue, all of them or none. */
  add(runs: readonly NewRun[]): Run[] {
    const added = this.#store.write(() => runs.map((run) => this.#store.runs.create(run)));
    for (const run of added) this.#options.onChange?.(run);
    this.#fill();
    return added;
  }

  /** Puts a waiting run before another one, or at the end. */
  move(id: number, before: number | null): void {
    const others = this.#store.runs.queue().filter((run) => run.id !== id);
    const at = before === null ? others.length : others.findIndex((run) => run.id === before);
    if (at < 0) throw new Error(`Run ${before} is not waiting in the queue`);
    this.#need(id, ['queued'], 'moved');
    const order = [...others.slice(0, at).map((run) => run.id), id, ...others.slice(at).map((run) => run.id)];
    this.#store.write(() => order.forEach((run, index) => this.#store.runs.change(run, { position: index + 1 })));
    this.#options.onChange?.(this.#store.runs.get(id));
  }

  /** Finishes the current batch or optimizer step, saves, and ends the process: Resume starts another. */
  pause(id: number): void {
    const run = this.#need(id, ['running', 'queued'], 'paused');
    if (run.state === 'queued') return this.#set(id, { state: 'paused', reason: 'Paused before it started', position: null });
    const live = this.#live.get(id);
    if (live === undefined) throw new Error(`Run ${id} is trained by another lab; steer it there`);
    live.process.stop();
  }

  /** Trains one run now, whatever else waits: what the command line does, without opening the queue. Throws `RunLocked` and `NoSoundCheckpoint`. */
  train(id: number, { restart = false, onCpu = false } = {}): void {
    this.#store.write(() => {
      this.#store.locks.check(id);
      this.#need(id, [...RESUMABLE, 'queued'], 'trained');
      if (onCpu) this.#onCpu.add(id);
      if (restart) this.#restarts.add(id);
      else checkResumable(this.#store, id);
      this.#enqueueFirst(id, null);
    });
    const locked = this.#launch(id);
    if (locked) throw locked;
  }

  /** Continues without the device it was started on. */
  resumeOnCpu(id: number): void {
    this.#need(id, RESUMABLE, 'resumed');
    this.#onCpu.add(id);
    this.resume(id);
  }

  /** Continues, as soon as there is a place. Throws `NoSoundCheckpoint` when that would drop its record. */
  resume(id: number): void {
    this.#need(id, RESUMABLE, 'resumed');
    checkResumable(this.#store, id);
    this.#enqueueFirst(id, null);
    this.#fill();
  }

  /** Starts from the beginning; what no checkpoint covers is dropped. */
  restart(id: number): void {
    this.#need(id, RESUMABLE, 'started again');
    this.#restarts.add(id);
    this.#enqueueFirst(id, null);
    this.#fill();
  }

  /** One more update, then pause. Starts at once, whatever else is training. */
  step(id: number): void {
    const run = this.#need(id, [...RESUMABLE, 'queued'], 'stepped');
    checkResumable(this.#store, id);
    this.#enqueueFirst(id, run.updates + 1);
    this.#launch(id);
  }

  /** Ends a run after its current batch or optimizer step, with a checkpoint. It can be resumed. */
  stop(id: number): void {
    const run = this.#need(id, ['running', 'queued', 'paused', 'interrupted', 'stopping'], 'stopped');
    const live = this.#live.get(id);
    if (run.state === 'running' && live !== undefined) {
      this.#set(id, { state: 'stopping', reason: 'Saving before it stops' });
      live.stopsAs = 'stopped';
      live.process.stop();
    } else if (run.state !== 'stopping') this.#end(id, { state: 'stopped', reason: 'Stopped by the user' });
  }

  /** Ends a run at once; it can be resumed from its last checkpoint. */
  cancel(id: number): void {
    this.#need(id, ['queued', 'running', 'stopping', 'paused', 'interrupted'], 'cancelled');
    this.#end(id, { state: 'stopped', reason: 'Cancelled by the user' });
  }

  /** Looks for waiting runs again, after some came back. */
  wake(): void {
    this.#fill();
  }

  /** The lab closes: training processes end; their runs can be resumed. */
  async close(): Promise<void> {
    this.#open = false;
    const ending = [...this.#live.values()].map((live) => {
      live.end ??= {
        state: 'interrupted',
        reason: 'Interrupted when the app closed. Resume continues from the last checkpoint.',
      };
      live.process.kill();
      return live.process.ended;
    });
    await Promise.all(ending);
    clearInterval(this.#watch);
    this.#watch = undefined;
  }

  /** How many runs train now. */
  get training(): number {
    return this.#live.size;
  }

  /** Whether a process of this queue trains it. */
  trains(run: number): boolean {
    return this.#live.has(run);
  }

  /** Resolves when nothing trains and nothing waits. */
  async settled(): Promise<void> {
    for (;;) {
      if (this.#live.size === 0) return;
      await Promise.race([...this.#live.values()].map((live) => live.process.ended));
      // The next run starts in a reaction to the same promise.
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** Starts waiting runs while there are free places. */
  #fill(): void {
    while (this.#open && this.#live.size < this.#concurrent) {
      const next = this.#store.runs.queue().find((run) => this.#store.locks.holder(run.id) === undefined);
      if (next === undefined || this.#launch(next.id)) return;
    }
  }

  /** The lock, when another lab took the run in this very moment; it is left to that one. */
  #launch(id: number): RunLocked | null {
    const { pauseAt } = this.#store.runs.get(id);
    let start: StartingPoint;
    try {
      start = startRun(this.#store, id, this.#restarts.delete(id));
    } catch (error) {
      if (error instanceof RunLocked) return error;
      if (error instanceof NoSoundCheckpoint) {
        this.#set(id, { state: 'failed', reason: `${error.message} ${error.hint}`, position: null });
        return null;
      }
      this.#set(id, { ...(isDiskFull(error) ? diskFull() : { state: 'failed', reason: message(error) }), position: null });
      return null;
    }
    let live: Live | undefined;
    try {
      const writer = new RunWriter(this.#store, id, this.#options.writer?.(start.run));
      const taken = [...this.#live.values()].map(({ device }) => device);
      const run = this.#onCpu.delete(id) ? withoutDevice(this.#store, start.run) : withCard(start.run, taken, this.#options.cards);
      const process = this.#options.launch({ ...start, run, until: pauseAt }, (report) => {
        if (live !== undefined) this.#receive(id, live, report);
      });
      live = { process, writer, device: run.config.device, stopsAs: 'paused', end: null };
      this.#live.set(id, live);
      this.#keepWatch();
      if (process.pid !== undefined) this.#store.locks.setTrainer(id, process.pid);
      const launched = live;
      void process.ended.then((reason) => this.#gone(id, launched, reason));
      this.#options.onChange?.(this.#store.runs.get(id));
    } catch (error) {
      live?.process.kill();
      if (live === undefined) {
        this.#store.locks.release(id);
        this.#set(id, { state: 'failed', reason: `The training process could not be started: ${message(error)}` });
      } else live.end = { state: 'failed', reason: message(error) };
    }
    return null;
  }

  #receive(id: number, live: Live, raw: unknown): void {
    // Reports that were under way when the run was cancelled or failed no longer count.
    if (live.end !== null) return;
    if (!this.#store.present()) return this.#folderGone();
    try {
      const report = runReport.parse(raw);
      live.writer.apply(report);
      this.#react(id, live, report);
      this.#options.onReport?.(id, report);
    } catch (error) {
      const full = isDiskFull(error);
      if (full) releaseReserve(this.#store.dataFolder);
      this.#end(id, full ? diskFull() : { state: 'failed', reason: `What the run reported could not be stored: ${message(error)}` });
    }
  }

  #react(id: number, live: Live, report: RunReport): void {
    switch (report.type) {
      case 'finished':
        live.end = report.outcome === 'done' ? { state: 'done', reason: null } : this.#stopped(id, live);
        return;
      case 'failed':
        if (report.diskFull) releaseReserve(this.#store.dataFolder);
        live.end = report.diskFull
          ? diskFull()
          : report.deviceLost === true
            ? deviceLost(report.message)
            : { state: 'failed', reason: report.message };
        return;
      case 'update':
      case 'evaluation':
        this.#options.onChange?.(this.#store.runs.get(id));
        return;
      default:
        return;
    }
  }

  /** A look every second while there is something to look after; it keeps no process alive. */
  #keepWatch(): void {
    this.#watch ??= setInterval(() => {
      if (this.#live.size > 0 && !this.#store.present()) this.#folderGone();
      else if (this.#open && this.#store.present())
        for (const { id } of this.#recover()) this.#options.onChange?.(this.#store.runs.get(id));
    }, WATCH_MS).unref();
  }

  /** What is recorded from now on would be lost, so training stops here; the record up to now is in the folder that went away. */
  #folderGone(): void {
    const end = { state: 'paused' as const, reason: new DataFolderGone(this.#store.dataFolder).message };
    for (const live of this.#live.values()) {
      if (live.end !== null) continue;
      live.end = end;
      live.process.kill();
    }
  }

  /** The process is gone: what the run said last decides its state. */
  #gone(id: number, live: Live, reason: string): void {
    this.#live.delete(id);
    const crash = {
      state: 'failed' as const,
      reason: `The training process ended unexpectedly (${reason}). Resume continues from the last checkpoint with identical results.`,
    };
    const end = live.end ?? crash;
    this.#set(id, { ...end, position: null, pauseAt: null, finishedAt: end.state === 'paused' ? null : Date.now() });
    // Only now: a run without a lock that still says "running" is taken for one that a crash left behind.
    this.#store.locks.release(id);
    this.#fill();
  }

  #stopped(id: number, { stopsAs }: Live): End {
    const reason = stopsAs === 'stopped' ? 'Stopped by the user' : `Paused after update ${this.#store.runs.get(id).updates}`;
    return { state: stopsAs, reason };
  }

  /** Ends a run now: kills its process if it has one. */
  #end(id: number, end: End): void {
    const live = this.#live.get(id);
    if (live === undefined) return this.#set(id, { ...end, position: null, finishedAt: Date.now() });
    live.end = end;
    live.process.kill();
  }

  #enqueueFirst(id: number, until: number | null): void {
    const first = this.#store.runs.queue()[0]?.position ?? 1;
    this.#set(id, { state: 'queued', reason: null, position: first - 1, pauseAt: until });
  }

  #need(id: number, states: readonly RunState[], verb: string): Run {
    const run = this.#store.runs.get(id);
    if (states.includes(run.state)) return run;
    throw new Error(`Run ${id} is ${run.state} and cannot be ${verb}: it would have to be ${states.join(' or ')}`);
  }

  #set(id: number, { wrong, ...change }: Parameters<Store['runs']['change']>[1] & { wrong?: boolean }): void {
    this.#store.write(() => {
      this.#store.runs.change(id, change);
      if (change.reason) {
        const severity = wrong === true || change.state === 'failed' ? 'error' : 'info';
        this.#store.events.add(id, { update: this.#store.runs.get(id).updates, kind: 'state', severity, text: change.reason, data: {} });
      }
    });
    this.#options.onChange?.(this.#store.runs.get(id));
  }
}

/** The run as it is on the CPU; its log says so. */
function withoutDevice(store: Store, run: Run): Run {
  const { config, updates } = run;
  store.events.add(run.id, { update: updates, kind: 'state', severity: 'info', text: 'Continues on the CPU', data: {} });
  return { ...run, config: { ...config, device: 'cpu' } };
}

/** A card that was lost may be back soon: nothing has failed that cannot be tried again. */
function deviceLost(what: string): End {
  return {
    state: 'paused',
    wrong: true,
    reason: `${what.replace(/[\s.]+$/, '')}. The last checkpoint is intact: “Resume” tries the device again, “Resume on CPU” continues without it.`,
  };
}

function diskFull(): End {
  return {
    state: 'paused',
    wrong: true,
    reason: 'The disk is full. Nothing was lost: free some space, then resume from the last checkpoint.',
  };
}

function message(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
