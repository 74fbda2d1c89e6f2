// What the tests of algorithms and `lab plugin check` share: trajectories made of plain numbers, and an algorithm's loss run as a real ONNX session on
// given tensors, one row per kept episode plus a row of padding, with gradients for every tensor of the policy.

import { add, div, mul, reduceSum } from '../engine/operators.ts';
import { gradients } from '../engine/gradients.ts';
import { Graph, type Tensor } from '../engine/graph.ts';
import { float, floats, scalarValue, Session, type Value } from '../engine/session.ts';
import type { Prepared } from '../algorithm/algorithm.ts';
import type { PolicyTensors } from '../policy/batch.ts';
import type { BoundAlgorithm } from '../algorithm/registry.ts';
import type { Trajectory } from '../rollout/trajectory.ts';

export interface PlainStep {
  readonly reward: number;
  readonly logProbs: readonly number[];
  readonly reference: readonly number[];
  readonly values: readonly number[];
}

export interface PlainEpisode {
  readonly task: string;
  readonly success: boolean;
  readonly vstar: number | null;
  readonly return: number;
  readonly steps: readonly PlainStep[];
}

export function trajectory(episode: PlainEpisode): Trajectory {
  return {
    task: episode.task,
    split: 'train',
    category: 'shoes',
    tier: 'plain',
    seed: 1,
    purpose: 'train',
    update: 1,
    finalObservation: 'end',
    return: episode.return,
    success: episode.success,
    vstar: episode.vstar,
    advantage: null,
    failure: null,
    steps: episode.steps.map((step, i) => ({
      observation: `page ${i}`,
      thought: '',
      action: `action ${i}`,
      reward: step.reward,
      reason: '',
      valid: true,
      facts: {},
      tokens: {
        ids: new Int32Array(step.logProbs.length),
        logProbs: Float32Array.from(step.logProbs),
        referenceLogProbs: Float32Array.from(step.reference),
        entropies: new Float32Array(step.logProbs.length),
        values: Float32Array.from(step.values),
        advantages: new Float32Array(0),
        topIds: new Int32Array(0),
        topProbs: new Float32Array(0),
      },
    })),
  };
}

/** One episode of a single turn. */
export function shortEpisode(task: string, success: boolean, vstar: number, logProbs: readonly number[], reference = logProbs): Trajectory {
  const values = logProbs.map(() => 0);
  return trajectory({ task, success, vstar, return: success ? 1 : 0, steps: [{ reward: success ? 1 : 0, logProbs, reference, values }] });
}

const LEAVES = ['logProbs', 'entropies', 'values', 'kl'] as const;
type Leaf = (typeof LEAVES)[number];
export type Leaves = Readonly<Record<Leaf, Float32Array>>;

export interface Outcome {
  readonly loss: number;
  readonly metrics: Readonly<Record<string, number>>;
  /** [episodes given, A], zeros for episodes that were not kept. */
  readonly gradients: Record<Leaf, Float32Array>;
}

