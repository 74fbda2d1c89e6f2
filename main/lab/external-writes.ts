// What other processes do to the runs and studies (`lab train` in a terminal while the window is open): the database says that somebody else has written to it, and
// then the rows that differ from those seen last are told.

import type { Store } from '../store/store.ts';
import type { RunSummary } from '../store/runs.ts';

const EVERY_MS = 2000;

export interface ExternalOptions {
  onChanged(run: RunSummary): void;
  onGone(runs: readonly number[]): void;
  /** A study was added, changed or deleted. */
  onStudies(): void;
}

export class ExternalWrites {
  readonly #store: Store;
  readonly #options: ExternalOptions;
  readonly #timer: NodeJS.Timeout;
  /** Each run as it was seen last. */
  #seen: ReadonlyMap<number, string>;
  #studies: string;
  #version: number;

  constructor(store: Store, options: ExternalOptions, every = EVERY_MS) {
    this.#store = store;
    this.#options = options;
    this.#seen = this.#runs().seen;
    this.#studies = this.#listed();
    this.#version = this.#written();
    this.#timer = setInterval(() => {
      try {
        this.look();
      } catch {
        // The folder is gone or locked: whoever needs it says so.
      }
    }, every);
    this.#timer.unref();
  }

  /** Looks now. */
  look(): void {
    if (!this.#store.db.open) return;
    const version = this.#written();
    if (version === this.#version) return;
    this.#version = version;
    const before = this.#seen;
    const { seen, runs } = this.#runs();
    this.#seen = seen;
    for (const run of runs) if (before.get(run.id) !== seen.get(run.id)) this.#options.onChanged(run);
    const gone = [...before.keys()].filter((run) => !seen.has(run));
    if (gone.length > 0) this.#options.onGone(gone);
    const studies = this.#listed();
    if (studies !== this.#studies) this.#options.onStudies();
    this.#studies = studies;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Another number whenever somebody else has written. */
  #written(): number {
    return Number(this.#store.db.pragma('data_version', { simple: true }));
  }

  /** The studies as text. */
  #listed(): string {
    return JSON.stringify(this.#store.studies.list());
  }

  #runs(): { runs: readonly RunSummary[]; seen: ReadonlyMap<number, string> } {
    const runs = this.#store.runs.list();
    return { runs, seen: new Map(runs.map((run) => [run.id, JSON.stringify(run)])) };
  }
}
