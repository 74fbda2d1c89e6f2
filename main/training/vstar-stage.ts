// Stage 1: V* of tasks from samples of the frozen reference. A task's samples depend only on world, level, reference, seed
// and their number, so they are looked up first and sampled only when nobody has before. With one sample count all
// training tasks are valued before the first update; with a schedule (8 → 4 → 2) each task when it is first met.

import { type Algorithms, algorithmOf } from '../algorithm/registry.ts';
import { at } from '../base/indexed.ts';
import { contentHash } from '../base/canonical.ts';
import { scheduled, vstarOf } from '../algorithm/vstar.ts';
import { optimisticVstar } from '../metrics/alerts.ts';
import type { Task } from '../environment/environment.ts';
import { Random } from '../base/random.ts';
import { groupNames } from './group-names.ts';
import { type Actor, drawAt, rollout } from '../rollout/rollout.ts';
import type { Trajectory } from '../rollout/trajectory.ts';
import type { RunConfig } from '../config/config.ts';
import { neverAborted } from './abort.ts';
import type { VstarLookup, VstarSamples } from './host.ts';
import { PHASES } from './progress.ts';
import type { VstarEntry } from './reports.ts';
import { worldHash } from './run-setup.ts';
import type { TrainingRun } from './training-run.ts';

/** The reference is sampled as it is. */
const TEMPERATURE = 1;
/** Tasks valued between two reports of progress. */
const CHUNK = 64;

export interface VstarValue {
  readonly value: number;
  /** Share of the samples that succeeded. */
  readonly success: number;
  readonly task: string;
  readonly level: number;
  readonly samples: number;
}

export class VstarStage {
  readonly #config: RunConfig;
  readonly #actor: Actor;
  readonly #reference: string;
  readonly #cache: VstarLookup;
  readonly #signal: AbortSignal;
  readonly #values = new Map<string, VstarValue>();
  #asked = 0;
  #found = 0;

  /** `reference` is the hash of the reference's weights; `actor` acts with them. */
  constructor(config: RunConfig, actor: Actor, reference: string, cache: VstarLookup, signal = neverAborted()) {
    this.#config = config;
    this.#actor = actor;
    this.#reference = reference;
    this.#cache = cache;
    this.#signal = signal;
  }

  /** V* of a task at a level; `ensure` must have been asked for it. */
  of(task: string, level: number): VstarValue {
    const value = this.#values.get(`${level} ${task}`);
    if (!value) throw new Error(`V* of task ${task} at level ${level} was not computed before it was needed`);
    return value;
  }

  /** Share of the tasks asked for that nobody had to sample. */
  get cached(): number {
    return this.#asked === 0 ? 0 : this.#found / this.#asked;
  }

