// Reports how far a long piece of work is and how long it will still take, at most four times a second.

import type { Stage } from '../base/vocabulary.ts';
import type { RunReport } from './reports.ts';

/** What a run says it does; a detail in brackets may follow. */
export const PHASES = {
  reference: 'cloning the reference',
  vstar: 'valuing tasks (V*)',
  training: 'training',
  validation: 'evaluating',
  test: 'evaluating on test tasks',
} as const;

/** To which stage of a run a phase belongs; null for what comes before them (a world that is opened). V* is valued and the policy is validated during training too. */
export function stageOf(phase: string, update: number): Stage | null {
  if (phase.startsWith(PHASES.reference)) return 'reference';
  if (phase.startsWith(PHASES.vstar)) return update > 0 ? 'training' : 'vstar';
  if (phase.startsWith(PHASES.test)) return 'test';
  return phase.startsWith(PHASES.training) || phase.startsWith(PHASES.validation) ? 'training' : null;
}

const INTERVAL_MS = 250;

export class ProgressReporter {
  readonly #report: (report: RunReport) => Promise<void>;
  #phase = '';
  #began = 0;
  #doneAtBegin = 0;
  #lastReport = 0;
  #lastDone = 0;

  constructor(report: (report: RunReport) => Promise<void>) {
    this.#report = report;
  }

  async report(update: number, phase: string, done: number, total: number): Promise<void> {
    const now = performance.now();
    const [work = phase] = phase.split(' (');
    // Less than before: the same kind of work begins once more, such as the next evaluation.
    const again = done < this.#lastDone;
    this.#lastDone = done;
    if (work !== this.#phase || again) [this.#phase, this.#began, this.#doneAtBegin] = [work, now, done];
    else if (now - this.#lastReport < INTERVAL_MS && done < total) return;
    this.#lastReport = now;
    const rate = (done - this.#doneAtBegin) / (now - this.#began);
    const secondsLeft = rate > 0 ? (total - done) / rate / 1000 : null;
    await this.#report({ type: 'progress', update, phase, done, total, secondsLeft });
  }
}
