// What a run has recorded, and the one place that changes it. Every event becomes the next memory (memory.ts) and the reports of it
// (reporter.ts); a checkpoint holds the memory as it was after the latest event. So whatever is interrupted between two events can
// be done again from there, with the same numbers.

import { evaluationMetrics, tabulateIn } from '../evaluation/evaluate.ts';
import type { EvaluationReport } from '../evaluation/evaluation-report.ts';
import { describeModel } from '../policy/transformer/network.ts';
import type { Trajectory } from '../rollout/trajectory.ts';
import { type MemoryEvent, type Snapshot, type TrainingMemory, isBest, reduce } from './memory.ts';
import type { VstarEntry } from './reports.ts';
import type { RunParts } from './training-run.ts';
import { type UpdateParts, updateMetrics } from './update-metrics.ts';
import { saveState } from './weights.ts';

export type RunEvent =
  /** Tasks were valued: before the first update (0) with the reference's episodes, or in an update that is under way. */
  | { readonly type: 'valued'; readonly update: number; readonly entries: VstarEntry[]; readonly episodes: Trajectory[] }
  | ({ readonly type: 'update'; readonly trajectories: Trajectory[] } & UpdateParts)
  /** The evaluations due after the latest update are over; there may have been none. */
  | { readonly type: 'evaluated'; readonly evaluations: readonly EvaluationReport[] };

export class RunRecord {
  readonly #parts: RunParts;
  #memory: TrainingMemory;
  /** The update of the newest checkpoint that leaves nothing to be done; −1: none. */
  #saved: number;
  /** Whether the newest checkpoint is not all. */
  #changed: boolean;

  constructor(parts: RunParts, memory: TrainingMemory, { resumed }: { readonly resumed: boolean }) {
    this.#parts = parts;
    this.#memory = memory;
    this.#changed = !resumed;
    this.#saved = resumed && memory.evaluated === memory.update ? memory.update : -1;
  }

  get memory(): TrainingMemory {
    return this.#memory;
  }

  async commit(event: RunEvent): Promise<void> {
    switch (event.type) {
      case 'valued': {
        const { update, entries, episodes } = event;
        // Those of an update are remembered with it, because it may have to be done again.
        if (update === this.#memory.update) this.#reduce({ type: 'valued' });
        return this.#parts.reporter.vstar(update, entries, episodes);
      }
      case 'update':
        return this.#update(event);
      case 'evaluated':
        return this.#evaluated(event.evaluations);
    }
  }

  /** Saves everything that the run needs to continue from its latest event, unless it did that before. */
  async checkpoint(): Promise<void> {
    if (!this.#changed) return;
    const { trainer, reporter, files, setup, config, lagged } = this.#parts;
    const memory = this.#memory;
    const { update } = memory;
    const pending = memory.evaluated < update;
    const kept = update === config.training.updates && !pending;
    const state = await trainer.download();
    const notes = { model: JSON.stringify(describeModel(setup.model)), tokenizer: JSON.stringify(setup.codec.tokenizer.json) };
    await reporter.checkpoint(update, kept, () =>
      files.save(update, (path) => saveState(path, setup.layout, state, memory, { notes, lagged }), pending),
    );
    this.#changed = false;
    if (!pending) this.#saved = update;
  }

  /** The end of an update, once it was evaluated: a checkpoint where one is due. */
  async closeUpdate(): Promise<void> {
    const { update } = this.#memory;
    const { checkpoints, training } = this.#parts.config;
    const regular = checkpoints.every > 0 && update % checkpoints.every === 0;
    if (this.#saved < 0 || regular || update === training.updates || isBest(this.#memory)) await this.checkpoint();
    await this.#parts.reporter.stored(update);
  }

  async #update(event: Extract<RunEvent, { type: 'update' }>): Promise<void> {
    const { recorder, reporter, tasks, clock } = this.#parts;
    const { update, trajectories, prepared } = event;
    for (const { task, success } of trajectories) tasks.record(task, success);
    const time = clock.read();
    const metrics = updateMetrics(this.#parts, this.#memory, event, time);
    const before = this.#memory;
    this.#reduce({ type: 'update', update, metrics, trajectories, seconds: time.total });
    const { distributions } = prepared;
    await reporter.update({ metrics, trajectories, distributions, unknown: recorder.takeUnknown(), before, after: this.#memory });
  }

  async #evaluated(evaluations: readonly EvaluationReport[]): Promise<void> {
    const { recorder, reporter, setup, clock } = this.#parts;
    const before = this.#memory;
    const time = recorder.take();
    this.#reduce({ type: 'evaluated', evaluations, seconds: time['system/time.evaluation'] ?? 0 });
    const validation = evaluations.find(({ kind }) => kind === 'periodic');
    const metrics = {
      ...time,
      ...(validation && evaluationMetrics(tabulateIn(setup.environment, validation.results))),
      'system/time.total': clock.read().total,
      'system/time.elapsed': this.#memory.totals.seconds,
    };
    await reporter.evaluated(evaluations, metrics, before, this.#memory);
  }

  #reduce(event: MemoryEvent): void {
    const { setup, config } = this.#parts;
    this.#memory = reduce(this.#memory, event, this.#snapshot(), { config, levels: setup.environment.levels });
    this.#changed = true;
  }

  #snapshot(): Snapshot {
    const { tasks, vstar, groups } = this.#parts;
    return { tasks: tasks.save(), valued: vstar.save(), groups: groups.save() };
  }
}
