// Chooses the next token from a row of logits: under a mask, at a temperature, or simply the likeliest.
// Only allowed tokens are ever looked at, so a forbidden one has probability zero exactly, and all numbers are those of the
// distribution that was drawn from. Sums are in double precision and in ascending token order (of every second token each): the same
// logits and the same generator always give the same token.

import { NotFiniteError } from '../../engine/runtime/errors.ts';
import { Softmax, GROUP } from './softmax.ts';

/** How many alternatives are kept per token. */
export const TOP_ALTERNATIVES = 4;

/** The numbers of one drawn token. */
export interface DrawnToken {
  readonly token: number;
  /** log π under the mask, at temperature 1: what losses and ratios are about, whatever temperature it was drawn at. */
  readonly policyLogProb: number;
  /** Entropy of the distribution it was drawn from. */
  readonly entropy: number;
  /** Most probable tokens first, with their probabilities; at most TOP_ALTERNATIVES count. */
  readonly top: readonly { readonly token: number; readonly probability: number }[];
}

export interface DrawSettings {
  /** Logits are divided by it; 1 leaves the policy as it is. */
  readonly temperature?: number;
  /** Take the likeliest token. The numbers are then those of the policy at temperature 1. */
  readonly greedy?: boolean;
  /** Tokens with less than this share of the likeliest one's probability (at the temperature) are never drawn; 0: all may be. */
  readonly minP?: number;
}

/** A drawn token, with its log-probability under the distribution of the draw (at its temperature) beside the policy's. */
export interface Drawn extends DrawnToken {
  readonly logProb: number;
}

/** The settings with their defaults; greedy draws have the policy's own temperature. */
export function drawNumbers({ temperature = 1, greedy = false, minP = 0 }: DrawSettings = {}): Required<DrawSettings> {
  if (!(temperature > 0)) throw new RangeError(`The temperature must be above 0, found ${temperature}; use greedy for the likeliest token`);
  if (!(minP >= 0 && minP <= 1)) throw new RangeError(`min-p must be a share from 0 to 1, found ${minP}`);
  return { temperature: greedy ? 1 : temperature, greedy, minP: greedy ? 0 : minP };
}

const damaged = (logSum: number): NotFiniteError =>
  new NotFiniteError(`The policy's logits are not finite (log-sum ${logSum}); its weights are damaged`);

export class Drawer {
  readonly #temperature: number;
  readonly #greedy: boolean;
  readonly #minP: number;
  readonly #ids: Int32Array;
  readonly #softmax: Softmax;
  readonly #scores: Float64Array;
  readonly #weights: Float64Array;

  constructor(vocabulary: number, settings: DrawSettings = {}) {
    const { temperature, greedy, minP } = drawNumbers(settings);
    this.#temperature = temperature;
    this.#greedy = greedy;
    this.#minP = minP;
    this.#ids = new Int32Array(vocabulary);
    for (let id = 0; id < vocabulary; id++) this.#ids[id] = id;
    this.#softmax = new Softmax(vocabulary);
    this.#scores = this.#softmax.scores;
    this.#weights = this.#softmax.weights;
  }

