// Which tasks come up in an update. Evenly; or in proportion to floor + (1 − running success), so that effort goes where
// something is still to be learned while nothing mastered is ever forgotten; or to floor + 4 p (1 − p) of the running success p,
// which prefers tasks that sometimes succeed and sometimes fail, because only those tell good actions from bad ones. Drawn without
// replacement within an update (weights as exponential races), which keeps a small batch varied.

import type { RunConfig } from '../config/config.ts';
import type { Environment, Task } from '../environment/environment.ts';
import { Random } from '../base/random.ts';

export interface TaskSamplingSettings {
  readonly mode: 'uniform' | 'prioritised' | 'mixed';
  readonly floor: number;
  readonly memory: number;
}

/** Running success by task id: plain data, saved with a checkpoint. */
export type TaskMemory = Readonly<Record<string, number>>;

/** The tasks that a run trains on: which ones depends on its seed. */
export function trainingPool({ seed, training }: RunConfig, environment: Environment): Task[] {
  return Random.from('training-tasks', seed)
    .shuffle(environment.tasks('train', environment.levels - 1))
    .slice(0, training.tasks);
}

export class TaskSampler {
  readonly #settings: TaskSamplingSettings;
  readonly #success = new Map<string, number>();

  constructor(settings: TaskSamplingSettings, memory: TaskMemory = {}) {
    this.#settings = settings;
    for (const [task, success] of Object.entries(memory)) this.#success.set(task, success);
  }

  /** `count` tasks, each at most once as long as there are enough of them. */
  draw(tasks: readonly Task[], count: number, random: Random): Task[] {
    if (tasks.length === 0) throw new Error('There are no training tasks to draw from: use a larger level or more tasks');
    const drawn: Task[] = [];
    while (drawn.length < count) {
      const race = tasks.map((task) => ({ task, time: -Math.log(1 - random.next()) / this.#weight(task) }));
      race.sort((a, b) => a.time - b.time);
      for (const { task } of race.slice(0, count - drawn.length)) drawn.push(task);
    }
    return drawn;
  }

  /** Takes note of how an episode ended. */
  record(task: string, success: boolean): void {
    const now = success ? 1 : 0;
    const before = this.#success.get(task);
    const { memory } = this.#settings;
    this.#success.set(task, before === undefined ? now : memory * before + (1 - memory) * now);
  }

  /** With mode `mixed`, what the samples of stage 1 say of tasks that were not trained on yet: which of them the reference sometimes solves. */
  expect(values: Iterable<{ readonly task: string; readonly success: number }>): void {
    if (this.#settings.mode !== 'mixed') return;
    for (const { task, success } of values) if (!this.#success.has(task)) this.#success.set(task, success);
  }

  save(): TaskMemory {
    return Object.fromEntries(this.#success);
  }

  #weight(task: Task): number {
    const { mode, floor } = this.#settings;
    if (mode === 'uniform') return 1;
    const success = this.#success.get(task.id);
    if (mode === 'prioritised') return floor + (1 - (success ?? 0));
    return floor + (success === undefined ? 1 : 4 * success * (1 - success));
  }
}
