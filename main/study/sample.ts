// A study small enough to hand round: everything that charts, tables and the task matrix need, but of each run's episodes only
// a few, with every kind of failure that occurred among them, and no weights unless asked for.

import type { ExportOptions } from '../interchange/transfer.ts';
import type { Run } from '../store/runs.ts';
import type { Store } from '../store/store.ts';

/** Failures of one class that are kept where they occurred. */
const OF_EACH_CLASS = 2;
/** Of the final evaluation the same first tasks are kept in every run, so that two policies can be seen on one task. */
const SHARED_TASKS = 10;
/** Distributions are kept of so many updates. */
const DISTRIBUTIONS = 4;

interface Candidate {
  readonly id: number;
  readonly update: number;
  readonly failure: string | null;
}

/** At least `least` of the episodes (or all there are): the latest failures of every class, the rest spread over the run. */
export function thinned(episodes: readonly Candidate[], least: number): Set<number> {
  const chosen = new Set<number>();
  const classes = new Set(episodes.flatMap(({ failure }) => failure ?? []));
  for (const name of classes) {
    const own = episodes.filter(({ failure }) => failure === name);
    for (const { id } of own.slice(-OF_EACH_CLASS)) chosen.add(id);
  }
  const rest = episodes.filter(({ id }) => !chosen.has(id));
  const wanted = Math.min(rest.length, least - chosen.size);
  for (let place = 0; place < wanted; place++) {
    const spread = wanted === 1 ? rest.length - 1 : Math.round((place * (rest.length - 1)) / (wanted - 1));
    const { id } = rest[spread] ?? {};
    if (id !== undefined) chosen.add(id);
  }
  return chosen;
}

/** How a run is cut down for an export. */
export function thinning(store: Store, least: number): NonNullable<ExportOptions['thin']> {
  return (run: Run) => {
    const played = [...store.episodes.each(run.id)].filter(({ purpose }) => purpose !== 'vstar');
    const every = Math.max(1, Math.ceil(run.updates / DISTRIBUTIONS));
    const shown = store.evaluations.finalOrLatest(run.id);
    const shared = (shown ? store.evaluations.results(shown.id) : [])
      .toSorted((a, b) => (a.task < b.task ? -1 : 1))
      .slice(0, SHARED_TASKS)
      .flatMap(({ episode }) => episode ?? []);
    return {
      episodes: new Set([...thinned(played, least), ...shared]),
      distribution: (update) => update === 1 || update % every === 0 || update === run.updates,
    };
  };
}
