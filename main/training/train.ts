// READ FIRST: the whole of training on one page. A run is: a reference policy, the value V* of its tasks, and then updates:
// draw tasks, play them, score them, let the variant say what to learn, take the optimizer's step, record, evaluate, save.
// It knows nothing of processes or databases: it reports what happens and asks between updates whether to pause or stop.
// Every random draw comes from a stream named by seed and update, so a resumed run repeats exactly.

import { availableParallelism } from 'node:os';
import { advanceCurriculum, startCurriculum } from '../algorithm/curriculum.ts';
import { scheduled } from '../algorithm/vstar.ts';
import type { Flat } from '../engine/parameters.ts';
import { requireDevice } from '../engine/device.ts';
import { type TrainingState, Trainer, freshState } from '../engine/training-step.ts';
import { evaluationMetrics, diagnoseTrajectory, tabulate } from '../evaluation/evaluate.ts';
import { evaluatePolicy } from '../evaluation/play.ts';
import { alertsOf, remember, type Seen } from '../metrics/alerts.ts';
import { TaskGroups } from '../metrics/groups.ts';
import { Recorder, rolloutMetrics } from '../metrics/recorder.ts';
import { SystemSampler } from '../metrics/system.ts';
import { Sampler } from '../policy/sampler.ts';
import { Random } from '../random.ts';
import { drawAt, rollout } from '../rollout/rollout.ts';
import { agentTokenCount } from '../rollout/trajectory.ts';
import { type RunConfig, learningRateAt, temperatureAt } from '../config/config.ts';
import type { TrainingHost } from './host.ts';
import { Learner } from './learner.ts';
import { ProgressReporter } from './progress.ts';
import { cloneReference, keepReference, referenceRecipe } from './reference.ts';
import type { VstarEntry } from './reports.ts';
import type { EvaluationReport } from '../evaluation/evaluation-report.ts';
import { TaskSampler } from './tasks.ts';
import { type TrainingMemory, adopt, loadState, loadWeights, saveState } from './weights.ts';
import { timedEnvironment } from './timed-environment.ts';
import { VstarStage } from './vstar-stage.ts';
import { type RunSetup, openRun, worldHash } from './run-setup.ts';

