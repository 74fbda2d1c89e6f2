// Stage 1: V* of tasks from samples of the frozen reference. A task's samples depend only on world, level, reference, seed
// and their number, so they are looked up first and sampled only when nobody has before. With one sample count all
// training tasks are valued before the first update; with a schedule (8 → 4 → 2) each task when it is first met.

import { at } from '../base/indexed.ts';
import { contentHash } from '../base/canonical.ts';
import { vstarOf } from '../algorithm/vstar.ts';
import type { Task } from '../environment/environment.ts';
import { Random } from '../base/random.ts';
import { groupNames } from './group-names.ts';
import { type Actor, type RolloutOptions, drawAt, rollout } from '../rollout/rollout.ts';
import type { Trajectory } from '../rollout/trajectory.ts';
import type { RunConfig } from '../config/config.ts';
import type { VstarLookup, VstarSamples } from './host.ts';
import type { VstarEntry } from './reports.ts';
import { worldHash } from './run-setup.ts';

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
  readonly #poll: RolloutOptions['poll'];
  readonly #known = new Map<string, VstarValue>();
  #asked = 0;
  #found = 0;

  /** `reference` is the hash of the reference's weights; `actor` acts with them. `poll` is awaited between batches of episodes. */
  constructor(config: RunConfig, actor: Actor, reference: string, cache: VstarLookup, poll?: RolloutOptions['poll']) {
    this.#config = config;
    this.#actor = actor;
    this.#reference = reference;
    this.#cache = cache;
    this.#poll = poll;
  }

  /** V* of a task at a level; `ensure` must have been asked for it. */
  of(task: string, level: number): VstarValue {
    const known = this.#known.get(`${level} ${task}`);
    if (!known) throw new Error(`V* of task ${task} at level ${level} was not computed before it was needed`);
    return known;
  }

  /** Share of the tasks asked for that nobody had to sample. */
  get cached(): number {
    return this.#asked === 0 ? 0 : this.#found / this.#asked;
  }

  get values(): readonly VstarValue[] {
    return [...this.#known.values()];
  }

  /** Values the tasks that have none yet. `report` gets them in portions, with the episodes that were played. */
  async ensure(
    tasks: readonly Task[],
    level: number,
    samples: number,
    report: (entries: VstarEntry[], episodes: Trajectory[], done: number, total: number) => void | Promise<void>,
  ): Promise<void> {
    const fresh = [...new Map(tasks.map((task) => [task.id, task])).values()].filter((task) => !this.#known.has(`${level} ${task.id}`));
    for (let start = 0; start < fresh.length; start += CHUNK) {
      const part = fresh.slice(start, start + CHUNK);
      const cached = part.map((task) => this.#cache.find(this.#key(task, level, samples)));
      const missing = part.filter((_, index) => !cached[index]);
      const played = await this.#play(missing, level, samples);
      const entries = part.map((task, index) => this.#entry(task, level, cached[index] ?? need(played, task)));
      this.#asked += part.length;
      this.#found += part.length - missing.length;
      const episodes = missing.flatMap((task) => need(played, task).episodes);
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
    const episodes = await rollout(this.#actor, requests, drawAt(TEMPERATURE), { poll: this.#poll });
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
    this.#known.set(`${level} ${task.id}`, { value, success, task: task.id, level, samples: returns.length });
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

function need<T>(played: ReadonlyMap<string, T>, task: Task): T {
  const samples = played.get(task.id);
  if (!samples) throw new Error(`Task ${task.id} was not played`);
  return samples;
}
