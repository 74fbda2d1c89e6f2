// Talking to a language model outside of any world: log-probabilities of given tokens, and the continuation of a prompt. Both go through
// the sampler and the scorer that training uses.

import type { Flat } from '../../engine/graph/parameters.ts';
import { Random } from '../../base/random.ts';
import { PackedBatch, bucket } from '../transformer/batch.ts';
import type { DrawSettings, Drawn } from '../sampling/draw.ts';
import { EVERYTHING } from '../text/grammar-mask.ts';
import type { PolicyNetwork } from '../transformer/network.ts';
import { Sampler } from '../sampling/sampler.ts';
import type { Feed, SampledEpisode } from '../sampling/sampler.ts';
import { Scorer } from '../transformer/scorer.ts';

/** Tokens that are scored at once, padding included. */
const SCORED_AT_ONCE = 2048;

/** log p of every token but the first of each list, given those before it. */
export async function scoreTokens(
  network: PolicyNetwork,
  weights: Flat,
  lists: readonly (readonly number[])[],
  options: { threads?: number } = {},
): Promise<Float32Array[]> {
  const scorer = new Scorer(network, weights, options);
  try {
    const order = lists.map((_, index) => index).sort((a, b) => (lists[a]?.length ?? 0) - (lists[b]?.length ?? 0));
    const results: Float32Array[] = lists.map(() => new Float32Array(0));
    for (let start = 0; start < order.length;) {
      let end = start + 1;
      while (end < order.length && (end + 1 - start) * bucket(lists[order[end] ?? 0]?.length ?? 0) <= SCORED_AT_ONCE) end++;
      const part = order.slice(start, end);
      const scores = await scoreTogether(
        scorer,
        network,
        part.map((index) => lists[index] ?? []),
      );
      for (const [i, index] of part.entries()) results[index] = scores[i] ?? new Float32Array(0);
      start = end;
    }
    return results;
  } finally {
    await scorer.dispose();
  }
}

async function scoreTogether(scorer: Scorer, network: PolicyNetwork, lists: readonly (readonly number[])[]): Promise<Float32Array[]> {
  const episodes = lists.map((tokens) => [
    {
      tokens: [...tokens],
      flags: tokens.map(() => 0),
      agent: tokens.slice(1).map((target, position) => ({ position, target, mask: EVERYTHING })),
    },
  ]);
  const longest = Math.max(2, ...lists.map((tokens) => tokens.length));
  if (longest > network.contextLength)
    throw new RangeError(`A list of ${longest} tokens does not fit the model's context of ${network.contextLength}`);
  const length = Math.min(network.contextLength, bucket(longest));
  const rows = bucket(lists.length);
  const shape = { rows, time: length, agentTokens: length, masks: 0, episodes: rows };
  return (await scorer.score(new PackedBatch(episodes, network, shape))).logProbs;
}

export interface GenerateSettings extends DrawSettings {
  readonly maxTokens: number;
  /** An answer ends with one of these; the mark itself is left out. */
  readonly endTokens: readonly number[];
  readonly seed: number;
}

/** Continues every prompt; only the new tokens are returned. */
export async function generateTokens(
  network: PolicyNetwork,
  weights: Flat,
  prompts: readonly (readonly number[])[],
  settings: GenerateSettings,
  options: { threads?: number } = {},
): Promise<number[][]> {
  for (const prompt of prompts) {
    if (prompt.length === 0) throw new RangeError('A prompt needs at least one token');
    if (prompt.length + settings.maxTokens > network.contextLength)
      throw new RangeError(
        `A prompt of ${prompt.length} tokens and ${settings.maxTokens} new ones do not fit the context of ${network.contextLength}; choose fewer`,
      );
  }
  const answers = prompts.map((prompt, index) => new Continuation(prompt, settings, index));
  const sampler = new Sampler(network, weights, { capacity: Math.min(16, prompts.length), ...options });
  try {
    await sampler.run(answers, settings);
  } finally {
    await sampler.dispose();
  }
  return answers.map(({ said }) => said);
}

class Continuation implements SampledEpisode {
  readonly random: Random;
  readonly mask = undefined;
  readonly said: number[] = [];
  readonly #settings: GenerateSettings;
  #unread: readonly number[];
  #begun = false;
  done = false;

  constructor(prompt: readonly number[], settings: GenerateSettings, index: number) {
    this.random = Random.from('generate', settings.seed, index);
    this.#unread = prompt;
    this.#settings = settings;
    this.done = settings.maxTokens === 0;
  }

  take(): Feed {
    const tokens = this.#unread;
    const newRow = !this.#begun;
    this.#unread = [];
    this.#begun = true;
    return { tokens, flags: tokens.map(() => 0), newRow };
  }

  accept({ token }: Drawn): void {
    if (this.#settings.endTokens.includes(token)) {
      this.done = true;
      return;
    }
    this.said.push(token);
    this.#unread = [token];
    this.done = this.said.length >= this.#settings.maxTokens;
  }
}