export async function train(config: RunConfig, host: TrainingHost): Promise<'done' | 'stopped'> {
  const device = await requireDevice(config.device);
  const progress = new ProgressReporter((report) => host.report(report));
  const setup = openRun(config, (share, what) => void progress.tell(0, what, share, 1));
  const { training, evaluation, curriculum, checkpoints } = config;
  const threads = config.threads || availableParallelism();
  const { environment, seconds: environmentSeconds } = timedEnvironment(setup.environment);

  const reference = await obtainReference(setup, threads, host, progress);
  const { state, memory: saved } = restore(setup, reference.weights, host.resumeFrom);
  let memory = saved;
  await host.report({ type: 'started', update: memory.update, device: config.device, versions: {} });

  const trainer = new Trainer({
    layout: setup.layout,
    state,
    optimizer: adam(training),
    session: { threads, spinning: false, ...device },
    sessions: 24,
  });
  const learner = new Learner(setup, trainer, state.values, reference.weights, threads);
  const capacity = Math.min(256, Math.max(32, training.batch));
  const policy = { environment, codec: setup.codec, sampler: new Sampler(setup.model, state.values, { capacity, threads }) };
  const original = { ...policy, sampler: new Sampler(setup.referenceModel, reference.weights, { capacity, threads }) };
  const vstar = new VstarStage(config, original, reference.sha256, host.vstar);
  const tasks = new TaskSampler(training.taskSampling, memory.tasks);
  const recorder = new Recorder();
  const system = new SystemSampler();
  const groups = new TaskGroups(memory.groups);
  const topLevel = environment.levels - 1;
  const pool = Random.from('training-tasks', config.seed).shuffle(environment.tasks('train', topLevel)).slice(0, training.tasks);
  let until = host.until;

  const evaluate = async (update: number, kind: EvaluationReport['kind']): Promise<EvaluationReport> => {
    const split = kind === 'final' ? 'test' : evaluation.split;
    const count = kind === 'final' ? evaluation.finalTasks : evaluation.tasks;
    const { temperature } = evaluation;
    const hash = worldHash(environment, topLevel);
    const request = { split, tasks: count, temperature, seed: 1, update, kind, agent: 'policy', worldHash: hash } as const;
    return evaluatePolicy(policy, request, (done, total) => void progress.tell(update, 'evaluating', done, total));
  };

  const value = async (chosen: Parameters<VstarStage['ensure']>[0], level: number, update: number): Promise<VstarEntry[]> => {
    if (!setup.variant.needs.vstar) return [];
    const collected: VstarEntry[] = [];
    const samples = scheduled(config.vstar.samples, Math.max(0, update - 1), training.updates);
    await vstar.ensure(chosen, level, samples, async (entries, episodes, done, total) => {
      if (update === 0) await host.report({ type: 'vstar', update, world: environment.name, entries, episodes });
      else collected.push(...entries);
      await progress.tell(update, 'valuing tasks (V*)', done, total);
    });
    return collected;
  };

  const save = async (update: number, kept: boolean): Promise<void> => {
    await trainer.download();
    memory = { ...memory, tasks: tasks.save(), valued: vstar.save(), groups: groups.save() };
    const notes = { model: JSON.stringify(setup.model), tokenizer: JSON.stringify(setup.codec.tokenizer.json) };
    const checkpoint = host.files.save(update, (path) => saveState(path, setup.layout, state, memory, notes));
    await host.report({ type: 'checkpoint', checkpoint, kept });
  };

  /** Obeys what was asked for since; answers whether to stop. */
  const obey = async (update: number): Promise<boolean> => {
    let command = host.takeCommand() ?? (update === until ? { type: 'pause' as const } : undefined);
    if (command?.type !== 'pause' && command?.type !== 'stop') return false;
    await save(update, false);
    if (command.type === 'stop') return true;
    await host.report({ type: 'paused', update });
    while (command.type === 'pause') command = await host.waitForCommand();
    until = command.type === 'go' ? command.until : null;
    return command.type === 'stop';
  };

  try {
    if (host.resumeFrom === undefined) {
      if (curriculum.mode === 'off' && config.vstar.samples.length === 1) await value(pool, topLevel, 0);
      if (evaluation.every > 0) await host.report({ type: 'evaluation', ...(await evaluate(0, 'periodic')) });
      await save(0, false);
    } else await vstar.restore(memory.valued, pool);
    for (let update = memory.update + 1; update <= training.updates; update++) {
      const begin = performance.now();
      const environmentBegin = environmentSeconds();
      const { level } = memory.curriculum;
      const temperature = temperatureAt(training, update - 1);
      const learningRate = learningRateAt(training, update - 1);

      // Draw tasks and value them.
      const { group } = setup.variant.needs;
      let open = pool.filter((task) => task.level <= level);
      if (config.vstar.dropUnsolved && setup.variant.needs.vstar) {
        await value(open, level, update);
        open = open.filter((task) => vstar.of(task.id, level).solved);
      }
      const drawn = tasks.draw(open, Math.ceil(training.batch / group), Random.from('tasks', config.seed, update));
      const valued = await recorder.time('system/time.vstar', () => value(drawn, level, update));

      // Play.
      const requests = drawn.flatMap((task, index) =>
        Array.from({ length: group }, (_, copy) => {
          const seed = Random.from('episode', config.seed, update, index, copy).integer();
          return { task, seed, purpose: 'train' as const, update, relabel: true, level };
        }),
      );
      const episodes = await recorder.time('system/time.rollout', () => rollout(policy, requests, drawAt(temperature)));
      const trajectories = episodes.map(({ trajectory }) => trajectory);
      for (const [index, trajectory] of trajectories.entries()) {
        const task = requests[index]?.task;
        if (task) diagnoseTrajectory(trajectory, environment, task, level);
        if (setup.variant.needs.vstar) trajectory.vstar = vstar.of(trajectory.task, level).value;
        tasks.record(trajectory.task, trajectory.success);
      }

      // Learn.
      await recorder.time('system/time.scoring', () => learner.score(episodes));
      const prepared = learner.prepare(episodes, { update, updates: training.updates, reward: training.reward });
      const step = await recorder.time('system/time.update', () => learner.improve(episodes, prepared, update, learningRate));
      await trainer.download(); // from a device; on the CPU the weights that are played are those that were trained

      // Evaluate.
      const last = update === training.updates;
      const evaluated: EvaluationReport[] = [];
      await recorder.time('system/time.evaluation', async () => {
        if (evaluation.every > 0 && (update % evaluation.every === 0 || last)) evaluated.push(await evaluate(update, 'periodic'));
        if (last && evaluation.finalTasks > 0) evaluated.push(await evaluate(update, 'final'));
      });

      // Record.
      const seconds = (performance.now() - begin) / 1000;
      const tokens = trajectories.reduce((sum, trajectory) => sum + agentTokenCount(trajectory), 0);
      const { totals } = memory;
      const rolled = { ...groups.metrics(trajectories), ...rolloutMetrics(trajectories) };
      memory = {
        ...memory,
        update,
        curriculum: advanceCurriculum(memory.curriculum, curriculum, environment.levels, rolled['rollout.success'] ?? 0),
        totals: { episodes: totals.episodes + episodes.length, tokens: totals.tokens + tokens, seconds: totals.seconds + seconds },
      };
      recorder.record({
        ...rolled,
        ...prepared.metrics,
        ...step?.metrics,
        ...(step && { loss: step.loss, 'gradient.norm': step.gradientNorm, 'gradient.clipped': step.gradientNorm > training.clip ? 1 : 0 }),
        ...(evaluated[0]?.kind === 'periodic' && evaluationMetrics(tabulate(evaluated[0].results))),
        'rollout.temperature': temperature,
        'rollout.level': level,
        learningRate,
        'update.episodes': prepared.keep.filter(Boolean).length,
        'update.tokens': tokens,
        episodes: memory.totals.episodes,
        'system/time.environment': environmentSeconds() - environmentBegin,
        'system/time.total': seconds,
        'system/speed.episodes': episodes.length / seconds,
        'system/speed.tokens': tokens / seconds,
        ...system.sample(),
        ...(setup.variant.needs.vstar && vstarMetrics(vstar, config, update)),
      });
      const record = recorder.take(update);
      await recorder.time('system/time.storage', () =>
        host.report({
          type: 'update',
          update,
          metrics: record.values,
          distributions: ownArrays({ ...record.distributions, ...prepared.distributions }),
          episodes: trajectories,
          totals: memory.totals,
        }),
      );
      if (valued.length > 0) await host.report({ type: 'vstar', update, world: environment.name, entries: valued, episodes: [] });
      for (const report of evaluated) await host.report({ type: 'evaluation', ...report });
      if (memory.curriculum.level !== level) await tellLevel(host, update, memory.curriculum.level);
      await progress.tell(update, 'training', update, training.updates);

      // Watch for signs of collapse, save, obey.
      memory = { ...memory, history: remember(memory.history, record.values) };
      memory = { ...memory, alerts: await tellAlerts(host, update, memory.history, memory.alerts) };
      if (last || (checkpoints.every > 0 && update % checkpoints.every === 0)) await save(update, last);
      if (!last && (await obey(update))) return 'stopped';
    }
    return 'done';
  } finally {
    await learner.dispose();
    await policy.sampler.dispose();
    await original.sampler.dispose();
    await trainer.dispose();
  }
}

