// Everything that can be asked of the lab, one feature a file: `runs.list` is answered by features/runs.ts. A feature is loaded when it is
// first asked for. The contract between window and lab is derived from this table.

import type { z } from 'zod';
import type { ReadOptions } from './readers.ts';

export const FEATURES = {
  charts: () => import('./features/charts.ts'),
  clusters: () => import('./features/clusters.ts'),
  compare: () => import('./features/compare.ts'),
  credit: () => import('./features/credit.ts'),
  devices: () => import('./features/devices.ts'),
  episodes: () => import('./features/episodes.ts'),
  metrics: () => import('./features/metrics.ts'),
  models: () => import('./features/models.ts'),
  play: () => import('./features/play.ts'),
  plugins: () => import('./features/plugins.ts'),
  preferences: () => import('./features/preferences.ts'),
  queue: () => import('./features/queue.ts'),
  report: () => import('./features/report.ts'),
  runs: () => import('./features/runs.ts'),
  setup: () => import('./features/setup.ts'),
  sources: () => import('./features/sources.ts'),
  storage: () => import('./features/storage.ts'),
  studies: () => import('./features/studies.ts'),
  studyRuns: () => import('./features/study-runs.ts'),
  system: () => import('./features/system.ts'),
  transfer: () => import('./features/transfer.ts'),
  worker: () => import('./features/worker.ts'),
  worlds: () => import('./features/worlds.ts'),
};

type Features = { [F in keyof typeof FEATURES]: Awaited<ReturnType<(typeof FEATURES)[F]>> };
type Loaded = Features[keyof Features];
/** All members of a union of objects in one object. */
type Together<U> = (U extends unknown ? (each: U) => void : never) extends (all: infer All) => void ? All : never;

type Calls = Together<Loaded['calls']>;
type Events = Together<Extract<Loaded, { readonly events: unknown }>['events']>;
export type CallName = keyof Calls;
export type EventName = keyof Events;

/** What the caller writes (defaults may be left out) and what it gets. */
export type Input<N extends CallName> = z.input<Calls[N]['input']>;
export type Answer<N extends CallName> = z.output<Calls[N]['answer']>;
export type Payload<N extends EventName> = z.output<Events[N]>;

/** The reads of a feature by name. */
type ReadsOf<F extends keyof Features> = Features[F] extends { readonly reads: infer R } ? R : never;
type ReadFunction = (store: never, input: never, progress: never) => unknown;

/** Runs a read of a feature in a reader's thread. */
export type Read = <F extends keyof Features, N extends keyof ReadsOf<F> & string>(
  feature: F,
  name: N,
  input: ReadsOf<F>[N] extends ReadFunction ? Parameters<ReadsOf<F>[N]>[1] : never,
  options?: ReadOptions,
) => Promise<ReadsOf<F>[N] extends ReadFunction ? Awaited<ReturnType<ReadsOf<F>[N]>> : never>;
