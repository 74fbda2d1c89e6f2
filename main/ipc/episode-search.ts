// Looks for a text in everything that the world showed during a run. Observations are stored once and deflated, so each is unpacked
// and read; a large run has tens of thousands, so this process answers other calls in between.

import { setImmediate } from 'node:timers/promises';
import type { Store } from '../store/store.ts';

/** Milliseconds without a pause; a call that waits this long is not felt. */
const AT_A_TIME = 20;

export class EpisodeSearch {
  /** The texts of the run that was searched last, and what was found: scrolling and typing ask again. */
  #texts: { readonly key: string; readonly ids: readonly number[] } = { key: '', ids: [] };
  #found: { readonly key: string; readonly ids: readonly number[] } = { key: '', ids: [] };

  /** Ids of the texts that have the part. */
  async texts(store: Store, run: number, part: string): Promise<readonly number[]> {
    const record = `${run} ${store.episodes.count(run)}`;
    const key = `${record} ${part}`;
    if (this.#found.key === key) return this.#found.ids;
    if (this.#texts.key !== record) this.#texts = { key: record, ids: store.episodes.textsOf(run) };
    const found: number[] = [];
    let pause = performance.now() + AT_A_TIME;
    for (const id of this.#texts.ids) {
      if (store.episodes.textHas(id, part)) found.push(id);
      if (performance.now() < pause) continue;
      await setImmediate();
      pause = performance.now() + AT_A_TIME;
    }
    this.#found = { key, ids: found };
    return found;
  }
}
