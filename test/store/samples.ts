// Made-up but lifelike runs, trajectories and reports, the same for the same seed. Used by tests, benchmarks and the
// pretended training process.

import { Random } from '../../main/base/random.ts';
import type { StepTokens, Trajectory } from '../../main/rollout/trajectory.ts';
import type { Purpose } from '../../main/base/vocabulary.ts';
import type { NewRun } from '../../main/store/runs.ts';
import type { Store } from '../../main/store/store.ts';
import type { RunReport } from '../../main/training/reports.ts';
import { parseConfig } from '../catalog.ts';

/** `config`: some of its settings, the others at their defaults. */
export function newRun({ config, ...overrides }: Omit<Partial<NewRun>, 'config'> & { readonly config?: object } = {}): NewRun {
  const seed = overrides.seed ?? 1;
  return {
    name: 'a run',
    world: 'shop',
    variant: 'astar-po',
    preset: 'quick',
    seed,
    device: 'cpu',
    config: parseConfig({ seed, ...(config ?? { algorithm: { id: 'astar-po', beta2: 0.001 }, training: { updates: 10 } }) }),
    versions: { astrolab: '0.2.0' },
    planned: 10,
    ...overrides,
  };
}

export function someTokens(random: Random, count: number, critic = false): StepTokens {
  const floats = (length: number, value: () => number): Float32Array => Float32Array.from({ length }, value);
  return {
    ids: Int32Array.from({ length: count }, () => random.below(2000)),
    logProbs: floats(count, () => Math.log(random.next())),
    referenceLogProbs: floats(count, () => Math.log(random.next())),
    entropies: floats(count, () => random.next() * 3),
    values: floats(critic ? count : 0, () => random.normal()),
    advantages: floats(critic ? count : 0, () => random.normal()),
    topIds: Int32Array.from({ length: count * 4 }, () => random.below(2001) - 1),
    topProbs: floats(count * 4, () => Math.round(random.next() * 65535) / 65535),
  };
}

export function someTrajectory(random: Random, overrides: Partial<Trajectory> = {}): Trajectory {
  const success = random.next() < 0.5;
  const purpose: Purpose = 'train';
  const task = `task-${random.below(50)}`;
  const query = random.pick(['red shoes', 'running shoes', 'coffee maker', 'yoga mat']);
  const actions = [`search[${query}]`, `click[p${random.below(500)}]`, 'buy'];
  return {
    task,
    split: 'train',
    category: random.pick(['shoes', 'kitchen', 'books']),
    tier: random.pick(['plain', 'paraphrased']),
    seed: random.below(1000),
    purpose,
    update: 1,
    steps: actions.map((action, index) => ({
      observation: `Task: ${task}. Page ${index}. ` + 'A line of the page that repeats itself. '.repeat(5),
      thought: index === 0 ? 'I look for it first.' : '',
      action,
      reward: index === 2 ? (success ? 1 : -0.1) : 0,
      reason: index === 2 ? (success ? 'bought the right product' : 'bought a wrong product') : 'nothing special',
      valid: true,
      facts: { kind: action.split('[')[0] ?? '', results: index },
      tokens: someTokens(random, 3 + random.below(8)),
    })),
    finalObservation: 'The end.',
    return: success ? 1 : -0.1,
    success,
    vstar: 0.5,
    advantage: success ? 0.5 : -0.6,
    failure: success ? null : 'wrong-purchase',
    ...overrides,
  };
}

/** One update as a trainer would report it; the same numbers for the same seed and update. */
export function someUpdate(seed: number, update: number, episodes = 4): Extract<RunReport, { type: 'update' }> {
  const random = Random.from('test-update', seed, update);
  return {
    type: 'update',
    update,
    metrics: { loss: random.normal(), 'train/success': random.next(), 'gradient/norm': Math.fround(random.next()) },
    distributions: { advantage: Float32Array.from({ length: episodes }, () => random.normal()) },
    episodes: Array.from({ length: episodes }, () => someTrajectory(random, { update })),
    totals: { episodes: update * episodes, tokens: update * 100, seconds: update * 0.5 },
  };
}

export function someEvaluation(seed: number, update: number): Extract<RunReport, { type: 'evaluation' }> {
  const { episodes } = someUpdate(seed, update);
  const played = episodes.map((episode) => ({ ...episode, purpose: 'evaluation' as const }));
  return {
    type: 'evaluation',
    update,
    kind: 'periodic',
    agent: 'policy',
    world: 'shop',
    worldHash: 'abc',
    split: 'test',
    temperature: 0,
    seconds: 1,
    results: played.map(({ task, category, tier, seed, success, return: sum, steps, failure }) => ({
      task,
      category,
      tier,
      seed,
      success,
      return: sum,
      steps: steps.length,
      failure,
    })),
    episodes: played,
  };
}

/** Everything a run recorded, as plain data to compare; ids and times left out. */
export function record(store: Store, run: number): unknown {
  const { seconds, updates, episodes, tokens, test, validation, best } = store.runs.get(run);
  const tables = ['episodes', 'steps', 'episode_tokens', 'distributions'];
  const rows = tables.map((table) => store.db.prepare(`SELECT * FROM ${table} ORDER BY 1, 2`).all());
  const results = store.evaluations.list(run).map(({ id }) => store.evaluations.results(id));
  return {
    series: store.metrics.many(run, store.metrics.names(run)),
    rows,
    results,
    seconds,
    updates,
    episodes,
    tokens,
    test,
    validation,
    best,
  };
}
