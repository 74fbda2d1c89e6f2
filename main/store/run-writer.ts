// Applies what a training run reports to the store: each report is one transaction, so a crash between two reports
// leaves whole updates only. `rewind` takes a run back to its newest sound checkpoint before it is resumed, so that its
// numbers become those of a run that was never interrupted.

import type { Trajectory } from '../rollout/trajectory.ts';
import type { RunReport } from '../training/reports.ts';
import { type Checkpoint, isUnfinished } from './checkpoints.ts';
import { KEEP_ALL, type RetentionSettings, retained } from './retention.ts';
import type { Store } from './store.ts';

export interface RunWriterOptions {
  readonly retention?: RetentionSettings;
  /** Newest checkpoints kept beside the kept ones. */
  readonly keepCheckpoints?: number;
}

export class RunWriter {
  readonly #store: Store;
  readonly #run: number;
  readonly #uid: string;
  readonly #retention: RetentionSettings;
  readonly #keepCheckpoints: number;

  constructor(store: Store, run: number, options: RunWriterOptions = {}) {
    this.#store = store;
    this.#run = run;
    this.#uid = store.runs.get(run).uid;
    this.#retention = options.retention ?? KEEP_ALL;
    this.#keepCheckpoints = options.keepCheckpoints ?? 3;
  }

  /** Stores a report. Throws when the disk is full (see `isDiskFull`); then nothing of the report is stored. */
  apply(report: RunReport): void {
    if (report.type === 'checkpoint') return this.#checkpoint(report);
    this.#store.write(() => this.#applyInside(report));
  }

  #applyInside(report: Exclude<RunReport, { type: 'checkpoint' }>): void {
    const { runs, metrics, trajectories, evaluations, vstar, events, references } = this.#store;
    const run = this.#run;
    switch (report.type) {
      case 'update': {
        const { update, totals } = report;
        metrics.append(run, update, {
          ...report.metrics,
          episodes: totals.episodes,
          tokens: totals.tokens,
          'system/time.elapsed': totals.seconds,
        });
        for (const [name, samples] of Object.entries(report.distributions)) metrics.addDistribution(run, update, name, samples);
        trajectories.add(run, update, this.#retained(update, report.episodes));
        runs.change(run, { updates: update, ...totals });
        const trained = report.episodes.filter((episode) => episode.purpose === 'train');
        if (trained.length > 0) runs.addSpark(run, update, trained.filter((episode) => episode.success).length / trained.length);
        return;
      }
      case 'measured': {
        metrics.append(run, report.update, report.metrics);
        const seconds = report.metrics['system/time.elapsed'];
        if (seconds !== undefined) runs.change(run, { seconds });
        return;
      }
      case 'vstar':
        vstar.record(run, report.update, report.world, report.entries);
        trajectories.add(run, report.update, this.#retained(report.update, report.episodes));
        return;
      case 'evaluation': {
        const { episodes, ...rest } = report;
        const kept = new Set(this.#retained(report.update, episodes));
        const ids = trajectories.add(run, report.update, [...kept]).values();
        evaluations.add(
          run,
          rest,
          episodes.map((episode) => (kept.has(episode) ? (ids.next().value ?? null) : null)),
        );
        return;
      }
      case 'reference':
        references.add(report.policy);
        return;
      case 'event':
        events.add(run, report);
        return;
      case 'failed': // the reason comes into the log with the state that it leads to
      case 'finished':
        metrics.compact(run);
        return;
      case 'started':
      case 'progress':
        return;
    }
  }

  #retained(update: number, episodes: readonly Trajectory[]): Trajectory[] {
    return retained(this.#retention, update, episodes);
  }

  /** The row is flushed before older files are deleted: whatever happens, one sound checkpoint is on disk. */
  #checkpoint(report: Extract<RunReport, { type: 'checkpoint' }>): void {
    const { db, checkpoints } = this.#store;
    db.pragma('synchronous = FULL');
    try {
      this.#store.write(() => {
        checkpoints.add(this.#run, report.checkpoint, report.kept);
        checkpoints.prune(this.#run, this.#keepCheckpoints);
      });
    } finally {
      db.pragma('synchronous = NORMAL');
    }
    checkpoints.sweep(this.#uid, this.#run, report.checkpoint.update);
  }
}

/**
 * Takes a run back to its newest sound checkpoint (or to the very beginning): everything recorded after it is dropped in
 * one transaction, and files without a row are deleted. Returns where to continue.
 */
export function rewind(store: Store, run: number): Checkpoint | undefined {
  const checkpoint = store.checkpoints.newestSound(run);
  const last = checkpoint?.update ?? -1;
  store.write(() => {
    store.metrics.truncate(run, last);
    store.trajectories.truncate(run, last);
    store.evaluations.truncate(run, last);
    store.vstar.truncate(run, last);
    if (checkpoint && isUnfinished(checkpoint)) dropEvaluation(store, run, last);
    store.events.truncate(run, last);
    store.checkpoints.truncate(run, last);
    store.runs.cutSpark(run, last);
    const totals = store.metrics.many(run, ['episodes', 'tokens', 'system/time.elapsed']);
    store.runs.change(run, {
      updates: Math.max(0, last),
      episodes: totals.episodes?.values.at(-1) ?? 0,
      tokens: totals.tokens?.values.at(-1) ?? 0,
      seconds: totals['system/time.elapsed']?.values.at(-1) ?? 0,
    });
  });
  store.checkpoints.sweep(store.runs.get(run).uid, run);
  return checkpoint;
}

/** The evaluation of an update whose checkpoint was saved before it: it happens again. */
function dropEvaluation(store: Store, run: number, update: number): void {
  store.evaluations.dropTraining(run, update);
  store.trajectories.dropEvaluated(run, update);
  if (update > 0) store.events.dropAlerts(run, update);
}
