// Trains a list of runs to their end, several at a time, through the ordinary queue. A run is identified by its config: what is
// there already is used, what was interrupted continues from its checkpoint, and only the rest is made anew. So the same
// call, however often it is stopped or killed, always continues, and two such calls at once share the work: a run that the
// other one trains is waited for. Runs that would make the same reference policy are not started side by side first: one
// of them makes it, the others find it.

import { setTimeout as sleep } from 'node:timers/promises';
import { type Algorithms, algorithmOf } from '../algorithm/registry.ts';
import { RunLocked } from '../store/locks.ts';
import type { Run, RunSummary } from '../store/runs.ts';
import type { RunState } from '../base/vocabulary.ts';
import type { Store } from '../store/store.ts';
import { contentHash } from '../base/canonical.ts';
import type { RunConfig } from '../config/config.ts';
import { identityOf, newRun, withPlugins, writerOptions } from '../queue/new-run.ts';
import { type Launch, RunQueue } from '../queue/queue.ts';
import { recover } from '../queue/recover.ts';
import { checkTogether } from '../training/batching/fit-memory.ts';

export interface WantedRun {
  readonly config: RunConfig;
  readonly preset: string;
  readonly tags: readonly string[];
}

export interface WorkOptions {
  readonly launch: Launch;
  readonly jobs: number;
  readonly progress?: (progress: WorkProgress) => void;
  /** Aborted: what trains finishes its update and saves a checkpoint, nothing new starts. */
  readonly signal?: AbortSignal;
  /** Trains the runs somewhere else (a cluster) and brings them into the store; answers those that failed. Nothing is trained here then. */
  readonly remote?: (wanted: readonly WantedRun[]) => Promise<readonly RemoteFailure[]>;
}

export interface RemoteFailure {
  readonly config: RunConfig;
  readonly reason: string;
}

export interface WorkProgress {
  /** Runs that are finished, of all that are wanted; those found finished count. */
  readonly done: number;
  readonly total: number;
  readonly secondsLeft: number | null;
  /** Set when a run has just ended. */
  readonly ended: Run | null;
  /** Set when a run turned out to be trained by another lab: it is waited for, once nothing else is left to do. */
  readonly elsewhere: RunLocked | null;
}

/** Interval at which a run that another lab trains is checked. */
const LOOK_AGAIN_MS = 1000;

/** The caller stopped the work; calling again continues. */
export class WorkStopped extends Error {
  override name = 'WorkStopped';
  readonly code = 'stopped';
  readonly hint = 'The same command resumes where it stopped; finished runs are not repeated.';
}

const FINAL: readonly RunState[] = ['done', 'failed', 'stopped', 'paused', 'interrupted'];

/** The run that is this experiment already. */
export const sameRun = (store: Store, config: RunConfig): RunSummary | undefined => store.runs.findSame(withPlugins(store.catalog, config));

/** The runs of the list that are done already, in its order. */
export function finishedRuns(store: Store, wanted: readonly WantedRun[]): (Run | undefined)[] {
  return wanted.map(({ config }) => {
    const known = sameRun(store, config);
    return known?.state === 'done' ? store.runs.get(known.id) : undefined;
  });
}

