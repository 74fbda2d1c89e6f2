// Many episodes at once: each is played by itself, the sampler only shares the model's work among them. The numbers of an
// episode do not depend on the company it was played in.

import type { Environment } from '../environment/environment.ts';
import type { DrawSettings } from '../policy/draw.ts';
import type { Sampler } from '../policy/sampler.ts';
import { type Episode, EpisodeInPlay, type EpisodeRequest, type TextCodec } from './episode.ts';

/** Who acts, where, and how it speaks. */
export interface Actor {
  readonly environment: Environment;
  readonly codec: TextCodec;
  readonly sampler: Sampler;
}

/** Plays all requests to their end; the answer is in their order. `progress` hears of every finished episode. */
export async function rollout(
  player: Actor,
  requests: readonly EpisodeRequest[],
  draw: DrawSettings,
  progress: (done: number) => void = () => {},
): Promise<Episode[]> {
  const playing: EpisodeInPlay[] = [];
  let finished = 0;
  function* begin(): Generator<EpisodeInPlay> {
    for (const request of requests) {
      const episode = new EpisodeInPlay(player.environment, player.codec, request, () => progress(++finished));
      playing.push(episode);
      yield episode;
    }
  }
  await player.sampler.run(begin(), draw);
  return playing.map((episode) => episode.finish());
}

/** Greedy at temperature 0, else sampling: one number says both. */
export const drawAt = (temperature: number): DrawSettings => (temperature === 0 ? { greedy: true } : { temperature });
