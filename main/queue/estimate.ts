// What a run will cost before it is started: time, memory, disk. It rests on measurements only: finished updates of
// runs with the same model in the same world, or a probe of two updates; for a run like a preset, where there is neither, on what the preset
// took elsewhere. Without any it says so instead of guessing.

import { availableParallelism } from 'node:os';
import { type Algorithms, algorithmOf } from '../algorithm/registry.ts';
import { contentHash } from '../base/canonical.ts';
import { median } from '../base/statistics.ts';
import { freeBytes } from '../store/disk-space.ts';
import { estimate as diskEstimate, measuredBytesPerStep } from '../store/maintenance.ts';
import type { Store } from '../store/store.ts';
import type { RunConfig } from '../config/config.ts';
import { unpricedPolicy } from '../config/identity.ts';
import { type Measurement, measurement, readShippedSpeeds, shippedSpeed } from './speeds.ts';

export interface Estimate {
  readonly seconds: number | null;
  readonly memoryBytes: number | null;
  readonly diskBytes: number;
  readonly freeBytes: number;
  readonly basis: string;
  /** The time was measured on another machine, with one thread. */
  readonly elsewhere: boolean;
}

const LOOKED_AT = 60;
const ENOUGH = 3;
/** Metrics that a run records per update, roughly; they are a small part of the disk. */
const METRICS = 45;
/** Adam keeps two numbers beside each weight; checkpoints hold all three. */
const NUMBERS_PER_WEIGHT = 3;

/** `elsewhere`: the speeds that came with the lab. */
export function estimateRun(store: Store, config: RunConfig, elsewhere = readShippedSpeeds()): Estimate {
  const probed = store.settings.get(probeKey(config), measurement.nullable(), null);
  const similar = similarRuns(store, config);
  const here = similar.length > 0 ? medians(similar.map(({ measured: one }) => one)) : probed;
  const shipped = here ? undefined : shippedSpeed(elsewhere, config);
  const measured = here ?? shipped ?? null;
  const cloning = measured?.secondsPerCloningStep ?? probed?.secondsPerCloningStep ?? null;
  const referenceKnown = similar.some((run) => run.sameReference);
  const disk = diskOf(store, config, measured);
  const free = freeBytes(store.dataFolder);
  if (!measured) {
    const basis = 'No estimate yet: no run with this model in this world was trained here. Measure it, or start without.';
    return { seconds: null, memoryBytes: null, diskBytes: disk, freeBytes: free, basis, elsewhere: false };
  }
  const { training, evaluation, reference } = config;
  const evaluations = evaluation.every > 0 ? (Math.floor(training.updates / evaluation.every) + 1) * evaluation.tasks : 0;
  const played = vstarEpisodes(store.catalog, config) + evaluations + evaluation.finalTasks;
  const seconds =
    training.updates * training.batch * measured.secondsPerUpdateEpisode +
    played * measured.secondsPerEpisode +
    (referenceKnown || cloning === null ? 0 : reference.steps * cloning);
  const source = shipped
    ? `a probe of two updates with one thread on another machine (${elsewhere.machine})`
    : similar.length > 0
      ? `the median of ${similar.length === 1 ? 'run' : 'runs'} ${similar.map(({ id }) => id).join(', ')} with the same model in the same world`
      : 'a probe of two updates with this config, with a policy that has learned nothing yet';
  const stage = referenceKnown
    ? 'The reference policy is already there.'
    : cloning === null
      ? `Cloning the reference (at most ${reference.steps} steps) comes on top and was not measured.`
      : `Includes at most ${reference.steps} cloning steps.`;
  return {
    seconds,
    memoryBytes: measured.memoryBytes,
    diskBytes: disk,
    freeBytes: free,
    basis: shipped
      ? `From ${source}; more threads take less. Measure it here for a better estimate. ${stage}`
      : `From ${source}, ${config.device === 'cpu' ? withThreads(similar.length > 0 ? similar : [config]) : `on ${config.device}`}; other work on the machine makes it longer. ${stage}`,
    elsewhere: shipped !== undefined,
  };
}

/** Where the result of a probe is kept: everything that decides speed and memory. */
export function probeKey({ world, policy, algorithm, device, threads }: RunConfig): string {
  return `probe.${contentHash({ world: world.name, policy: unpricedPolicy(policy), algorithm: algorithm.id, device, threads }).slice(0, 16)}`;
}