/** The runs of the list in its order, trained. A run that fails is tried once more; if it fails again it stays failed. */
export async function trainAll(store: Store, wanted: readonly WantedRun[], options: WorkOptions): Promise<Run[]> {
  if (options.remote) return trainRemotely(store, wanted, options.remote);
  const { ids, open, pace } = plan(store, wanted);
  checkTogether(
    store.catalog,
    open.map(({ run }) => run.config),
    store.dataFolder,
    options.jobs,
  );
  const waiting = pioneersFirst(store.catalog, open);
  const training = new Training(store, options, pace);
  let over = false;
  const aborted = (): boolean => over || options.signal?.aborted === true;
  const stop = (): void => training.stop();
  options.signal?.addEventListener('abort', stop);

  const elsewhere: Open[] = [];
  const told = new Set<number>();
  const work = async (): Promise<void> => {
    while (!aborted() && waiting.length + elsewhere.length > 0) {
      const next = waiting.shift();
      if (next === undefined) {
        await sleep(LOOK_AGAIN_MS);
        waiting.push(...elsewhere.splice(0));
        continue;
      }
      const id = ids.get(next.hash) ?? findOrCreate(store, next.run);
      ids.set(next.hash, id);
      let run = await training.train(id);
      if (!(run instanceof RunLocked) && run.state === 'failed' && !aborted()) run = await training.train(id);
      if (run instanceof RunLocked) {
        if (!told.has(id)) options.progress?.(pace.now(null, run));
        told.add(id);
        elsewhere.push(next);
        continue;
      }
      if (run.state === 'done' || run.state === 'failed') pace.finish();
      options.progress?.(pace.now(run));
    }
  };
  const workers = Array.from({ length: options.jobs }, () => work());
  try {
    await Promise.all(workers);
    await training.queue.settled();
  } finally {
    over = true;
    options.signal?.removeEventListener('abort', stop);
    await training.queue.close();
    // When one of them failed the others are still at work, and the store must not be closed under them.
    await Promise.allSettled(workers);
  }
  if (options.signal?.aborted === true) throw new WorkStopped(`Stopped with ${pace.left} runs to go`);
  return wanted.map(({ config }) => store.runs.get(ids.get(identityOf(store.catalog, config)) ?? 0));
}

/** What is there already, by the hash of its config, and what is still to be trained. */
function plan(store: Store, wanted: readonly WantedRun[]): { ids: Map<string, number>; open: Open[]; pace: Pace } {
  const different = new Map(wanted.map((one) => [identityOf(store.catalog, one.config), one]));
  const ids = new Map<string, number>();
  const open: Open[] = [];
  for (const [hash, run] of different) {
    const id = sameRun(store, run.config)?.id;
    if (id !== undefined) {
      ids.set(hash, id);
      addTags(store, id, run.tags);
    }
    if (id === undefined || store.runs.get(id).state !== 'done') open.push({ hash, run });
  }
  const updates = open.map(({ hash, run }) => run.config.training.updates - (store.runs.find(ids.get(hash) ?? 0)?.updates ?? 0));
  const pace = new Pace(
    different.size,
    open.length,
    updates.reduce((sum, count) => sum + count, 0),
  );
  return { ids, open, pace };
}

/** Single runs through the queue, each awaited until it has ended. */
class Training {
  readonly queue: RunQueue;
  readonly #store: Store;
  readonly #pace: Pace;
  readonly #endings = new Map<number, (run: Run) => void>();
  readonly #live = new Set<number>();

  constructor(store: Store, { launch, jobs, progress }: WorkOptions, pace: Pace) {
    this.#store = store;
    this.#pace = pace;
    this.queue = new RunQueue({
      store,
      launch,
      concurrent: jobs,
      writer: writerOptions,
      onChange: (run) => {
        if (FINAL.includes(run.state)) this.#endings.get(run.id)?.(run);
      },
      onReport: (_run, report) => {
        if (report.type !== 'update') return;
        pace.update();
        progress?.(pace.now(null));
      },
    });
  }

