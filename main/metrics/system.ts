// What a training process takes of the machine between two updates: processor time, memory. The load of a GPU is not
// given by any portable interface and so is left out rather than guessed.

import { availableParallelism, freemem } from 'node:os';

export class SystemSampler {
  readonly #memory: () => number;
  readonly #clock: () => number;
  #cpu = process.cpuUsage();
  #time: number;

  /** `memory`: bytes that the process takes. `clock` in ms; given by tests. */
  constructor(memory: () => number = () => process.memoryUsage.rss(), clock: () => number = () => performance.now()) {
    this.#memory = memory;
    this.#clock = clock;
    this.#time = clock();
  }

  /** Numbers since the last call, by glossary name. */
  sample(): Record<'system/cpu' | 'system/memory' | 'system/memory.free', number> {
    const now = this.#clock();
    const { user, system } = process.cpuUsage(this.#cpu);
    const elapsedMs = now - this.#time;
    this.#cpu = process.cpuUsage();
    this.#time = now;
    return {
      'system/cpu': elapsedMs > 0 ? (user + system) / 1000 / elapsedMs / availableParallelism() : 0,
      'system/memory': this.#memory() / 1e6,
      'system/memory.free': freemem() / 1e6,
    };
  }
}