/** Runs loss and gradients, of all kept episodes or of a micro-batch (`part`) of them; `leaves` are [episodes, A] with padding in columns beyond an episode's tokens. */
export async function runLoss(
  variant: BoundAlgorithm,
  trajectories: readonly Trajectory[],
  prepared: Prepared,
  leaves: Leaves,
  part: (episode: number) => boolean = () => true,
): Promise<Outcome> {
  const width = leaves.logProbs.length / trajectories.length;
  const all = trajectories.map((_, i) => i).filter((i) => prepared.keep[i]);
  const kept = all.filter(part);
  const rows = kept.length + 1; // the last row is a padding episode
  const graph = new Graph(`${variant.id} loss`);
  const feeds: Record<string, Value> = {};
  const rowsOf = (pick: (episode: number) => ArrayLike<number>): Float32Array => {
    const values = new Float32Array(rows * width);
    kept.forEach((episode, row) => values.set(Array.from(pick(episode)), row * width));
    return values;
  };
  const feed = (name: string, data: Float32Array, shape: readonly number[]): Tensor => {
    feeds[name] = float(data, shape);
    return graph.input(name, 'float32', shape);
  };
  const lengths = trajectories.map((one) => one.steps.reduce((sum, step) => sum + step.tokens.ids.length, 0));
  const leaf = (name: Leaf) => {
    const data = rowsOf((episode) => leaves[name].subarray(episode * width, (episode + 1) * width));
    if (name === 'logProbs') data.fill(-30, (rows - 1) * width);
    return feed(name, data, [rows, width]);
  };
  const tensors = { logProbs: leaf('logProbs'), entropies: leaf('entropies'), values: leaf('values'), kl: leaf('kl') };
  const weights = feed(
    'weights',
    rowsOf((episode) => new Float32Array(lengths[episode]!).fill(1)),
    [rows, width],
  );
  const episodesInUpdate = graph.input('episodesInUpdate', 'float32', []);
  const tokensInUpdate = graph.input('tokensInUpdate', 'float32', []);
  feeds.episodesInUpdate = scalarValue(all.length);
  feeds.tokensInUpdate = scalarValue(all.reduce((sum, i) => sum + lengths[i]!, 0));
  const policy: PolicyTensors = {
    ...tensors,
    weights,
    perEpisode: (x) => reduceSum(mul(x, weights), [1]),
    tokenMean: (x) => div(reduceSum(mul(x, weights)), tokensInUpdate),
    episodeMean: (x) => div(reduceSum(x), episodesInUpdate),
  };
  const known = new Map<string, Tensor>();
  const { loss, metrics } = variant.loss(graph, policy, (name, per) => {
    const key = `${per}.${name}`;
    const found = known.get(key);
    if (found) return found;
    const made = per === 'episode' ? episodeInput(prepared, name) : tokenInput(prepared, name);
    known.set(key, made);
    return made;
  });
  function episodeInput(from: Prepared, name: string): Tensor {
    const numbers = from.episode[name];
    if (!numbers) throw new Error(`${variant.id} asks for the episode input ${name}, which prepare does not give`);
    return feed(`episode.${name}`, Float32Array.from([...kept.map((i) => numbers[i]!), 0]), [rows]);
  }
  function tokenInput(from: Prepared, name: string): Tensor {
    const numbers = from.token[name];
    if (!numbers) throw new Error(`${variant.id} asks for the token input ${name}, which prepare does not give`);
    return feed(
      `token.${name}`,
      rowsOf((episode) => numbers[episode]!),
      [rows, width],
    );
  }
  const given = [
    ...Object.keys(prepared.episode).map((name) => `episode.${name}`),
    ...Object.keys(prepared.token).map((name) => `token.${name}`),
  ];
  const unused = given.filter((key) => !known.has(key));
  if (unused.length > 0) throw new Error(`${variant.id} prepares ${unused.join(', ')}, which its loss never asks for`);
  // A term that an algorithm leaves out must still have a gradient: zero.
  const zero = mul(
    LEAVES.map((name) => reduceSum(tensors[name])).reduce((a, b) => add(a, b)),
    0,
  );
  const slopes = gradients(
    add(loss, zero),
    LEAVES.map((name) => tensors[name]),
  );
  graph.output('loss', loss);
  LEAVES.forEach((name, i) => graph.output(`gradient.${name}`, slopes[i]!));
  for (const [name, tensor] of Object.entries(metrics)) graph.output(`metric.${name}`, tensor);
  const used = Object.fromEntries([...graph.inputs.keys()].map((name) => [name, feeds[name]!]));
  const session = await Session.create(graph, { threads: 1 });
  try {
    const out = await session.run(used);
    const spread = (name: Leaf) => {
      const rowsBack = floats(out[`gradient.${name}`]!);
      const values = new Float32Array(trajectories.length * width);
      kept.forEach((episode, row) => values.set(rowsBack.subarray(row * width, (row + 1) * width), episode * width));
      return values;
    };
    return {
      loss: floats(out.loss!)[0]!,
      metrics: Object.fromEntries(Object.keys(metrics).map((name) => [name, floats(out[`metric.${name}`]!)[0]!])),
      gradients: { logProbs: spread('logProbs'), entropies: spread('entropies'), values: spread('values'), kl: spread('kl') },
    };
  } finally {
    await session.dispose();
  }
}