  /** `allowed` holds token ids in ascending order (undefined: every token). `uniform` gives a number in [0, 1). */
  draw(logits: Float32Array, allowed: Int32Array | undefined, uniform: () => number): Drawn {
    const ids = allowed ?? this.#ids;
    const count = ids.length;
    if (count === 0) throw new RangeError('No token is allowed here: the mask is empty, or the action was already complete');
    const policyNormal = this.#load(logits, ids, 1);
    if (!Number.isFinite(policyNormal)) throw damaged(policyNormal);
    const normal = this.#temperature === 1 ? policyNormal : this.#load(logits, ids, this.#temperature);

    const top = this.#top(count);
    const alternatives = top.map((i) => ({ token: ids[i]!, probability: this.#weights[i]! / this.#total }));
    const kept = this.#minP > 0 ? this.#keep(count) : this.#total;
    const choice = this.#greedy ? top[0]! : this.#choose(count, uniform() * kept, normal);
    // −Σ p · log p with p = weight / total and log p = score − normal: of all tokens, also those that min-p leaves out.
    const entropy = normal - this.#moment / this.#total;
    return {
      token: ids[choice]!,
      logProb: this.#scores[choice]! - normal - Math.log(kept / this.#total),
      policyLogProb: logits[ids[choice]!]! - policyNormal,
      entropy: Math.max(0, entropy),
      top: alternatives,
    };
  }

  /** The whole distribution at temperature 1: every allowed token as if it had been drawn. */
  each(logits: Float32Array, allowed: Int32Array | undefined): Drawn[] {
    const ids = allowed ?? this.#ids;
    const normal = this.#load(logits, ids, 1);
    if (!Number.isFinite(normal)) throw damaged(normal);
    const entropy = Math.max(0, normal - this.#moment / this.#total);
    const top = this.#top(ids.length).map((i) => ({ token: ids[i]!, probability: this.#weights[i]! / this.#total }));
    return Array.from(ids, (token, i) => {
      const logProb = this.#scores[i]! - normal;
      return { token, logProb, policyLogProb: logProb, entropy, top };
    });
  }

  /** Sum of the weights, and of weight · score. */
  #total = 0;
  #moment = 0;

  /** Fills scores and unnormalised weights; returns the logarithm of the weights' sum. */
  #load(logits: Float32Array, ids: Int32Array, temperature: number): number {
    const count = ids.length;
    const scores = this.#scores;
    if (ids !== this.#ids) for (let i = 0; i < count; i++) scores[i] = logits[ids[i]!]! / temperature;
    else if (temperature === 1) for (let i = 0; i < count; i++) scores[i] = logits[i]!;
    else for (let i = 0; i < count; i++) scores[i] = logits[i]! / temperature;
    const { most, total, moment } = this.#softmax.run(count);
    this.#total = total;
    this.#moment = moment;
    return most + Math.log(total);
  }

  /** Sum of the weights that min-p leaves; the largest weight is 1. The others become 0, after the likeliest have been noted. */
  #keep(count: number): number {
    let kept = 0;
    for (let i = 0; i < count; i++) {
      if (this.#weights[i]! < this.#minP) this.#weights[i] = 0;
      else kept += this.#weights[i]!;
    }
    return kept;
  }

  /** The token at which the weights, added up, pass `share`. */
  #choose(count: number, share: number, normal: number): number {
    const weights = this.#weights;
    let left = share;
    let last = 0;
    for (let i = 0; i < count; i++) {
      const weight = weights[i]!;
      if (weight === 0) continue;
      last = i;
      left -= weight;
      if (left < 0) return i;
    }
    if (!Number.isFinite(normal)) throw new NotFiniteError('The distribution to draw from is not finite');
    return last; // rounding left a hair at the end
  }

  /** Places of the likeliest tokens, best first; the smaller id wins a tie. */
  #top(count: number): number[] {
    const weights = this.#weights;
    const { largest } = this.#softmax;
    const best: number[] = [];
    let threshold = 0;
    for (let start = 0; start < count; start += GROUP) {
      if (largest[(2 * start) / GROUP]! <= threshold) continue;
      const end = Math.min(count, start + GROUP);
      for (let i = start; i < end; i++) {
        const weight = weights[i]!;
        if (weight <= threshold) continue;
        let at = best.length;
        while (at > 0 && weight > weights[best[at - 1]!]!) at--;
        best.splice(at, 0, i);
        if (best.length > TOP_ALTERNATIVES) best.pop();
        if (best.length === TOP_ALTERNATIVES) threshold = weights[best[TOP_ALTERNATIVES - 1]!]!;
      }
    }
    return best;
  }
}
