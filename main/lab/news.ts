// Gathers what happens to runs and notifies the windows at most four times a second, however fast training is: each changed row once,
// and which runs have something new in their record. Knows nothing of Electron.

import type { Payload } from './features.ts';
import type { RunRow } from './rows.ts';

const BETWEEN_MS = 250;

export class News {
  readonly #send: (news: Payload<'runs.changed'>) => void;
  readonly #rows = new Map<number, () => RunRow>();
  readonly #gone = new Set<number>();
  readonly #stored = new Set<number>();
  #timer: NodeJS.Timeout | null = null;
  #sentAt = Number.NEGATIVE_INFINITY;

  constructor(send: (news: Payload<'runs.changed'>) => void) {
    this.#send = send;
  }

  /** The run's record is another one now. `row` is read when it is sent, so that ten changes cost one row. */
  changed(run: number, row: () => RunRow): void {
    this.#stored.add(run);
    this.progressed(run, row);
  }

  /** Only its row is another one: how far it is. */
  progressed(run: number, row: () => RunRow): void {
    this.#gone.delete(run);
    this.#rows.set(run, row);
    this.#plan();
  }

  gone(runs: readonly number[]): void {
    for (const run of runs) {
      this.#rows.delete(run);
      this.#stored.delete(run);
      this.#gone.add(run);
    }
    this.#plan();
  }

  /** Sends the rest now. */
  flush(): void {
    const rows = [...this.#rows.values()].map((row) => row());
    const news = { rows, gone: [...this.#gone], stored: [...this.#stored] };
    this.stop();
    this.#sentAt = performance.now();
    if (news.rows.length > 0 || news.gone.length > 0) this.#send(news);
  }

  stop(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    this.#rows.clear();
    this.#gone.clear();
    this.#stored.clear();
  }

  /** Soon when it has been quiet, else when the pause is over. */
  #plan(): void {
    const wait = Math.max(5, this.#sentAt + BETWEEN_MS - performance.now());
    this.#timer ??= setTimeout(() => this.flush(), wait);
  }
}
