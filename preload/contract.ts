// The contract between the window and the main process: a schema for every call, answer and event. Both sides derive
// their types from it; the main process parses every input on arrival and every answer on departure.
// A new feature is a file in contract/ plus its lines here; a new call is one entry in its feature's file and one
// handler of the same name in main/ipc/ (the compiler asks for it).

import type { z } from 'zod';
import type { Failure, Outcome } from './contract/definition.ts';
import { chartCalls } from './contract/charts.ts';
import { clusterCalls } from './contract/clusters.ts';
import { compareCalls, compareEvents, studyCalls } from './contract/compare.ts';
import { metricCalls } from './contract/metrics.ts';
import { modelCalls, modelEvents } from './contract/models.ts';
import { playCalls } from './contract/play.ts';
import { pluginCalls } from './contract/plugins.ts';
import { queueCalls } from './contract/queue.ts';
import { replayCalls } from './contract/replay.ts';
import { runCalls, runEvents } from './contract/runs.ts';
import { settingsCalls } from './contract/settings.ts';
import { studyRunCalls } from './contract/study-runs.ts';
import { systemCalls, systemEvents } from './contract/system.ts';
import { workerCalls, workerEvents } from './contract/worker.ts';
import { transferCalls, transferEvents } from './contract/transfer.ts';
import { worldDataCalls, worldDataEvents } from './contract/world-data.ts';

export const calls = {
  ...systemCalls,
  ...workerCalls,
  ...runCalls,
  ...transferCalls,
  ...queueCalls,
  ...metricCalls,
  ...chartCalls,
  ...replayCalls,
  ...compareCalls,
  ...modelCalls,
  ...studyCalls,
  ...playCalls,
  ...pluginCalls,
  ...worldDataCalls,
  ...settingsCalls,
  ...clusterCalls,
  ...studyRunCalls,
};
export const events = {
  ...systemEvents,
  ...workerEvents,
  ...runEvents,
  ...transferEvents,
  ...compareEvents,
  ...modelEvents,
  ...worldDataEvents,
};

type Calls = typeof calls;
type Events = typeof events;
export type CallName = keyof Calls;
export type EventName = keyof Events;

/** What the caller writes (defaults may be left out) and what it gets. */
export type Input<N extends CallName> = z.input<Calls[N]['input']>;
export type Answer<N extends CallName> = z.output<Calls[N]['answer']>;
export type Payload<N extends EventName> = z.output<Events[N]>;

/** What the preload puts on `window.astrolab`: plain functions over plain data. */
export interface Bridge {
  call<N extends CallName>(name: N, input: Input<N>): Promise<Outcome<Answer<N>>>;
  /** Returns how to stop listening. */
  listen<N extends EventName>(name: N, listener: (payload: Payload<N>) => void): () => void;
  /** Where a file that was dropped on the page lies; empty for what is no file of the disk. */
  pathOf(file: File): string;
}

export type { Failure, Outcome };
export type { Theme } from './contract/system.ts';
export type { WorkerStatus } from './contract/worker.ts';
