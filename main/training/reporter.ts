// Everything a run reports, and in which order: `update`, then `evaluation` and `event`, and the checkpoint last (see reports.ts). After
// a crash whatever follows the newest checkpoint is dropped and happens again.

import type { EvaluationReport } from '../evaluation/evaluation-report.ts';
import { type Alert, alertById, alertsOf, bestValidation } from '../metrics/alerts.ts';
import type { Trajectory } from '../rollout/trajectory.ts';
import type { CheckpointFile, ReferenceFile, TrainingHost } from './host.ts';
import type { TrainingMemory } from './memory.ts';
import { PHASES, type ProgressReporter } from './progress.ts';
import type { RunReport, VstarEntry } from './reports.ts';

export interface UpdateResult {
  readonly metrics: Readonly<Record<string, number>>;
  /** Metrics that no glossary explains, when they first occur. */
  readonly unknown: readonly string[];
  readonly distributions: Readonly<Record<string, Float32Array>>;
  readonly trajectories: Trajectory[];
  /** The run's memory before and after. */
  readonly before: TrainingMemory;
  readonly after: TrainingMemory;
}

export class RunReporter {
  readonly #host: Pick<TrainingHost, 'report'>;
  readonly #progress: ProgressReporter;
  readonly #world: string;
  readonly #updates: number;
  /** Seconds spent on handing over the reports of the current update and on its checkpoint. */
  #storageSeconds = 0;

  constructor(host: Pick<TrainingHost, 'report'>, progress: ProgressReporter, run: { world: string; updates: number }) {
    this.#host = host;
    this.#progress = progress;
    this.#world = run.world;
    this.#updates = run.updates;
  }

  async started(update: number, device: string): Promise<void> {
    await this.#host.report({ type: 'started', update, device });
  }

  /** A branch says what it took from the other run's checkpoint. */
  async branched(optimizer: boolean): Promise<void> {
    const text = optimizer
      ? 'Starts with the weights and the optimizer state of the checkpoint it branches from'
      : 'Starts with the weights of the checkpoint it branches from; the optimizer starts anew, because this algorithm trains other parameters';
    await this.#host.report({ type: 'event', update: 0, kind: 'log', severity: 'info', text, data: { optimizer } });
  }

  /** Memory ran out during an update; it was repeated with smaller micro-batches. */
  async smallerBatches(update: number, share: number): Promise<void> {
    const text = `Memory ran out: micro-batches have ${share} of their configured size from now on. The update is the same, it only takes longer; a smaller training.microBatch avoids the repetition`;
    await this.#host.report({ type: 'event', update, kind: 'log', severity: 'warning', text, data: { share } });
  }

  async progress(update: number, phase: string, done: number, total: number): Promise<void> {
    await this.#progress.report(update, phase, done, total);
  }

  /** V* of tasks, valid from `update` on; before the first update with the reference's episodes. */
  async vstar(update: number, entries: VstarEntry[], episodes: Trajectory[]): Promise<void> {
    await this.#store({ type: 'vstar', update, world: this.#world, entries, episodes });
  }

