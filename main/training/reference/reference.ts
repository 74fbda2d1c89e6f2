// The reference policy π_ref: cloned from imperfect demonstrations until it is competent but far from good, the way a
// language model starts from pre-training. It is made once per recipe (world, reading, model, demonstrations, seed), kept as
// a file under its recipe's hash, and found again by every run with the same recipe.

import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { neg } from '../../engine/graph/operators.ts';
import type { Flat } from '../../engine/graph/parameters.ts';
import type { SessionOptions } from '../../engine/runtime/session.ts';
import { Trainer } from '../../engine/runtime/training-step.ts';
import { demonstrations } from '../../environment/demonstrations.ts';
import { evaluationSeed } from '../../evaluation/evaluate.ts';
import { type AgentToken, type EncodedRow, Relabelling, relabelled } from '../../policy/text/prompt.ts';
import { hashFile } from '../../policy/model/files/registry.ts';
import { describeModel } from '../../policy/transformer/network.ts';
import { DeviceSampler } from '../../policy/gpu/device-sampler.ts';
import { networkOf } from '../../policy/transformer/network.ts';
import { openSampler, trainedWeights } from '../../policy/sampling/open-sampler.ts';
import type { EpisodeSampler } from '../../policy/sampling/sampler.ts';
import { Random } from '../../base/random.ts';
import { EpisodeInPlay } from '../../rollout/episode.ts';
import { drawAt, rollout } from '../../rollout/rollout.ts';
import { contentHash, sha256 } from '../../base/canonical.ts';
import { folderInside } from '../../base/paths.ts';
import { recipeSettings } from '../../config/identity.ts';
import { isAbort, neverAborted } from '../abort.ts';
import { type CloneState, freshClone } from './clone-state.ts';
import type { ReferenceFile } from '../host.ts';
import { lanesFor } from '../batching/batch-shapes.ts';
import { type TrainingEpisode, MinibatchTrainer, type LossDefinition, minibatchSettings } from '../batching/minibatch.ts';
import { sessionPool } from '../batching/session-pool.ts';
import { saveWeights } from '../weights.ts';
import { type RunSetup, worldHash } from '../run-setup.ts';

const ADAM = { beta1: 0.9, beta2: 0.98, epsilon: 1e-8, weightDecay: 0, clip: 1 };
/** The learning rate falls to this part of its peak at the end of cloning. */
const FINAL_RATE = 0.1;

export interface CloningProgress {
  readonly step: number;
  readonly steps: number;
  readonly loss: number;
  /** Sampled success on validation tasks, when it was looked at. */
  readonly success: number | undefined;
}

/** Everything that determines the weights. */
export function referenceRecipe(setup: RunSetup): string {
  const { config, environment, codec, referenceModel } = setup;
  return contentHash({
    version: 1,
    world: worldHash(environment, environment.levels - 1),
    tokenizer: contentHash(codec.tokenizer.json),
    prompt: codec.prompt,
    relabel: config.policy.aids.relabelIds,
    ...(config.policy.aids.similarIds && { similarIds: true }),
    ...(config.policy.aids.relabelWords && { relabelWords: true }),
    ...(config.policy.aids.relabelPrices && { relabelPrices: true }),
    model: describeModel(referenceModel),
    ...(config.policy.model.adapter !== '' && { adapter: hashFile(join(config.policy.model.adapter, 'adapter_model.safetensors')) }),
    reference: recipeOf(setup),
  });
}

/** What of the config makes the reference: a stored policy's file, or the settings of cloning. */
function recipeOf({ catalog, config }: RunSetup): unknown {
  const { from } = config.reference;
  if (from !== '') return { from: from.includes('@') ? from : hashFile(from) };
  return recipeSettings(catalog, config);
}

/** Cloning: the mean over the demonstrator's tokens of −log π. */
const CLONING: LossDefinition = {
  name: 'cloning',
  options: {},
  loss: (_graph, policy) => ({ loss: neg(policy.tokenMean(policy.logProbs)) }),
};

