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
    const found: number[] = [];
    for await (const ids of this.#textsOf(store, run, record)) {
      for (const id of ids) if (store.episodes.textHas(id, part)) found.push(id);
    }
    this.#found = { key, ids: found };
    return found;
  }

  /** The texts a few at a time, with pauses in which other calls are answered. */
  async *#textsOf(store: Store, run: number, record: string): AsyncGenerator<readonly number[]> {
    let pause = performance.now() + AT_A_TIME;
    const all: number[] = [];
    for (const batch of this.#texts.key === record ? [this.#texts.ids] : store.episodes.textsOf(run)) {
      for (let from = 0; from === 0 || from < batch.length; from += FEW) {
        const ids = batch.slice(from, from + FEW);
        yield ids;
        all.push(...ids);
        if (performance.now() < pause) continue;
        await setImmediate();
        pause = performance.now() + AT_A_TIME;
      }
    }
    this.#texts = { key: record, ids: all };
  }
}

/** Texts between two looks at the clock. */
const FEW = 50;