/** How many threads the measured runs had: not always as many as the next one. */
function withThreads(runs: readonly { threads: number }[]): string {
  const counts = [...new Set(runs.map(({ threads }) => threads || availableParallelism()))].sort((a, b) => a - b);
  return `with ${counts.join(' or ')} ${counts.at(-1) === 1 ? 'thread' : 'threads'}`;
}

interface SimilarRun {
  readonly id: number;
  readonly measured: Measurement;
  readonly sameReference: boolean;
  readonly threads: number;
}

function similarRuns(store: Store, config: RunConfig): SimilarRun[] {
  const found: SimilarRun[] = [];
  const candidates = store.runs
    .list({ worlds: [config.world.name] })
    .filter(({ updates, device, damaged }) => updates > 0 && device === config.device && damaged === null);
  for (const { id } of candidates.slice(0, LOOKED_AT)) {
    const other = store.runs.get(id).config;
    if (!same(other.policy, config.policy) || other.algorithm.id !== config.algorithm.id) continue;
    const { training } = other;
    const series = store.metrics.many(id, ['system/time.total', 'system/time.rollout', 'system/memory', 'rollout.steps']);
    const medianOf = (name: string): number => median(series[name]?.values ?? []);
    const sameReference = same(other.reference, config.reference) && same(other.world, config.world);
    const measured: Measurement = {
      secondsPerEpisode: medianOf('system/time.rollout') / training.batch,
      secondsPerUpdateEpisode: medianOf('system/time.total') / training.batch,
      secondsPerCloningStep: cloningSeconds(store, id, other.reference.steps),
      memoryBytes: Math.max(0, ...(series['system/memory']?.values ?? [])) * 1e6,
      stepsPerEpisode: medianOf('rollout.steps'),
    };
    if (Number.isFinite(measured.secondsPerUpdateEpisode)) found.push({ id, measured, sameReference, threads: other.threads });
    if (found.length === ENOUGH) break;
  }
  return found;
}

/** From the start of the run to its reference policy, per step; null where the reference was found ready. */
function cloningSeconds(store: Store, run: number, steps: number): number | null {
  const [cloned] = store.events.list(run, ['reference']);
  const { startedAt } = store.runs.get(run);
  if (!cloned || startedAt === null || cloned.time <= startedAt) return null;
  return (cloned.time - startedAt) / 1000 / steps;
}

function diskOf(store: Store, config: RunConfig, measured: Measurement | null): number {
  const { training, evaluation, checkpoints, retention, policy } = config;
  const weights = policy.layers * (4 * policy.width ** 2 + 3 * policy.width * policy.feedForward) + 2000 * policy.width;
  const plan = {
    updates: training.updates,
    episodesPerUpdate: training.batch,
    stepsPerEpisode: measured?.stepsPerEpisode ?? 5,
    metrics: METRICS,
    evaluations: evaluation.every > 0 ? Math.floor(training.updates / evaluation.every) + 1 : 1,
    tasksPerEvaluation: evaluation.tasks,
    vstarEpisodes: vstarEpisodes(store.catalog, config),
    checkpointBytes: weights * 4 * NUMBERS_PER_WEIGHT,
    checkpointsKept: checkpoints.keep + 1,
  };
  return diskEstimate(plan, retention, measuredBytesPerStep(store, config.world.name)).total;
}

function vstarEpisodes(catalog: Algorithms, config: RunConfig): number {
  return algorithmOf(catalog, config.algorithm).needs.vstar ? config.training.tasks * (config.vstar.samples[0] ?? 0) : 0;
}

function medians(all: readonly Measurement[]): Measurement {
  const of = (value: (one: Measurement) => number): number => median(all.map(value));
  const clonings = all.flatMap(({ secondsPerCloningStep: seconds }) => seconds ?? []);
  return {
    secondsPerEpisode: of((one) => one.secondsPerEpisode),
    secondsPerUpdateEpisode: of((one) => one.secondsPerUpdateEpisode),
    secondsPerCloningStep: clonings.length > 0 ? median(clonings) : null,
    memoryBytes: Math.max(...all.map((one) => one.memoryBytes)),
    stepsPerEpisode: of((one) => one.stepsPerEpisode),
  };
}

const same = (a: unknown, b: unknown): boolean => contentHash(a) === contentHash(b);