export interface CloningOptions {
  /** Called after every step. */
  readonly report: (progress: CloningProgress) => void | Promise<void>;
  /** Where to continue; it moves along with the work. Default: the beginning. */
  readonly clone?: CloneState;
  /** Aborted, cloning ends between two batches, and `clone` is up to date. */
  readonly signal?: AbortSignal;
  /** How sessions are made: the device's options. */
  readonly session?: SessionOptions | undefined;
}

/** Clones a reference policy. */
export async function cloneReference(
  setup: RunSetup,
  threads: number,
  { report, signal = neverAborted(), clone = freshClone(setup), session }: CloningOptions,
): Promise<{ weights: Flat; success: number }> {
  const { catalog, config, referenceModel: model, referenceLayout: layout } = setup;
  const { reference } = config;
  const { state } = clone;
  const pool = sessionPool(catalog, config, model);
  const options = { session: { threads, spinning: false, ...session }, sessions: 24, pool, lanes: lanesFor(config, networkOf(model)) };
  const trainer = new Trainer({ layout, state, optimizer: ADAM, ...options });
  const minibatches = new MinibatchTrainer(trainer, model, minibatchSettings(config, model));
  const sampler = openSampler(model, trainedWeights(model, state.values, trainer.parameters), {
    capacity: Math.min(128, reference.checkTasks),
    threads,
    pool,
  });
  try {
    // Without demonstrations the reference is the untrained policy.
    const steps = reference.demonstrations === 0 ? 0 : reference.steps;
    const groups = inGroups(demonstrated(setup), reference.group);
    const order = Random.from('cloning', reference.seed);
    let queue: TrainingEpisode[] = [];
    let measured: number | undefined;
    const done = state.step;
    for (let step = 0; step < steps; step++) {
      if (queue.length < reference.batch) queue = order.shuffle(groups).flat();
      const drawn = queue.splice(0, reference.batch);
      const due = (step + 1) % reference.checkEvery === 0 || step + 1 === reference.steps;
      // What was done before is drawn again, so that the order stays the same, and only checked where that is missing.
      if (step + 1 < done || (step + 1 === done && clone.checked)) continue;
      let loss = Number.NaN;
      if (step >= done) {
        const batch = drawn.map((sample, index) => underNewNames(setup, sample, step, index));
        ({ loss } = await minibatches.step(batch, CLONING, cloningRate(reference, step), signal));
        clone.checked = !due;
      }
      if (due && !(sampler instanceof DeviceSampler)) await trainer.download(); // where it plays on the CPU
      if (due) measured = await sampledSuccess(setup, sampler, signal);
      clone.checked = true;
      await report({ step: step + 1, steps: reference.steps, loss, success: due ? measured : undefined });
      if (due && measured !== undefined && measured >= reference.targetSuccess.high) break;
    }
    const success = measured ?? (await sampledSuccess(setup, sampler, signal));
    await trainer.download();
    return { weights: state.values, success };
  } catch (error) {
    if (isAbort(error, signal)) await trainer.download();
    throw error;
  } finally {
    await sampler.dispose();
    await minibatches.dispose();
    await trainer.dispose();
  }
}

/** Sampled success on validation tasks. */
async function sampledSuccess({ environment, codec, config }: RunSetup, sampler: EpisodeSampler, signal: AbortSignal): Promise<number> {
  const requests = environment
    .tasks('validation')
    .slice(0, config.reference.checkTasks)
    .map((task) => ({
      task,
      seed: evaluationSeed(task, 0),
      purpose: 'evaluation' as const,
      update: 0,
      relabel: false,
      level: undefined,
    }));
  const episodes = await rollout({ environment, codec, sampler }, requests, drawAt(1), { signal });
  return episodes.filter(({ trajectory }) => trajectory.success).length / Math.max(1, episodes.length);
}

