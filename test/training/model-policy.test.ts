// A language model as the policy of a run: it acts in a world through its chat, sampler, scorer and trainer agree on its probabilities, and a
// whole run trains, repeats and resumes. The model is tiny and random; what it says is nonsense within the world's grammar.

import { describe, expect, test } from 'vitest';
import { ConfigError } from '../../main/config/config.ts';
import { Trainer, freshState } from '../../main/engine/runtime/training-step.ts';
import { neg } from '../../main/engine/graph/operators.ts';
import { PackedBatch } from '../../main/policy/transformer/batch.ts';
import { networkOf, policyObjective } from '../../main/policy/transformer/network.ts';
import { Sampler } from '../../main/policy/sampling/sampler.ts';
import { Scorer } from '../../main/policy/transformer/scorer.ts';
import { Random } from '../../main/base/random.ts';
import type { EpisodeRequest } from '../../main/rollout/episode.ts';
import { EpisodeInPlay } from '../../main/rollout/episode.ts';
import { drawAt, rollout } from '../../main/rollout/rollout.ts';
import { train } from '../../main/training/train.ts';
import { smallest } from './host.ts';
import { model, modelHosts } from './model-host.ts';
import { openRun } from '../catalog.ts';

const host = modelHosts();

function play(config = model()) {
  const { dataFolder } = host();
  const setup = openRun(config, { dataFolder });
  const random = Random.from('adapter');
  const values = setup.layout.initialise(() => random.normal());
  for (const { name } of setup.layout.specs) if (name.endsWith('lora_B')) layoutNoise(setup.layout.view(values, name), random);
  const requests = setup.environment
    .tasks('validation')
    .slice(0, 5)
    .map((task, seed): EpisodeRequest => ({ task, seed, purpose: 'train', update: 0, relabel: true, level: undefined }));
  return { setup, values, requests };
}

function layoutNoise(view: Float32Array, random: Random): void {
  for (let i = 0; i < view.length; i++) view[i] = 0.1 * random.normal();
}

async function played({ setup, values, requests }: ReturnType<typeof play>, capacity: number, order = requests) {
  const sampler = new Sampler(setup.model, values, { capacity, threads: 1 });
  try {
    return await rollout({ environment: setup.environment, codec: setup.codec, sampler }, order, drawAt(1));
  } finally {
    await sampler.dispose();
  }
}

describe('a language model in the shop', () => {
  test('says only what the grammar allows, and sampler, scorer and trainer agree on how probable it was', async () => {
    const game = play();
    const episodes = await played(game, 3);
    const cut = episodes.flatMap(({ trajectory }) => trajectory.steps).filter(({ valid, tokens }) => !valid && tokens.ids.length < 64);
    expect(cut).toEqual([]); // an answer is allowed, or it was too long and cut

    const network = networkOf(game.setup.model);
    const batch = new PackedBatch(
      episodes.map(({ rows }) => rows),
      network,
    );
    const scorer = new Scorer(network, game.values, { threads: 1 });
    const { logProbs } = await scorer.score(batch);
    await scorer.dispose();
    for (const [index, { trajectory }] of episodes.entries()) {
      const drawn = trajectory.steps.flatMap(({ tokens }) => [...tokens.logProbs]);
      expect(logProbs[index]).toHaveLength(drawn.length);
      const apart = Math.max(...drawn.map((number, i) => Math.abs(number - (logProbs[index]?.[i] ?? Number.NaN))));
      expect(apart).toBeLessThan(1e-3);
    }

    const trainer = new Trainer({ layout: network.layout, state: freshState(network.layout, game.values), session: { threads: 1 } });
    const build = policyObjective(network, batch.shape, {}, (_graph, policy) => ({ loss: neg(policy.tokenMean(policy.logProbs)) }));
    const { report } = await trainer.gradients([
      { key: 'mean', build, feeds: { ...batch.feeds, ...PackedBatch.divisors(5, batch.tokenCount) } },
    ]);
    await trainer.dispose();
    const all = episodes.flatMap(({ trajectory }) => trajectory.steps.flatMap(({ tokens }) => [...tokens.logProbs]));
    expect(Math.abs(report.loss + all.reduce((sum, number) => sum + number, 0) / all.length)).toBeLessThan(1e-3);
  });

  test('says the same in whatever company and order', async () => {
    const game = play();
    const said = (episodes: Awaited<ReturnType<typeof played>>): unknown =>
      episodes.map(({ rows, trajectory }) => [trajectory.seed, rows.map(({ tokens }) => tokens)]);
    const together = said(await played(game, 5));
    expect(said(await played(game, 1))).toEqual(together);
    const reversed = await played(game, 2, game.requests.toReversed());
    expect(said(reversed.toReversed())).toEqual(together);
  });

  test('keeps its tokens: what it said stands in the row as it was drawn, between the template’s marks', async () => {
    const game = play(model({}, { thoughts: true, thoughtTokens: 6 }));
    const episodes = await played(game, 2, game.requests.slice(0, 2));
    expect(episodes).toHaveLength(2);
    for (const { rows, trajectory } of episodes) {
      const drawn = trajectory.steps.flatMap(({ tokens }) => [...tokens.ids]);
      const kept = rows.flatMap(({ agent, tokens }) => agent.map(({ position }) => tokens[position + 1]));
      expect(kept).toEqual(drawn);
    }
  });

  test('plays a demonstration to the demonstrated end, under other names', () => {
    const { setup, requests } = play();
    const [request] = requests;
    if (!request) throw new Error('There is no task');
    const { environment, world, codec } = setup;
    const episode = new EpisodeInPlay(environment, codec, request);
    let turn = environment.reset(request.task, request.seed, undefined);
    const actions: string[] = [];
    while (!turn.done) {
      const action = environment.oracle(turn.state) ?? world.heuristic(environment, turn, () => 0.5);
      actions.push(action);
      episode.force({ thought: '', action });
      turn = environment.step(turn.state, action);
    }
    const { trajectory } = episode.finish();
    expect(trajectory.steps.map(({ action }) => action)).toEqual(actions);
    expect([trajectory.success, turn.success]).toEqual([true, true]);
  });

  test('shows pages in lower case where that is asked for', () => {
    const page = (changes: Record<string, unknown>): string => {
      const { setup, requests } = play(model(changes));
      const [request] = requests;
      if (!request || !('chat' in setup.codec)) throw new Error('There is no chat');
      const [row] = new EpisodeInPlay(setup.environment, setup.codec, request).rows;
      return setup.codec.chat.decode(row?.tokens ?? []);
    };
    const usual = page({});
    expect(usual).toMatch(/TASK: User .*Available/s);
    const lower = page({ lowerCase: true });
    expect(lower).toMatch(/task: user .*available/s);
    expect(lower.toLowerCase()).toBe(usual.toLowerCase());
  });

  test('begins a new row with the task when the context is full', async () => {
    const game = play(model({ answers: 'free', answerTokens: 8 }, { contextLength: 230 }));
    const episodes = await played(game, 5);
    const long = episodes.find(({ rows }) => rows.length > 1);
    expect(long).toBeDefined();
    const [first, second] = long?.rows ?? [];
    expect(second?.tokens.slice(0, 60)).toEqual(first?.tokens.slice(0, 60));
    expect(Math.max(...episodes.flatMap(({ rows }) => rows.map(({ tokens }) => tokens.length)))).toBeLessThanOrEqual(230);
  });
});

