// Our side of `npm run bench -- train`: the flagship's loop, with the modules that train.ts uses, one update per request.
// What each update played is written to a file, so that the peer can play, score and learn from the very same episodes.
// V* belongs to the stage before the loop; a constant stands for it on both sides.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { Trainer, freshState } from '../../main/engine/runtime/training-step.ts';
import { diagnoseTrajectory } from '../../main/evaluation/evaluate.ts';
import type { TokenMask } from '../../main/policy/text/grammar-mask.ts';
import { Sampler } from '../../main/policy/sampling/sampler.ts';
import { Random } from '../../main/base/random.ts';
import type { Episode } from '../../main/rollout/episode.ts';
import { drawAt, rollout } from '../../main/rollout/rollout.ts';
import { Learner } from '../../main/training/learner.ts';
import { cloneReference } from '../../main/training/reference/reference.ts';
import { timedEnvironment } from '../../main/training/timed-environment.ts';
import { loadWeights, saveWeights } from '../../main/training/weights.ts';
import { loadPreset, openRun, parseConfig } from '../catalog.ts';

const request = z.discriminatedUnion('command', [
  z.object({ command: z.literal('hello'), threads: z.number(), clock: z.enum(['wall', 'cpu']) }),
  z.object({ command: z.literal('prepare'), folder: z.string(), reference: z.string().optional(), cloning: z.number() }),
  z.object({ command: z.literal('update') }),
]);

const OPTIMIZER = { beta1: 0.9, beta2: 0.98, epsilon: 1e-8, weightDecay: 0, clip: 1 };
const VSTAR = 0.5;

let threads = 1;
let clock: 'wall' | 'cpu' = 'wall';

/** Seconds on the clock that was asked for. */
function now(): number {
  if (clock === 'wall') return performance.now() / 1e3;
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/**
 * The loop made ready, with the policy at its reference: a file of one, or one cloned for a few steps (it must only play episodes
 * of a realistic kind).
 */
async function prepare(folder: string, given: string | undefined, cloning: number) {
  const preset = parseConfig(loadPreset('shop-astar-po').config);
  const reference = { ...preset.reference, steps: cloning, checkEvery: cloning, checkTasks: 1, demonstrations: 960 };
  const bench = openRun({ ...preset, reference });
  const { layout, model, config } = bench;
  const weights =
    given === undefined ? (await cloneReference(bench, threads, { report: () => {} })).weights : loadWeights(given, bench.referenceLayout);
  const file = join(folder, 'weights.safetensors');
  saveWeights(file, layout, weights, {});

  const { environment, seconds: environmentSeconds } = timedEnvironment(bench.environment);
  const state = freshState(layout, { decay: weights.decay.slice(), plain: weights.plain.slice() });
  const trainer = new Trainer({ layout, state, optimizer: OPTIMIZER, session: { threads, spinning: false }, sessions: 24 });
  const learner = new Learner(bench, trainer, state.values, weights, { threads, sessions: 24 });
  const player = {
    environment,
    codec: bench.codec,
    sampler: new Sampler(model, state.values, { capacity: config.training.batch, threads }),
  };
  const tasks = environment.tasks('train').slice(0, config.training.tasks);
  const { learningRate, batch } = config.training;
  let done = 0;

  const update = async () => {
    const number = ++done;
    const drawn = Random.from('tasks', 1, number).shuffle(tasks).slice(0, batch);
    const requests = drawn.map((task, index) => {
      const seed = Random.from('episode', 1, number, index).integer();
      return { task, seed, purpose: 'train' as const, update: number, relabel: true, level: undefined };
    });
    const world = environmentSeconds();
    const begin = now();
    const episodes = await rollout(player, requests, drawAt(1));
    const rolled = now() - begin;
    for (const [index, { trajectory }] of episodes.entries()) {
      const task = drawn[index];
      if (task) diagnoseTrajectory(trajectory, environment, task, task.level);
      trajectory.vstar = VSTAR;
    }
    const scoring = now();
    await learner.score(episodes);
    const scored = now() - scoring;
    const prepared = learner.prepare(episodes, { update: number, updates: config.training.updates, reward: config.training.reward });
    const learning = now();
    const step = await learner.update(episodes, prepared, { update: number, learningRate });
    const seconds = { rollout: rolled, scoring: scored, update: now() - learning, total: now() - begin };
    const recorded = join(folder, `update-${number}.json`);
    writeFileSync(recorded, JSON.stringify(record(episodes, prepared.episode.advantage)));
    const rows = episodes.flatMap((episode) => episode.rows);
    const agentTokens = rows.reduce((sum, row) => sum + row.agent.length, 0);
    const tokens = rows.reduce((sum, row) => sum + row.tokens.length, 0);
    return { seconds, environment: environmentSeconds() - world, file: recorded, loss: step?.loss ?? Number.NaN, agentTokens, tokens };
  };
  const { beta2, entropyBonus } = z.looseObject({ beta2: z.number(), entropyBonus: z.number() }).parse(config.algorithm);
  return {
    ready: {
      model,
      weights: file,
      optimizer: { ...OPTIMIZER, learningRate },
      beta2,
      entropyBonus,
      episodes: batch,
      parameters: layout.count,
    },
    update,
  };
}

/** The rows of an update as plain numbers, the masks as a list of allowed tokens each. */
function record(episodes: readonly Episode[], advantage: Float32Array | undefined): object {
  const masks = new Map<TokenMask, number>();
  const index = (mask: TokenMask): number => {
    const known = masks.get(mask) ?? masks.size;
    masks.set(mask, known);
    return known;
  };
  const rows = episodes.flatMap((episode, number) =>
    episode.rows.map(({ tokens, flags, agent }) => ({
      episode: number,
      tokens,
      flags,
      positions: agent.map(({ position }) => position),
      targets: agent.map(({ target }) => target),
      masks: agent.map(({ mask }) => index(mask)),
    })),
  );
  return { rows, masks: [...masks.keys()].map(({ allowed }) => [...allowed]), advantage: [...(advantage ?? [])] };
}

let loop: Awaited<ReturnType<typeof prepare>> | undefined;

for await (const line of createInterface({ input: process.stdin })) {
  const asked = request.parse(JSON.parse(line));
  let answer: object;
  if (asked.command === 'hello') {
    ({ threads, clock } = asked);
    answer = { threads };
  } else if (asked.command === 'prepare') {
    loop = await prepare(asked.folder, asked.reference, asked.cloning);
    answer = loop.ready;
  } else {
    if (!loop) throw new Error('prepare comes before update');
    answer = await loop.update();
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
