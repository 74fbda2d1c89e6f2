// Many episodes at once: each is played by itself, the sampler only shares the model's work among them. The numbers of an
// episode do not depend on the company it was played in.

import type { Environment } from '../environment/environment.ts';
import type { BeamSettings } from '../policy/sampling/beam.ts';
import type { DrawSettings } from '../policy/sampling/draw.ts';
import type { EpisodeSampler, SampledEpisode } from '../policy/sampling/sampler.ts';
import { type Episode, EpisodeInPlay, type EpisodeRequest, type TextCodec } from './episode.ts';

/** Who acts, where, and how it speaks. */
export interface Actor {
  readonly environment: Environment;
  readonly codec: TextCodec;
  readonly sampler: EpisodeSampler;
}

/** How many beginnings a world in another process is sent at once. */
const PREFETCH = 64;

export interface RolloutOptions {
  /** Called after every finished episode. */
  readonly progress?: (done: number) => void;
  /** Looked at between calls of the model: aborted, it ends the rollout there. */
  readonly signal?: AbortSignal | undefined;
  /** The most probable answers that a beam search finds, instead of drawn ones. */
  readonly beam?: BeamSettings | undefined;
}

/** Plays all requests to their end; the answer is in their order. */
export async function rollout(
  player: Actor,
  requests: readonly EpisodeRequest[],
  draw: DrawSettings,
  { progress, signal, beam }: RolloutOptions = {},
): Promise<Episode[]> {
  const { environment } = player;
  const { batching } = environment;
  const most = batching?.concurrent;
  const playing: EpisodeInPlay[] = [];
  let finished = 0;
  function* begin(): Generator<EpisodeInPlay> {
    for (const [index, request] of requests.entries()) {
      if (index % PREFETCH === 0) batching?.prefetch(requests.slice(index, index + PREFETCH));
      const batched = { ...request, batched: batching !== undefined };
      const episode = new EpisodeInPlay(environment, player.codec, batched, () => progress?.(++finished));
      playing.push(episode);
      yield episode;
    }
  }
  const settle = (waiting: readonly SampledEpisode[]): void => {
    const episodes = waiting.filter((episode) => episode instanceof EpisodeInPlay);
    const turns = batching?.stepMany(episodes.map(({ move }) => move)) ?? [];
    for (const [index, turn] of turns.entries()) episodes[index]?.answer(turn);
  };
  await player.sampler.run(begin(), draw, { settle, beam, signal, ...(most !== undefined && { most }) });
  return playing.map((episode) => episode.finish());
}

/** Greedy at temperature 0, else sampling: one number says both. */
export const drawAt = (temperature: number, minP = 0): DrawSettings => (temperature === 0 ? { greedy: true } : { temperature, minP });