  get values(): readonly VstarValue[] {
    return [...this.#values.values()];
  }

  /** Values the tasks that have none yet. `report` gets them in portions, with the episodes that were played. */
  async ensure(
    tasks: readonly Task[],
    level: number,
    samples: number,
    report: (entries: VstarEntry[], episodes: Trajectory[], done: number, total: number) => void | Promise<void>,
  ): Promise<void> {
    const fresh = [...new Map(tasks.map((task) => [task.id, task])).values()].filter((task) => !this.#values.has(`${level} ${task.id}`));
    for (let start = 0; start < fresh.length; start += CHUNK) {
      const part = fresh.slice(start, start + CHUNK);
      const cached = part.map((task) => this.#cache.find(this.#key(task, level, samples)));
      const missing = part.filter((_, index) => !cached[index]);
      const played = await this.#play(missing, level, samples);
      const entries = part.map((task, index) => this.#entry(task, level, cached[index] ?? getOrThrow(played, task)));
      this.#asked += part.length;
      this.#found += part.length - missing.length;
      const episodes = missing.flatMap((task) => getOrThrow(played, task).episodes);
      await report(entries, episodes, Math.min(fresh.length, start + CHUNK), fresh.length);
    }
  }

  /** Gives the memory of the reference's sampler back until more tasks have to be valued. */
  async release(): Promise<void> {
    await this.#actor.sampler.dispose();
  }

  /** What a checkpoint keeps: which tasks have a value, in the order they got it. */
  save(): [task: string, level: number, samples: number][] {
    return this.values.map(({ task, level, samples }) => [task, level, samples]);
  }

  /** Brings the values of a checkpoint back, from the cache or by the same samples as before. */
  async restore(valued: ReturnType<VstarStage['save']>, tasks: readonly Task[]): Promise<void> {
    const byId = new Map(tasks.map((task) => [task.id, task]));
    for (let start = 0; start < valued.length;) {
      const [, level, samples] = at(valued, start);
      let end = start;
      while (end < valued.length && valued[end]?.[1] === level && valued[end]?.[2] === samples) end += 1;
      const part = valued.slice(start, end).flatMap(([id]) => byId.get(id) ?? []);
      await this.ensure(part, level, samples, () => {});
      start = end;
    }
  }

  async #play(tasks: readonly Task[], level: number, samples: number): Promise<Map<string, VstarSamples & { episodes: Trajectory[] }>> {
    const { seed } = this.#config.reference;
    const requests = tasks.flatMap((task) => {
      const relabel = groupNames(this.#config, samples, 'vstar', seed, task.id);
      return Array.from({ length: samples }, (_, index) => {
        const episodeSeed = Random.from('vstar', seed, task.id, index).integer();
        return { task, seed: episodeSeed, purpose: 'vstar' as const, update: 0, relabel, level };
      });
    });
    const episodes = await rollout(this.#actor, requests, drawAt(TEMPERATURE), { signal: this.#signal });
    return new Map(
      tasks.map((task, index) => {
        const samplesOfTask = episodes.slice(index * samples, (index + 1) * samples).map(({ trajectory }) => trajectory);
        const returns = Float64Array.from(samplesOfTask, (trajectory) => trajectory.return);
        const successes = Uint8Array.from(samplesOfTask, (trajectory) => (trajectory.success ? 1 : 0));
        return [task.id, { returns, successes, episodes: samplesOfTask }];
      }),
    );
  }

  #entry(task: Task, level: number, { returns, successes }: VstarSamples): VstarEntry {
    const { vstar } = this.#config;
    const value = vstarOf(vstar.reward === 'binary' ? successes : returns, vstar);
    const success = successes.filter(Boolean).length / successes.length;
    this.#values.set(`${level} ${task.id}`, { value, success, task: task.id, level, samples: returns.length });
    const { samples: _count, ...key } = this.#key(task, level, returns.length);
    return { ...key, returns: Float64Array.from(returns), successes: Uint8Array.from(successes), value };
  }

  #key(task: Task, level: number, samples: number) {
    const { kind, model } = this.#config.policy;
    const world = worldHash(this.#actor.environment, level);
    const price = kind === 'model' ? model.invalidPenalty : 0;
    return {
      worldHash: price > 0 ? contentHash({ world, price }) : world, // returns depend on the price, where there is one
      task: task.id,
      reference: this.#reference,
      seed: this.#config.reference.seed,
      temperature: TEMPERATURE,
      samples,
    };
  }
}

function getOrThrow<T>(played: ReadonlyMap<string, T>, task: Task): T {
  const samples = played.get(task.id);
  if (!samples) throw new Error(`Task ${task.id} was not played`);
  return samples;
}

/** Whether all training tasks are valued before the first update; otherwise each when it is first met. */
export const valuedAtOnce = (catalog: Algorithms, { algorithm, curriculum, vstar }: RunConfig): boolean =>
  algorithmOf(catalog, algorithm).needs.vstar && curriculum.mode === 'off' && vstar.samples.length === 1;

/** Stage 1: V* of the training tasks, as far as it was not estimated before the run was resumed. */
export async function stageOne(run: TrainingRun): Promise<void> {
  const { config, pool, tasks, vstar, policy, reporter, record, resumed } = run;
  const { memory } = record;
  if (resumed) await vstar.restore(memory.valued, pool);
  else {
    const { environment, algorithm } = run.setup;
    const optimistic = algorithm.needs.vstar && optimisticVstar(environment.chance === true, config.vstar.estimator);
    if (optimistic) await reporter.alert(0, optimistic);
  }
  if (memory.evaluated < 0) {
    if (valuedAtOnce(run.setup.catalog, config)) await valueTasks(run, pool, policy.environment.levels - 1, 0);
    tasks.expect(vstar.values);
  }
  await vstar.release();
}

/** The training tasks of a level; with `dropUnsolved` only those that the reference has solved at least once. */
export async function drawableTasks(run: TrainingRun, level: number, update: number): Promise<readonly Task[]> {
  const tasks = run.pool.filter((task) => task.level <= level);
  if (!run.config.vstar.dropUnsolved || !run.setup.algorithm.needs.vstar) return tasks;
  await valueTasks(run, tasks, level, update);
  return tasks.filter((task) => run.vstar.of(task.id, level).success > 0);
}

/** Values the tasks that have no V* yet. */
export async function valueTasks(
  { config, setup, vstar, record, reporter }: TrainingRun,
  tasks: readonly Task[],
  level: number,
  update: number,
): Promise<void> {
  if (!setup.algorithm.needs.vstar) return;
  const samples = scheduled(config.vstar.samples, Math.max(0, update - 1), config.training.updates);
  await vstar.ensure(tasks, level, samples, async (entries, episodes, done, total) => {
    await record.commit({ type: 'valued', update, entries, episodes: update === 0 ? episodes : [] });
    await reporter.progress(update, PHASES.vstar, done, total);
  });
}
