// One optimizer step: forward, backward, clipping by the global norm, AdamW. Several micro-batches add their gradients up first;
// their losses must already be divided by counts of the whole update. Where the state lives decides who does the last part:
// host-state.ts (plain memory) or device-state.ts (it stays in the device's buffers). A step that is not finite changes nothing.

import type { DeviceParameters } from '../gpu/device-parameters.ts';
import { DeviceState } from '../gpu/device-state.ts';
import { NotFiniteError } from './errors.ts';
import { HostState } from './host-state.ts';
import { ADAMW } from './optimizer.ts';
import type { AdamWSettings } from './optimizer.ts';
import type { Flat, ParameterLayout } from '../graph/parameters.ts';
import { LossScale } from '../gpu/loss-scale.ts';
import { ProgramCache } from './program-cache.ts';
import type { MemoryPool } from './session-cache.ts';
import { stateStays } from './session.ts';
import type { SessionOptions } from './session.ts';
import type { MicroBatch, StateKeeper, StepReport, TrainingState } from './training-report.ts';

export type { LossAndMetrics } from '../graph/training-graphs.ts';
export type { MicroBatch, StepReport, TrainingState } from './training-report.ts';

export interface TrainerOptions {
  readonly layout: ParameterLayout;
  readonly state: TrainingState;
  readonly optimizer?: AdamWSettings;
  readonly session?: SessionOptions;
  /** How many sessions are kept; the least recently used one is disposed of first. */
  readonly sessions?: number;
  /** A limit of bytes shared with others. */
  readonly pool?: MemoryPool;
  /** How many micro-batches are computed side by side at most, each in a lane with sessions of its own; missing: one for every thread. */
  readonly lanes?: number | undefined;
  /** Where loss scaling begins in half precision; it adapts. */
  readonly lossScale?: number;
}

export function freshState(layout: ParameterLayout, values: Flat): TrainingState {
  return { values, first: layout.zeros(), second: layout.zeros(), step: 0 };
}

export class Trainer {
  readonly #state: TrainingState;
  readonly #programs: ProgramCache;
  readonly #keeper: StateKeeper;
  readonly #scale: LossScale | undefined;
  #disposed = false;

  constructor({ layout, state, optimizer = ADAMW, session = {}, sessions = 12, pool, lanes, lossScale }: TrainerOptions) {
    this.#state = state;
    this.#programs = new ProgramCache(session, sessions, pool, lanes);
    this.#scale = session.half === 'float16' ? new LossScale(lossScale) : undefined;
    const Keeper = stateStays(session) ? DeviceState : HostState;
    this.#keeper = new Keeper(layout, state, optimizer, this.#programs, session);
  }

  /** Takes one optimizer step on the sum of the micro-batches' losses. */
  async step(batches: readonly MicroBatch[], learningRate: number, signal?: AbortSignal): Promise<StepReport> {
    this.#check(batches);
    let report = await this.#keeper.step(this.#scaled(batches), learningRate, signal);
    while (this.#scale?.retry(report)) report = await this.#keeper.step(this.#scaled(batches), learningRate, signal);
    const { loss, gradientNorm } = report;
    if (!Number.isFinite(loss) || !Number.isFinite(gradientNorm)) {
      const what = Number.isFinite(loss) ? `the gradient norm is ${gradientNorm}` : `the loss is ${loss}`;
      throw new NotFiniteError(`Step ${this.#state.step + 1} skipped: ${what}. Weights unchanged`);
    }
    this.#state.step++;
    return report;
  }

  /** Loss, metrics and the gradient by every parameter, without a step. */
  async gradients(batches: readonly MicroBatch[]): Promise<{ report: StepReport; gradients: Flat }> {
    this.#check(batches);
    return this.#keeper.gradients(this.#scaled(batches));
  }

  /** The state with its arrays up to date, e.g. for a checkpoint. */
  async download(): Promise<TrainingState> {
    await this.#keeper.download();
    return this.#state;
  }

  /** The parameters as they are trained, on the device; undefined where the state is in plain memory. */
  get parameters(): DeviceParameters | undefined {
    return this.#keeper.parameters;
  }

  async dispose(): Promise<void> {
    this.#disposed = true;
    // The state first: a device buffer that outlives the sessions' allocator takes the process down.
    await this.#keeper.dispose();
    await this.#programs.dispose();
  }

  #scaled(batches: readonly MicroBatch[]): readonly MicroBatch[] {
    return this.#scale ? batches.map((batch) => this.#scale?.apply(batch) ?? batch) : batches;
  }

  #check(batches: readonly MicroBatch[]): void {
    if (this.#disposed) throw new Error('The trainer was disposed and cannot step');
    if (batches.length === 0) throw new RangeError('A step needs at least one micro-batch, found none');
  }
}