  /** The run as it ended; the lock, when another lab trains it. */
  async train(id: number): Promise<Run | RunLocked> {
    // Also what another lab left behind while this one waited.
    recover(this.#store);
    const known = this.#store.runs.get(id);
    if (known.state === 'done') return this.#doneElsewhere(known);
    const ended = new Promise<Run>((resolve) => this.#endings.set(id, resolve));
    this.#live.add(id);
    try {
      this.queue.train(id);
      return await ended;
    } catch (error) {
      if (error instanceof RunLocked) return error;
      // Another lab may have ended it since the look above.
      const now = this.#store.runs.get(id);
      if (now.state === 'done') return this.#doneElsewhere(now);
      throw error;
    } finally {
      this.#live.delete(id);
      this.#endings.delete(id);
    }
  }

  #doneElsewhere(run: Run): Run {
    this.#pace.spare(run.updates);
    return run;
  }

  /** What trains finishes its update and saves a checkpoint. */
  stop(): void {
    for (const id of this.#live) if (this.#store.runs.get(id).state === 'running') this.queue.stop(id);
  }
}

/** What is not done yet goes elsewhere. A run that failed there has a row here too, so that it is seen in the list with its reason. */
async function trainRemotely(store: Store, wanted: readonly WantedRun[], remote: NonNullable<WorkOptions['remote']>): Promise<Run[]> {
  const different = [...new Map(wanted.map((one) => [identityOf(store.catalog, one.config), one])).values()];
  const open = different.filter(({ config }) => sameRun(store, config)?.state !== 'done');
  const failures = new Map((await remote(open)).map(({ config, reason }) => [identityOf(store.catalog, config), reason]));
  return wanted.map((run) => {
    const known = sameRun(store, run.config);
    if (known?.state === 'done') {
      addTags(store, known.id, run.tags);
      return store.runs.get(known.id);
    }
    const reason = failures.get(identityOf(store.catalog, run.config)) ?? 'It did not come back';
    const id = known?.id ?? findOrCreate(store, run);
    store.write(() => store.runs.change(id, { state: 'failed', reason, position: null, finishedAt: Date.now() }));
    return store.runs.get(id);
  });
}

interface Open {
  readonly hash: string;
  readonly run: WantedRun;
}

/** The run of this config: another lab may have made it since this one looked. */
function findOrCreate(store: Store, run: WantedRun): number {
  return store.write(() => {
    const known = sameRun(store, run.config);
    if (known === undefined) return store.runs.create(newRun(store.catalog, run.config, run.preset, run.tags)).id;
    addTags(store, known.id, run.tags);
    return known.id;
  });
}

function addTags(store: Store, id: number, tags: readonly string[]): void {
  store.write(() => store.runs.setTags(id, [...store.runs.get(id).tags, ...tags]));
}

/** One run of each reference policy first, then one of each set of V* samples, then the rest in order. */
function pioneersFirst<T extends { readonly run: WantedRun }>(catalog: Algorithms, open: readonly T[]): T[] {
  const seen = new Set<string>();
  const first = (key: string): boolean => !seen.has(key) && seen.add(key).size > 0;
  const ranked = open.map((one) => {
    const { world, policy, reference, algorithm, vstar } = one.run.config;
    // Samples for V* depend on the reference's seed, not on the run's.
    const needed = contentHash([world, policy, reference]);
    const makesReference = first(needed);
    const makesSamples = algorithmOf(catalog, algorithm).needs.vstar && first(`${needed} ${vstar.samples.join()}`);
    return { one, rank: makesReference ? 0 : makesSamples ? 1 : 2 };
  });
  return ranked.sort((a, b) => a.rank - b.rank).map(({ one }) => one);
}

/** How far all runs together are, counted in updates. */
class Pace {
  readonly #runs: number;
  readonly #began = performance.now();
  #openRuns: number;
  #updates: number;
  #done = 0;

  /** `runs` in all, `openRuns` of them to be trained, with so many updates together. */
  constructor(runs: number, openRuns: number, updates: number) {
    this.#runs = runs;
    this.#openRuns = openRuns;
    this.#updates = updates;
  }

  get left(): number {
    return this.#openRuns;
  }

  update(): void {
    this.#done += 1;
  }

  /** So many updates were done by another lab. */
  spare(updates: number): void {
    this.#updates -= updates;
  }

  finish(): void {
    this.#openRuns -= 1;
  }

  now(ended: Run | null, elsewhere: RunLocked | null = null): WorkProgress {
    const elapsed = (performance.now() - this.#began) / 1000;
    const secondsLeft = this.#done === 0 ? null : (elapsed / this.#done) * Math.max(0, this.#updates - this.#done);
    return { done: this.#runs - this.#openRuns, total: this.#runs, secondsLeft, ended, elsewhere };
  }
}
