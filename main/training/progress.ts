// Reports how far a long piece of work is and how long it will still take, at most four times a second.

import type { RunReport } from './reports.ts';

const INTERVAL_MS = 250;

export class ProgressReporter {
  readonly #report: (report: RunReport) => Promise<void>;
  #phase = '';
  #began = 0;
  #doneAtBegin = 0;
  #lastReport = 0;

  constructor(report: (report: RunReport) => Promise<void>) {
    this.#report = report;
  }

  async report(update: number, phase: string, done: number, total: number): Promise<void> {
    const now = performance.now();
    if (phase !== this.#phase) [this.#phase, this.#began, this.#doneAtBegin] = [phase, now, done];
    else if (now - this.#lastReport < INTERVAL_MS && done < total) return;
    this.#lastReport = now;
    const rate = (done - this.#doneAtBegin) / (now - this.#began);
    const secondsLeft = rate > 0 ? (total - done) / rate / 1000 : null;
    await this.#report({ type: 'progress', update, phase, done, total, secondsLeft });
  }
}
