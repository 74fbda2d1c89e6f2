// Looks for a text in everything that the world showed during a run. Observations are stored once and deflated, so each is unpacked
// and read; a large run has tens of thousands, so this process answers other calls in between.

import { inSlices } from '../base/slices.ts';
import type { EpisodeFilter } from '../store/episodes.ts';
import type { Store } from '../store/store.ts';

export class EpisodeSearch {
  /** The texts of the run that was searched last, and what was found: scrolling and typing ask again. */
  #texts: { readonly key: string; readonly ids: readonly number[] } = { key: '', ids: [] };
  #found: { readonly key: string; readonly ids: readonly number[] } = { key: '', ids: [] };

  /** Ids of the episodes that pass the filter, its text looked for in observations and thoughts too. */
  episodes(store: Store, run: number, filter: EpisodeFilter): Promise<readonly number[]> {
    return inSlices(this.#episodes(store, run, filter));
  }

  *#episodes(store: Store, run: number, filter: EpisodeFilter): Generator<void, readonly number[]> {
    const record = `${run} ${store.episodes.count(run)}`;
    const observations = yield* this.#textsWith(store, run, record, filter.text ?? '');
    const found: number[] = [];
    for (const ids of store.episodes.matching(run, { ...filter, observations })) {
      for (const id of ids) found.push(id);
      yield;
    }
    return found;
  }

  /** Ids of the texts that have the part. */
  *#textsWith(store: Store, run: number, record: string, part: string): Generator<void, readonly number[]> {
    const key = `${record} ${part}`;
    if (this.#found.key === key) return this.#found.ids;
    const all: number[] = [];
    const found: number[] = [];
    for (const batch of this.#texts.key === record ? [this.#texts.ids] : store.episodes.textsOf(run)) {
      for (const id of batch) {
        all.push(id);
        if (store.episodes.textHas(id, part)) found.push(id);
        if (all.length % FEW === 0) yield;
      }
      yield;
    }
    this.#texts = { key: record, ids: all };
    this.#found = { key, ids: found };
    return found;
  }
}

/** Texts between two looks at the clock. */
const FEW = 50;
