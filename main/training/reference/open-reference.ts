// What runs begin with, and what several of them share: the world, and the reference policy (found or cloned) ready to play in it.

import { availableParallelism } from 'node:os';
import type { RunConfig } from '../../config/config.ts';
import { requireDevice } from '../../engine/gpu/device.ts';
import { DeviceCounters } from '../../engine/gpu/device-counters.ts';
import type { MemoryPool } from '../../engine/runtime/session-cache.ts';
import type { SessionOptions } from '../../engine/runtime/session.ts';
import { type ActingWeights, openSampler, placeWeights, releaseWeights } from '../../policy/sampling/open-sampler.ts';
import { networkOf } from '../../policy/transformer/network.ts';
import type { Actor } from '../../rollout/rollout.ts';
import { cardCapacity, samplerCapacity } from '../batching/memory-plan.ts';
import { sessionPool } from '../batching/session-pool.ts';
import type { TrainingHost } from '../host.ts';
import { ProgressReporter } from '../progress.ts';
import { type RunSetup, openRun } from '../run-setup.ts';
import { timedEnvironment } from '../timed-environment.ts';
import { type Reference, obtainReference } from './obtain-reference.ts';

export interface OpenReference {
  readonly setup: RunSetup;
  readonly reference: Reference;
  /** Its weights where they are read: in plain memory or on a device. */
  readonly placed: ActingWeights;
  /** The reference policy, ready to play. */
  readonly actor: Actor;
  /** How samplers are opened. */
  readonly sampling: { readonly capacity: number; readonly threads: number; readonly pool: MemoryPool };
  readonly session: SessionOptions;
  /** What the device costs. */
  readonly counters: DeviceCounters;
  /** Seconds spent inside the world so far. */
  readonly environmentSeconds: () => number;
  readonly progress: ProgressReporter;
  dispose(): Promise<void>;
}

export async function openReference(
  config: RunConfig,
  host: Pick<TrainingHost, 'catalog' | 'dataFolder' | 'references' | 'report'>,
  signal: AbortSignal,
): Promise<OpenReference> {
  const device = await requireDevice(config.device);
  const progress = new ProgressReporter((report) => host.report(report));
  const { catalog, dataFolder } = host;
  const setup = openRun(catalog, config, { progress: (share, what) => void progress.report(0, what, share, 1), dataFolder });
  const threads = config.threads || availableParallelism();
  const counters = new DeviceCounters();
  const session = { threads, spinning: false, ...device, ...(config.device !== 'cpu' && { counters }) };
  const reference = await obtainReference(setup, { threads, session, signal }, host, progress);

  const network = networkOf(setup.model);
  const capacity = config.device === 'cpu' ? samplerCapacity(config) : cardCapacity(config, network);
  const sampling = { capacity, threads, pool: sessionPool(catalog, config, setup.model) };
  const placed = placeWeights(setup.referenceModel, reference.weights, session);
  const { environment, seconds: environmentSeconds } = timedEnvironment(setup.environment);
  const sampler = openSampler(setup.referenceModel, placed, sampling);
  return {
    setup,
    reference,
    placed,
    actor: { environment, codec: setup.codec, sampler },
    sampling,
    session,
    counters,
    environmentSeconds,
    progress,
    async dispose() {
      await sampler.dispose();
      await releaseWeights(placed);
      await network.base?.release();
    },
  };
}
