// Stars and comments on episodes. An episode without either has no row.

import type { Connection } from './database.ts';
import { episodeRange } from './trajectories.ts';

export interface EpisodeNote {
  readonly starred: boolean;
  readonly comment: string;
}

const NO_NOTE: EpisodeNote = { starred: false, comment: '' };

export class EpisodeNotes {
  readonly #db: Connection;

  constructor(db: Connection) {
    this.#db = db;
  }

  get(episode: number): EpisodeNote {
    const row = this.#db
      .prepare<[number], { starred: number; comment: string }>('SELECT starred, comment FROM episode_notes WHERE episode_id = ?')
      .get(episode);
    return row === undefined ? NO_NOTE : { starred: row.starred === 1, comment: row.comment };
  }

  set(episode: number, { starred, comment }: EpisodeNote, time = Date.now()): void {
    if (!starred && comment === '') this.#db.prepare('DELETE FROM episode_notes WHERE episode_id = ?').run(episode);
    else
      this.#db
        .prepare('INSERT OR REPLACE INTO episode_notes (episode_id, starred, comment, changed_at) VALUES (?, ?, ?, ?)')
        .run(episode, starred ? 1 : 0, comment, time);
  }

  /** The noted episodes of a run. */
  ofRun(run: number): Map<number, EpisodeNote> {
    const rows = this.#db
      .prepare<[number, number], { episode_id: number; starred: number; comment: string }>(
        'SELECT episode_id, starred, comment FROM episode_notes WHERE episode_id BETWEEN ? AND ? ORDER BY episode_id',
      )
      .all(...episodeRange(run));
    return new Map(rows.map(({ episode_id, starred, comment }) => [episode_id, { starred: starred === 1, comment }]));
  }
}
