// Trains a list of runs to their end, several at a time, through the ordinary queue. A run is known by its config: what is
// there already is used, what was interrupted goes on from its checkpoint, and only the rest is made anew. So the same
// call, however often it is stopped or killed, always goes on. Runs that would make the same reference policy are not
// started side by side first: one of them makes it, the others find it.

import { variantOf } from '../algorithm/registry.ts';
import type { NewRun, Run, RunState, RunSummary } from '../store/runs.ts';
import type { Store } from '../store/store.ts';
import { contentHash } from '../store/canonical.ts';
import { ConfigError, parseConfig, type RunConfig } from '../training/config.ts';
import { newRun, writerOptions } from '../training/new-run.ts';
import { type Launch, RunQueue } from '../training/queue.ts';
import { recover } from '../training/resume.ts';

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
}

export interface WorkProgress {
  /** Runs that are finished, of all that are wanted; those found finished count. */
  readonly done: number;
  readonly total: number;
  readonly secondsLeft: number | null;
  /** Set when a run has just ended. */
  readonly ended: Run | null;
}

/** The caller stopped the work; calling again goes on. */
export class WorkStopped extends Error {
  override name = 'WorkStopped';
  readonly code = 'stopped';
  readonly hint = 'The same command goes on where it stopped; finished runs are not repeated.';
}

const FINAL: readonly RunState[] = ['done', 'failed', 'stopped', 'paused', 'interrupted'];

/** As the store hashes it: everything but the name. */
function identity({ name: _name, ...rest }: RunConfig): string {
  return contentHash(rest);
}

/** Finds the run that has a config already: also one from before a setting was added, if it has that setting's default. */
export function runFinder(store: Store): (config: RunConfig) => RunSummary | undefined {
  const runs = store.runs.list();
  const known = new Map(runs.map((run) => [run.configHash, run]));
  let completed: Map<string, RunSummary> | undefined;
  return (config) => {
    const hash = identity(config);
    if (known.has(hash)) return known.get(hash);
    completed ??= new Map(runs.flatMap((run) => completedIdentity(store, run.id).map((own) => [own, run] as const)));
    return completed.get(hash);
  };
}

/** The hash that a stored config has today; none when it no longer fits the schema. */
function completedIdentity(store: Store, run: number): string[] {
  try {
    return [identity(parseConfig(store.runs.get(run).config))];
  } catch (error) {
    if (error instanceof ConfigError) return [];
    throw error;
  }
}

/** The runs of the list that are done already, in its order. */
export function finishedRuns(store: Store, wanted: readonly WantedRun[]): (Run | undefined)[] {
  const find = runFinder(store);
  return wanted.map(({ config }) => {
    const known = find(config);
    return known?.state === 'done' ? store.runs.get(known.id) : undefined;
  });
}

/** The runs of the list in its order, trained. A run that fails is tried once more; if it fails again it stays failed. */
export async function trainAll(store: Store, wanted: readonly WantedRun[], options: WorkOptions): Promise<Run[]> {
  recover(store);
  const find = runFinder(store);
  const different = new Map(wanted.map((one) => [identity(one.config), one]));
  const ids = new Map<string, number>();
  const open: { hash: string; run: WantedRun }[] = [];
  for (const [hash, run] of different) {
    const id = find(run.config)?.id;
    if (id !== undefined) {
      ids.set(hash, id);
      store.runs.setTags(id, [...store.runs.get(id).tags, ...run.tags]);
    }
    if (id === undefined || store.runs.get(id).state !== 'done') open.push({ hash, run });
  }
  const updates = open.map(({ hash, run }) => run.config.training.updates - (store.runs.find(ids.get(hash) ?? 0)?.updates ?? 0));
  const pace = new Pace(
    different.size,
    open.length,
    updates.reduce((sum, count) => sum + count, 0),
  );
  const waiting = pioneersFirst(open);
  const endings = new Map<number, (run: Run) => void>();
  const queue = new RunQueue({
    store,
    launch: options.launch,
    concurrent: options.jobs,
    writer: writerOptions,
    onChange: (run) => {
      if (FINAL.includes(run.state)) endings.get(run.id)?.(run);
    },
    onReport: (_run, report) => {
      if (report.type !== 'update') return;
      pace.update();
      options.progress?.(pace.now(null));
    },
  });
  const live = new Set<number>();
  const aborted = (): boolean => options.signal?.aborted === true;
  const stop = (): void => {
    for (const id of live) if (store.runs.get(id).state === 'running') queue.stop(id);
  };
  options.signal?.addEventListener('abort', stop);

  const trainOne = async (id: number): Promise<Run> => {
    const ended = new Promise<Run>((resolve) => endings.set(id, resolve));
    live.add(id);
    queue.train(id);
    const run = await ended;
    live.delete(id);
    endings.delete(id);
    return run;
  };
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined && !aborted(); next = waiting.shift()) {
      const id = ids.get(next.hash) ?? store.runs.create(made(next.run)).id;
      ids.set(next.hash, id);
      let run = await trainOne(id);
      if (run.state === 'failed' && !aborted()) run = await trainOne(id);
      if (run.state === 'done' || run.state === 'failed') pace.finish();
      options.progress?.(pace.now(run));
    }
  };
  try {
    await Promise.all(Array.from({ length: options.jobs }, () => work()));
    await queue.settled();
  } finally {
    options.signal?.removeEventListener('abort', stop);
    await queue.close();
  }
  if (aborted()) throw new WorkStopped(`Stopped with ${pace.left} runs to go`);
  return wanted.map(({ config }) => store.runs.get(ids.get(identity(config)) ?? 0));
}

const made = ({ config, preset, tags }: WantedRun): NewRun => newRun(config, preset, tags);

/** One run of each reference policy first, then one of each set of V* samples, then the rest in order. */
function pioneersFirst<T extends { readonly run: WantedRun }>(open: readonly T[]): T[] {
  const seen = new Set<string>();
  const first = (key: string): boolean => !seen.has(key) && seen.add(key).size > 0;
  const ranked = open.map((one) => {
    const { world, policy, reference, algorithm, vstar, seed } = one.run.config;
    const needed = contentHash([world, policy, reference]);
    const makesReference = first(needed);
    const makesSamples = variantOf(algorithm).needs.vstar && first(`${needed} ${seed} ${vstar.samples.join()}`);
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

  finish(): void {
    this.#openRuns -= 1;
  }

  now(ended: Run | null): WorkProgress {
    const elapsed = (performance.now() - this.#began) / 1000;
    const secondsLeft = this.#done === 0 ? null : (elapsed / this.#done) * Math.max(0, this.#updates - this.#done);
    return { done: this.#runs - this.#openRuns, total: this.#runs, secondsLeft, ended };
  }
}
