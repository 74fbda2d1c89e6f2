// A row that talks to itself: what the benchmarks of sampling draw, without a world.

import type { Drawn } from '../../main/policy/sampling/draw.ts';
import type { Feed, SampledEpisode } from '../../main/policy/sampling/sampler.ts';
import { Random } from '../../main/base/random.ts';

/** Writes `left` tokens after one start token, as the peer does. */
export class Monologue implements SampledEpisode {
  readonly random: Random;
  readonly mask = undefined;
  readonly logProbs: number[] = [];
  #left: number;
  #next: Feed = { tokens: [0], flags: [0], newRow: true };

  constructor(seed: number, length: number) {
    this.random = Random.from('sample', seed);
    this.#left = length;
  }

  get done(): boolean {
    return this.#left === 0;
  }

  take(): Feed {
    return this.#next;
  }

  accept({ token, logProb }: Drawn): void {
    this.logProbs.push(logProb);
    this.#next = { tokens: [token], flags: [0], newRow: false };
    this.#left--;
  }
}
