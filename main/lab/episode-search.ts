// Looks for a text in everything that the world showed during a run. Observations are stored once and deflated, so each is unpacked and read.

import type { EpisodeFilter } from '../store/episodes.ts';
import type { Store } from '../store/store.ts';

export class EpisodeSearch {
  /** The texts of the run that was searched last, and what was found: scrolling and typing ask again. */
  #texts: { readonly key: string; readonly ids: readonly number[] } = { key: '', ids: [] };
  #found: { readonly key: string; readonly ids: readonly number[] } = { key: '', ids: [] };

  /** Ids of the episodes that pass the filter, its text looked for in observations and thoughts too. */
  episodes(store: Store, run: number, filter: EpisodeFilter): readonly number[] {
    const observations = this.#textsWith(store, run, filter.text ?? '');
    return [...store.episodes.matching(run, { ...filter, observations })].flat();
  }

  /** Ids of the texts that have the part. */
  #textsWith(store: Store, run: number, part: string): readonly number[] {
    const record = `${run} ${store.episodes.count(run)}`;
    const key = `${record} ${part}`;
    if (this.#found.key === key) return this.#found.ids;
    const ids = this.#texts.key === record ? this.#texts.ids : [...store.episodes.textsOf(run)].flat();
    this.#texts = { key: record, ids };
    this.#found = { key, ids: ids.filter((id) => store.episodes.textHas(id, part)) };
    return this.#found.ids;
  }
}