describe('a run with a language model', () => {
  test('trains, repeats and resumes to the same numbers and weights', async () => {
    const first = host();
    expect(await train(model(), first)).toBe('done');
    const again = host();
    again.until = 1;
    expect(await train(model(), again)).toBe('stopped');
    again.rewind();
    again.until = null;
    expect(await train(model(), again)).toBe('done');
    expect(again.lastWeights()).toBe(first.lastWeights());
    expect(again.numbers()).toEqual(first.numbers());
  }, 120_000);

  // With a critic; the run above has none, the one on int8 weights below a group's baseline (model-policy.slow.test.ts: every algorithm).
  test('trains with ppo', async () => {
    const config = model();
    const algorithm = { id: 'ppo', klEstimator: 'k3' };
    const one = host();
    expect(await train(smallest({ ...config, algorithm, training: { ...config.training, updates: 1 } }), one)).toBe('done');
    expect(one.reports.filter(({ type }) => type === 'update')).toHaveLength(1);
  }, 120_000);

  test('learns on int8 weights from log-probabilities that the trainer computed', async () => {
    const config = smallest({ ...model({ precision: 'int8' }), algorithm: { id: 'grpo', klEstimator: 'k3' } });
    const one = host();
    expect(await train(smallest({ ...config, training: { ...config.training, updates: 1 } }), one)).toBe('done');
    const [update] = one.reports.flatMap((report) => (report.type === 'update' ? [report.metrics] : []));
    expect(update?.['rollout.samplingGap']).toBeGreaterThan(0);
    expect(update?.['rollout.samplingGap']).toBeLessThan(0.2);
  }, 120_000);

  test('is refused without a model, or with a KL over the whole vocabulary', () => {
    expect(() => model({ name: '' })).toThrow(ConfigError);
    expect(() =>
      smallest({ policy: { kind: 'model', model: { name: 'x' } }, algorithm: { id: 'grpo', klCoefficient: 0.1, klEstimator: 'full' } }),
    ).toThrow(/expected k3/);
  });
});

test('free answers that cannot be parsed cost their price in training and in V*, which is not shared between prices', async () => {
  const trained = async (invalidPenalty: number) => {
    const lab = host();
    const shaped = { vstar: { samples: [2], reward: 'shaped' }, training: { ...model().training, updates: 1, reward: 'shaped' } };
    expect(await train(model({ answers: 'free', invalidPenalty }, {}, shaped), lab)).toBe('done');
    const episodes = lab.reports.flatMap((report) => (report.type === 'update' ? report.episodes : []));
    const values = lab.reports.flatMap((report) => (report.type === 'vstar' ? report.entries : []));
    return { steps: episodes.flatMap(({ steps }) => steps), values };
  };
  const [free, priced] = [await trained(0), await trained(0.25)];
  expect(free.steps.some(({ valid }) => !valid)).toBe(true); // a random model says nonsense
  expect(priced.steps.map(({ reward }) => reward)).toEqual(free.steps.map(({ valid, reward }) => (valid ? reward : reward - 0.25)));
  expect(Math.max(...free.values.map(({ value }) => value))).toBe(0);
  expect(Math.max(...priced.values.map(({ value }) => value))).toBeLessThan(0);
  expect(new Set([...free.values, ...priced.values].map(({ worldHash }) => worldHash)).size).toBe(2);
});