  /** One finished update. */
  async update({ metrics, unknown, distributions, trajectories, before, after }: UpdateResult): Promise<void> {
    const { update } = after;
    await this.#store({
      type: 'update',
      update,
      metrics: { ...metrics },
      distributions: ownArrays(distributions),
      episodes: trajectories,
      totals: after.totals,
    });
    await this.#unknownMetrics(update, unknown);
    if (after.curriculum.level !== before.curriculum.level) await this.#level(update, after.curriculum.level);
    await this.progress(update, PHASES.training, update, this.#updates);
    await this.#alerts(before, after);
  }

  /** The evaluations of the latest update, and the metrics they add to it. */
  async evaluated(
    evaluations: readonly EvaluationReport[],
    metrics: Readonly<Record<string, number>>,
    before: TrainingMemory,
    after: TrainingMemory,
  ): Promise<void> {
    const { update } = after;
    for (const evaluation of evaluations) await this.#store({ type: 'evaluation', ...evaluation });
    if (update > 0) await this.#store({ type: 'measured', update, metrics: { ...metrics } });
    await this.#alerts(before, after);
  }

  /** The checkpoint of an update: `save` writes its file. */
  async checkpoint(update: number, kept: boolean, save: () => CheckpointFile): Promise<void> {
    await this.#timed(update, () => this.#host.report({ type: 'checkpoint', checkpoint: save(), kept }));
  }

  /** How long the storage of an update took, which is known only now; nothing where nothing was stored. */
  async stored(update: number): Promise<void> {
    if (this.#storageSeconds === 0) return;
    await this.#host.report({ type: 'measured', update, metrics: { 'system/time.storage': this.#storageSeconds } });
    this.#storageSeconds = 0;
  }

  async #store(report: Extract<RunReport, { update: number }>): Promise<void> {
    await this.#timed(report.update, () => this.#host.report(report));
  }

  /** Counts the time of an update's storage; what comes before the first update is not counted. */
  async #timed(update: number, work: () => Promise<void>): Promise<void> {
    const begin = performance.now();
    await work();
    if (update > 0) this.#storageSeconds += (performance.now() - begin) / 1000;
  }

  /** Recorded all the same: a number that does not explain itself is no reason to lose a run. */
  async #unknownMetrics(update: number, unknown: readonly string[]): Promise<void> {
    for (const id of unknown) {
      const text = `The metric “${id}” is recorded, but has no glossary entry, so the window cannot explain it. Add it to the metrics of the plug-in`;
      const data = { id: `metric ${id}`, state: 'active', title: 'Unexplained metric', metrics: [id] };
      await this.#host.report({ type: 'event', update, kind: 'alert', severity: 'warning', text, data });
    }
  }

  async #level(update: number, level: number): Promise<void> {
    const text = `Level ${level} from the next update on`;
    await this.#host.report({ type: 'event', update, kind: 'level', severity: 'info', text, data: { level } });
  }

  async alert(update: number, { id, title, metrics, sign, advice }: Alert, best: number | null = null): Promise<void> {
    const data = { id, state: 'active', title, metrics: [...metrics], best };
    await this.#store({ type: 'event', update, kind: 'alert', severity: 'warning', text: `${sign}. ${advice}`, data });
  }

  /** Each alert is reported once when it becomes active, and once when it has cleared. */
  async #alerts(before: TrainingMemory, after: TrainingMemory): Promise<void> {
    const { update } = after;
    const best = bestValidation(after.validations)?.update ?? null;
    for (const alert of alertsOf({ updates: after.history, validations: after.validations }))
      if (after.alerts.includes(alert.id) && !before.alerts.includes(alert.id)) await this.alert(update, alert, best);
    for (const id of before.alerts) {
      const alert = alertById(id);
      if (!alert || after.alerts.includes(id)) continue;
      const data = { id, state: 'cleared', title: alert.title, metrics: [...alert.metrics], best };
      await this.#store({ type: 'event', update, kind: 'alert', severity: 'info', text: `Cleared: ${alert.title}`, data });
    }
  }
}

/** Reports a reference policy that was cloned for this run, and whether it is strong enough. */
export async function reportReference(
  host: Pick<TrainingHost, 'report'>,
  policy: ReferenceFile,
  success: number,
  { targetSuccess: { low, high }, checkTasks }: { targetSuccess: { low: number; high: number }; checkTasks: number },
): Promise<void> {
  await host.report({ type: 'reference', policy });
  const text = `The reference policy solves ${(100 * success).toFixed(1)}% of ${checkTasks} validation tasks when sampled`;
  const weak =
    success < low
      ? `: below ${100 * low}%, so V* will be at the bottom for many tasks. Clone for more steps or from better demonstrations`
      : '';
  await host.report({
    type: 'event',
    update: 0,
    kind: 'reference',
    severity: success < low ? 'warning' : 'info',
    text: text + weak,
    data: { success, low, high, recipe: policy.recipe },
  });
}

/** Copies that can be handed to another process. */
const ownArrays = (arrays: Readonly<Record<string, Float32Array>>): Record<string, Float32Array<ArrayBuffer>> =>
  Object.fromEntries(Object.entries(arrays).map(([name, numbers]) => [name, Float32Array.from(numbers)]));