const adam = ({ adamBeta1, adamBeta2, weightDecay, clip }: RunConfig['training']) => ({
  beta1: adamBeta1,
  beta2: adamBeta2,
  epsilon: 1e-8,
  weightDecay,
  clip,
});

/** The reference policy of the config: found, or cloned now and kept for every later run. */
async function obtainReference(
  setup: RunSetup,
  threads: number,
  host: TrainingHost,
  progress: ProgressReporter,
): Promise<{ weights: Flat; sha256: string }> {
  const known = host.references.find(referenceRecipe(setup));
  if (known) return { weights: loadWeights(host.references.path(known), setup.referenceLayout), sha256: known.sha256 };
  const { weights, success } = await cloneReference(setup, threads, async ({ step, steps, success: seen }) => {
    await progress.tell(
      0,
      seen === undefined ? 'cloning the reference' : `cloning the reference (${(100 * seen).toFixed(0)}% success)`,
      step,
      steps,
    );
  });
  const policy = keepReference(host.dataFolder, setup, weights, success);
  await host.report({ type: 'reference', policy });
  const { low, high } = setup.config.reference.targetSuccess;
  const text = `The reference policy solves ${(100 * success).toFixed(1)}% of ${setup.config.reference.checkTasks} validation tasks when sampled`;
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
  return { weights, sha256: policy.sha256 };
}

/** The state to go on from: a checkpoint, or the reference with a clean memory. */
function restore(setup: RunSetup, reference: Flat, from: string | undefined): { state: TrainingState; memory: TrainingMemory } {
  if (from !== undefined) return loadState(from, setup.layout);
  const normal = Random.from('weights', setup.config.seed);
  const values = setup.layout.initialise(() => normal.normal());
  adopt(setup.referenceLayout, reference, setup.layout, values);
  const memory: TrainingMemory = {
    update: 0,
    tasks: {},
    valued: [],
    curriculum: startCurriculum(setup.config.curriculum, setup.environment.levels),
    totals: { episodes: 0, tokens: 0, seconds: 0 },
    alerts: [],
    history: [],
    groups: {},
  };
  return { state: freshState(setup.layout, values), memory };
}

/** Copies that can be handed to another process. */
const ownArrays = (arrays: Readonly<Record<string, Float32Array>>): Record<string, Float32Array<ArrayBuffer>> =>
  Object.fromEntries(Object.entries(arrays).map(([name, numbers]) => [name, Float32Array.from(numbers)]));

function vstarMetrics(vstar: VstarStage, config: RunConfig, update: number): Record<string, number> {
  const { values } = vstar;
  const count = Math.max(1, values.length);
  return {
    'vstar.mean': values.reduce((sum, { value }) => sum + value, 0) / count,
    'vstar.unsolved': values.filter(({ solved }) => !solved).length / count,
    'vstar.samples': scheduled(config.vstar.samples, update - 1, config.training.updates),
  };
}

async function tellLevel(host: TrainingHost, update: number, level: number): Promise<void> {
  await host.report({
    type: 'event',
    update,
    kind: 'level',
    severity: 'info',
    text: `Level ${level} from the next update on`,
    data: { level },
  });
}

/** Tells of each sign of trouble once, when it appears; answers those that are on now. */
async function tellAlerts(host: TrainingHost, update: number, history: readonly Seen[], before: readonly string[]): Promise<string[]> {
  const alerts = alertsOf(history);
  for (const { id, sign, advice } of alerts) {
    if (before.includes(id)) continue;
    await host.report({ type: 'event', update, kind: 'alert', severity: 'warning', text: `${sign}. ${advice}`, data: { id } });
  }
  return alerts.map(({ id }) => id);
}
