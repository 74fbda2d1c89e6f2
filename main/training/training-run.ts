// Set-up: everything a run is made of, opened from its config, and closed again at its end.

import { availableParallelism } from 'node:os';
import type { RunConfig } from '../config/config.ts';
import { requireDevice } from '../engine/gpu/device.ts';
import { DeviceCounters } from '../engine/gpu/device-counters.ts';
import type { Flat } from '../engine/graph/parameters.ts';
import { Trainer, type TrainingState, freshState } from '../engine/runtime/training-step.ts';
import type { Task } from '../environment/environment.ts';
import { TaskGroups } from '../metrics/groups.ts';
import { Recorder } from '../metrics/recorder.ts';
import { SystemSampler } from '../metrics/system.ts';
import { networkOf } from '../policy/transformer/network.ts';
import { openSampler, placeWeights, releaseWeights, trainedWeights } from '../policy/sampling/open-sampler.ts';
import { Random } from '../base/random.ts';
import type { Actor } from '../rollout/rollout.ts';
import { lanesFor } from './batching/batch-shapes.ts';
import { CommandHandler } from './commands.ts';
import type { TrainingHost } from './host.ts';
import { Learner } from './learner.ts';
import { cardCapacity, samplerCapacity } from './batching/memory-plan.ts';
import { type TrainingMemory, freshMemory } from './memory.ts';
import { obtainReference } from './reference/obtain-reference.ts';
import { ProgressReporter } from './progress.ts';
import { RunReporter } from './reporter.ts';
import { type RunSetup, openRun } from './run-setup.ts';
import { sessionPool, takenBytes } from './batching/session-pool.ts';
import { TaskSampler, trainingPool } from './tasks.ts';
import { timedEnvironment } from './timed-environment.ts';
import { VstarStage } from './vstar-stage.ts';
import { adopt, branchState, loadState } from './weights.ts';

/** Seconds of an update, and those of them spent inside the environment. */
export interface UpdateTime {
  readonly total: number;
  readonly environment: number;
}

export interface TrainingRun {
  readonly config: RunConfig;
  readonly setup: RunSetup;
  /** The policy that is trained, ready to play. */
  readonly policy: Actor;
  readonly trainer: Trainer;
  /** Weights and optimizer state; on a device they are current after `trainer.download()`. */
  readonly state: TrainingState;
  readonly learner: Learner;
  readonly vstar: VstarStage;
  /** The training tasks of the run, and which of them come up in an update. */
  readonly pool: readonly Task[];
  readonly tasks: TaskSampler;
  readonly groups: TaskGroups;
  readonly recorder: Recorder;
  readonly system: SystemSampler;
  readonly reporter: RunReporter;
  readonly commands: CommandHandler;
  readonly files: TrainingHost['files'];
  /** What the device has cost since the update began. */
  readonly counters: DeviceCounters;
  /** Whether the policy plays with the weights of `state`, and not with those on the device. */
  readonly playsFromState: boolean;
  /** Whether it continues from a checkpoint. */
  readonly resumed: boolean;
  /** The update of the newest checkpoint from which the run could continue as it stands; −1: none yet. */
  saved: number;
  /** Replaced after every update. */
  memory: TrainingMemory;
  /** Starts a stopwatch for an update. */
  startClock(): () => UpdateTime;
  dispose(): Promise<void>;
}

/** Sessions kept by each of trainer, reference and critic. */
const SESSIONS = 24;

export async function openTraining(config: RunConfig, host: TrainingHost): Promise<TrainingRun> {
  const device = await requireDevice(config.device);
  const progress = new ProgressReporter((report) => host.report(report));
  const setup = openRun(config, { progress: (share, what) => void progress.report(0, what, share, 1), dataFolder: host.dataFolder });
  const threads = config.threads || availableParallelism();
  const { training } = config;
  const commands = new CommandHandler(host);
  const counters = new DeviceCounters();
  const session = { threads, spinning: false, ...device, ...(config.device !== 'cpu' && { counters }) };
  const reference = await obtainReference(setup, threads, host, progress, commands, session);
  const { state, memory, branched } = initialState(setup, reference.weights, host);
  const recorder = new Recorder(commands.now);
  const reporter = new RunReporter(host, progress, { world: setup.environment.name, updates: training.updates });
  await reporter.started(memory.update, config.device);
  if (branched) await reporter.branched(branched.optimizer);

  const pool = sessionPool(config, setup.model);
  const lanes = lanesFor(setup.config, networkOf(setup.model));
  const trainer = new Trainer({ layout: setup.layout, state, optimizer: adam(training), session, sessions: SESSIONS, pool, lanes });
  const weights = trainedWeights(setup.model, state.values, trainer.parameters);
  const original = placeWeights(setup.referenceModel, reference.weights, session);
  const learner = new Learner(setup, trainer, weights, original, { threads, sessions: SESSIONS, pool });
  const { environment, seconds: environmentSeconds } = timedEnvironment(setup.environment);
  const capacity = config.device === 'cpu' ? samplerCapacity(config) : cardCapacity(config, networkOf(setup.model));
  const policy = { environment, codec: setup.codec, sampler: openSampler(setup.model, weights, { capacity, threads, pool }) };
  const reader = { ...policy, sampler: openSampler(setup.referenceModel, original, { capacity, threads, pool }) };
  return {
    config,
    setup,
    policy,
    trainer,
    state,
    learner,
    recorder,
    reporter,
    memory,
    vstar: new VstarStage(config, reader, reference.sha256, host.vstar, commands.poll),
    pool: trainingPool(config, environment),
    tasks: new TaskSampler(training.taskSampling, memory.tasks),
    groups: new TaskGroups(memory.groups),
    system: new SystemSampler(() => takenBytes(networkOf(setup.model))),
    commands,
    files: host.files,
    counters,
    playsFromState: weights === state.values,
    resumed: host.resumeFrom !== undefined,
    saved: host.resumeFrom === undefined || memory.unfinished ? -1 : memory.update,
    startClock() {
      counters.take(); // what came before belongs to no update
      const [begin, environmentBegin] = [commands.now(), environmentSeconds()];
      return () => ({
        total: (commands.now() - begin) / 1e3,
        environment: environmentSeconds() - environmentBegin,
      });
    },
    async dispose() {
      await learner.dispose();
      await policy.sampler.dispose();
      await reader.sampler.dispose();
      await releaseWeights(original);
      await networkOf(setup.model).base?.release();
      await trainer.dispose();
    },
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

const adam = ({ adamBeta1, adamBeta2, weightDecay, clip }: RunConfig['training']) => ({
  beta1: adamBeta1,
  beta2: adamBeta2,
  epsilon: 1e-8,
  weightDecay,
  clip,
});
