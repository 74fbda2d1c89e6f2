// Which episodes are kept. All of them by default; a long run may keep every nth update's, the best and worst of each
// update, or those of evaluations only. Metrics, evaluations' results and checkpoints are always kept. `estimate` says
// beforehand what a run will take on disk.

import type { Trajectory } from '../rollout/trajectory.ts';
import type { Retention } from '../base/vocabulary.ts';

export interface RetentionSettings {
  readonly keep: Retention;
  /** With `nth`: episodes of every nth update are kept. */
  readonly every: number;
  /** With `best-worst`: how many of each end are kept per update. */
  readonly ends: number;
  /** Also keep the reference's samples behind V*. */
  readonly vstar: boolean;
}

export const KEEP_ALL: RetentionSettings = { keep: 'all', every: 1, ends: 1, vstar: true };

/** The episodes of an update that are stored, in their order. */
export function retained(settings: RetentionSettings, update: number, episodes: readonly Trajectory[]): Trajectory[] {
  const candidates = episodes.filter((episode) => episode.purpose !== 'vstar' || settings.vstar);
  const evaluated = (episode: Trajectory): boolean => episode.purpose === 'evaluation';
  switch (settings.keep) {
    case 'all':
      return candidates;
    case 'nth':
      return candidates.filter((episode) => evaluated(episode) || update % settings.every === 0);
    case 'evaluation':
      return candidates.filter(evaluated);
    case 'best-worst': {
      const ranked = candidates.filter((episode) => !evaluated(episode)).toSorted((a, b) => a.return - b.return);
      const ends = new Set([...ranked.slice(0, settings.ends), ...ranked.slice(-settings.ends)]);
      return candidates.filter((episode) => evaluated(episode) || ends.has(episode));
    }
  }
}
