// Set-up: everything a run is made of, opened from its config, and closed again at its end.

import type { RunConfig } from '../config/config.ts';
import type { DeviceCounters } from '../engine/gpu/device-counters.ts';
import type { Flat } from '../engine/graph/parameters.ts';
import { Trainer, type TrainingState, freshState } from '../engine/runtime/training-step.ts';
import type { Task } from '../environment/environment.ts';
import { TaskGroups } from '../metrics/groups.ts';
import { glossaryOf } from '../metrics/glossary.ts';
import { Recorder } from '../metrics/recorder.ts';
import { SystemSampler } from '../metrics/system.ts';
import { networkOf } from '../policy/transformer/network.ts';
import { openSampler, trainedWeights } from '../policy/sampling/open-sampler.ts';
import { Random } from '../base/random.ts';
import type { Actor } from '../rollout/rollout.ts';
import { lanesFor } from './batching/batch-shapes.ts';
import type { TrainingHost } from './host.ts';
import { Learner } from './learner.ts';
import { type TrainingMemory, freshMemory } from './memory.ts';
import { RunRecord } from './record.ts';
import { openReference } from './reference/open-reference.ts';
import { RunReporter } from './reporter.ts';
import type { RunSetup } from './run-setup.ts';
import { takenBytes } from './batching/session-pool.ts';
import { TaskSampler, trainingPool } from './tasks.ts';
import { VstarStage } from './vstar-stage.ts';
import { adopt, branchState, type LaggedReference, loadLagged, loadState } from './weights.ts';

/** Seconds of an update, and those of them spent inside the environment. */
export interface UpdateTime {
  readonly total: number;
  readonly environment: number;
}

/** What a run works with. */
export interface RunParts {
  readonly config: RunConfig;
  readonly setup: RunSetup;
  /** The policy that is trained, ready to play. */
  readonly policy: Actor;
  /** The reference, ready to play. */
  readonly reference: Actor;
  readonly trainer: Trainer;
  /** Weights and optimizer state; on a device they are current after `trainer.download()`. */
  readonly state: TrainingState;
  readonly learner: Learner;
  /** The reference of the loss, where it follows the policy. */
  readonly lagged: LaggedReference | undefined;
  readonly vstar: VstarStage;
  /** The training tasks of the run, and which of them come up in an update. */
  readonly pool: readonly Task[];
  readonly tasks: TaskSampler;
  readonly groups: TaskGroups;
  readonly recorder: Recorder;
  readonly system: SystemSampler;
  readonly reporter: RunReporter;
  readonly files: TrainingHost['files'];
  /** What the device has cost since the update began. */
  readonly counters: DeviceCounters;
  /** Measures an update, from its start to the moment of reading. */
  readonly clock: { start(): void; read(): UpdateTime };
  /** Aborted: what is under way ends between two batches. */
  readonly signal: AbortSignal;
  /** Whether it continues from a checkpoint. */
  readonly resumed: boolean;
}

export interface TrainingRun extends RunParts {
  readonly record: RunRecord;
  dispose(): Promise<void>;
}

/** Sessions kept by each of trainer, reference and critic. */
const SESSIONS = 24;

export async function openTraining(config: RunConfig, host: TrainingHost, signal: AbortSignal): Promise<TrainingRun> {
  const shared = await openReference(config, host, signal);
  const { setup, session, sampling, reference, actor, counters } = shared;
  const { training } = config;
  const { state, memory, branched } = initialState(setup, reference.weights, host);
  const reporter = new RunReporter(host, shared.progress, { world: setup.environment.name, updates: training.updates });
  await reporter.started(memory.update, config.device);
  if (branched) await reporter.branched(branched.optimizer);

  const { threads, pool } = sampling;
  const network = networkOf(setup.model);
  const lanes = lanesFor(setup.config, network);
  const trainer = new Trainer({ layout: setup.layout, state, optimizer: adam(training), session, sessions: SESSIONS, pool, lanes });
  const lagged = laggedReference(setup, reference.weights, host);
  const weights = trainedWeights(setup.model, state.values, trainer.parameters);
  const learner = new Learner(setup, trainer, weights, lagged?.weights ?? shared.placed, {
    threads,
    sessions: SESSIONS,
    pool,
    playsFromState: weights === state.values,
  });
  const policy = { ...actor, sampler: openSampler(setup.model, weights, sampling) };
  const resumed = host.resumeFrom !== undefined;
  const parts: RunParts = {
    config,
    setup,
    policy,
    reference: actor,
    trainer,
    state,
    learner,
    lagged,
    reporter,
    counters,
    signal,
    resumed,
    vstar: new VstarStage(config, actor, reference.sha256, host.vstar, signal),
    pool: trainingPool(config, actor.environment),
    tasks: new TaskSampler(training.taskSampling, memory.tasks),
    groups: new TaskGroups(memory.groups),
    recorder: new Recorder(glossaryOf(host.catalog)),
    system: new SystemSampler(() => takenBytes(network)),
    files: host.files,
    clock: updateClock(counters, shared.environmentSeconds),
  };
  return {
    ...parts,
    record: new RunRecord(parts, memory, { resumed }),
    async dispose() {
      await learner.dispose();
      await policy.sampler.dispose();
      await shared.dispose();
      await trainer.dispose();
    },
  };
}

function updateClock(counters: DeviceCounters, environmentSeconds: () => number): RunParts['clock'] {
  let [begin, environmentBegin] = [performance.now(), environmentSeconds()];
  return {
    start() {
      counters.take(); // what came before belongs to no update
      [begin, environmentBegin] = [performance.now(), environmentSeconds()];
    },
    read: () => ({ total: (performance.now() - begin) / 1e3, environment: environmentSeconds() - environmentBegin }),
  };
}

interface InitialState {
  readonly state: TrainingState;
  readonly memory: TrainingMemory;
  /** Set for the first start of a branch. */
  readonly branched?: { readonly optimizer: boolean };
}

/** The state of a checkpoint; for a new run the reference's weights, with what the reference lacks (a critic) initialised, or those of the checkpoint it branches from. */
function initialState(setup: RunSetup, reference: Flat, { resumeFrom, branchFrom }: TrainingHost): InitialState {
  if (resumeFrom !== undefined) return loadState(resumeFrom, setup.layout);
  const normal = Random.from('weights', setup.config.seed);
  const values = setup.layout.initialise(() => normal.normal());
  adopt(setup.referenceLayout, reference, setup.layout, values);
  const memory = freshMemory(setup.config, setup.environment.levels);
  if (branchFrom === undefined) return { state: freshState(setup.layout, values), memory };
  const { state, tasks, optimizer } = branchState(branchFrom, setup.layout, values);
  return { state, memory: { ...memory, tasks }, branched: { optimizer } };
}

/** Begins as the reference, or as the checkpoint has it. */
function laggedReference(setup: RunSetup, reference: Flat, { resumeFrom }: TrainingHost): LaggedReference | undefined {
  if (setup.algorithm.needs.referenceLag === undefined) return undefined;
  const layout = setup.referenceLayout;
  const lagged = { layout, weights: layout.zeros() };
  adopt(layout, reference, layout, lagged.weights);
  if (resumeFrom !== undefined) loadLagged(resumeFrom, lagged);
  return lagged;
}

const adam = ({ adamBeta1, adamBeta2, weightDecay, clip }: RunConfig['training']) => ({
  beta1: adamBeta1,
  beta2: adamBeta2,
  epsilon: 1e-8,
  weightDecay,
  clip,
});