export function cloningRate(
  { learningRate, warmup, hold, steps }: Pick<RunSetup['config']['reference'], 'learningRate' | 'warmup' | 'hold' | 'steps'>,
  step: number,
): number {
  const rise = warmup > 0 ? Math.min(1, (step + 1) / warmup) : 1;
  const fall = Math.max(0, (step / steps - hold) / Math.max(1 - hold, 1 / steps));
  return learningRate * rise * (1 - (1 - FINAL_RATE) * fall);
}

/** The demonstrations as rows to learn from. */
export function demonstrated({ world, environment, codec, config }: RunSetup): TrainingEpisode[] {
  const { demonstrations: count, imperfection, seed, skipMistakes, tiers, group } = config.reference;
  const samples: TrainingEpisode[] = [];
  if (count > 0 && world.demonstrates === false) {
    throw new Error(
      `Nobody can demonstrate the world ${world.name}: set reference.demonstrations=0, and the reference is the untrained policy, or name a checkpoint in reference.from`,
    );
  }
  for (const { task, seed: episode, turns } of demonstrations(world, environment, { count, seed, imperfection, tiers, group })) {
    // A chat is tokenised under the names it shows; a small policy's tokens are renamed anew at every step instead.
    const request = { task, seed: episode, purpose: 'train' as const, update: 0, relabel: 'chat' in codec, level: undefined };
    const playing = new EpisodeInPlay(environment, codec, request);
    const skipped = new Set<AgentToken>();
    for (const turn of turns) {
      const before = spoken(playing).length;
      playing.force(turn);
      if (skipMistakes && turn.mistake === true) for (const token of spoken(playing).slice(before)) skipped.add(token);
    }
    const rows = skipped.size === 0 ? playing.rows : withoutTokens(playing.rows, skipped);
    if (rows.length > 0) samples.push({ rows, episode: {}, token: {} });
  }
  return samples;
}

/** So many that follow each other, together. Of demonstrations left out for their mistakes the next ones take the place. */
const inGroups = <T>(items: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size));

const spoken = ({ rows }: EpisodeInPlay): AgentToken[] => rows.flatMap(({ agent }) => agent);

/** The same rows to read, with fewer tokens to learn; rows with nothing to learn are left out. */
function withoutTokens(rows: readonly EncodedRow[], skipped: ReadonlySet<AgentToken>): EncodedRow[] {
  return rows.map((row) => ({ ...row, agent: row.agent.filter((token) => !skipped.has(token)) })).filter(({ agent }) => agent.length > 0);
}

/** The same demonstration with other names every time it comes up: what is learned can only be how to read. */
function underNewNames({ codec, config }: RunSetup, sample: TrainingEpisode, step: number, index: number): TrainingEpisode {
  if ('chat' in codec || codec.names.length === 0) return sample;
  const relabelling = new Relabelling(codec.names, Random.from('cloning-names', config.reference.seed, step, index));
  return { ...sample, rows: relabelled(sample.rows, relabelling) };
}

/** Writes the weights where the recipe's policy belongs, complete before they are reported. */
export function keepReference(dataFolder: string, setup: RunSetup, weights: Flat, success: number | null): ReferenceFile {
  const recipe = referenceRecipe(setup);
  const name = `${recipe}.safetensors`;
  const path = join(folderInside(dataFolder, 'references'), name);
  const { environment, codec, referenceModel, config } = setup;
  saveWeights(path, setup.referenceLayout, weights, {
    model: JSON.stringify(describeModel(referenceModel)),
    tokenizer: JSON.stringify(codec.tokenizer.json),
    recipe,
  });
  return {
    recipe,
    sha256: sha256(readFileSync(path)),
    file: `references/${name}`,
    bytes: statSync(path).size,
    world: environment.name,
    details: { success, parameters: setup.referenceLayout.count, ...config.reference },
  };
}
