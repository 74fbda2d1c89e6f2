// What the tests of algorithms and `lab plugin check` share: trajectories made of plain numbers, and an algorithm's loss run as a real ONNX session on
// given tensors, one row per kept episode plus a row of padding, with gradients for every tensor of the policy.

import { add, div, mul, reduceSum } from '../engine/graph/operators.ts';
import { gradients } from '../engine/graph/gradients.ts';
import { Graph, type Tensor } from '../engine/graph/graph.ts';
import { float, floats, scalarValue, Session, type Value } from '../engine/runtime/session.ts';
import type { Prepared } from '../algorithm/algorithm.ts';
import type { PolicyTensors } from '../policy/transformer/batch.ts';
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
type LeafTensors = Readonly<Record<Leaf, Tensor>>;

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
  const bench = new Bench(new Graph(`${variant.id} loss`), all.filter(part), width);
  const lengths = trajectories.map((one) => one.steps.reduce((sum, step) => sum + step.tokens.ids.length, 0));
  const policy = policyTensors(bench, leaves, all, lengths);
  const { loss, metrics } = lossOf(variant, bench, policy, prepared);
  const { graph, feeds } = bench;
  const slopes = slopesOf(loss, policy);
  graph.output('loss', loss);
  LEAVES.forEach((name, i) => graph.output(`gradient.${name}`, slopes[i]!));
  for (const [name, tensor] of Object.entries(metrics)) graph.output(`metric.${name}`, tensor);
  const used = Object.fromEntries([...graph.inputs.keys()].map((name) => [name, feeds[name]!]));
  const session = await Session.create(graph, { threads: 1 });
  try {
    const out = await session.run(used);
    const spread = (name: Leaf) => bench.spread(floats(out[`gradient.${name}`]!), trajectories.length);
    return {
      loss: floats(out.loss!)[0]!,
      metrics: Object.fromEntries(Object.keys(metrics).map((name) => [name, floats(out[`metric.${name}`]!)[0]!])),
      gradients: { logProbs: spread('logProbs'), entropies: spread('entropies'), values: spread('values'), kl: spread('kl') },
    };
  } finally {
    await session.dispose();
  }
}

/** A graph with the values of its inputs: a row for every kept episode and one of padding. */
class Bench {
  readonly graph: Graph;
  readonly kept: readonly number[];
  readonly width: number;
  readonly rows: number;
  readonly feeds: Record<string, Value> = {};

  constructor(graph: Graph, kept: readonly number[], width: number) {
    this.graph = graph;
    this.kept = kept;
    this.width = width;
    this.rows = kept.length + 1; // the last row is a padding episode
  }

  feed(name: string, data: Float32Array, shape: readonly number[]): Tensor {
    this.feeds[name] = float(data, shape);
    return this.graph.input(name, 'float32', shape);
  }

  scalar(name: string, value: number): Tensor {
    this.feeds[name] = scalarValue(value);
    return this.graph.input(name, 'float32', []);
  }

  rowsOf(pick: (episode: number) => ArrayLike<number>): Float32Array {
    const values = new Float32Array(this.rows * this.width);
    this.kept.forEach((episode, row) => values.set(Array.from(pick(episode)), row * this.width));
    return values;
  }

  /** The reverse of rowsOf: rows of the kept episodes to the places of all. */
  spread(rows: Float32Array, episodes: number): Float32Array {
    const values = new Float32Array(episodes * this.width);
    this.kept.forEach((episode, row) => values.set(rows.subarray(row * this.width, (row + 1) * this.width), episode * this.width));
    return values;
  }
}

/** What a policy would compute, as inputs. `all` are the episodes of the update, also those outside of the micro-batch. */
function policyTensors(bench: Bench, leaves: Leaves, all: readonly number[], lengths: readonly number[]): PolicyTensors & LeafTensors {
  const { rows, width } = bench;
  const leaf = (name: Leaf): Tensor => {
    const data = bench.rowsOf((episode) => leaves[name].subarray(episode * width, (episode + 1) * width));
    if (name === 'logProbs') data.fill(-30, (rows - 1) * width);
    return bench.feed(name, data, [rows, width]);
  };
  const tensors = { logProbs: leaf('logProbs'), entropies: leaf('entropies'), values: leaf('values'), kl: leaf('kl') };
  const weights = bench.feed(
    'weights',
    bench.rowsOf((episode) => new Float32Array(lengths[episode]!).fill(1)),
    [rows, width],
  );
  const episodesInUpdate = bench.scalar('episodesInUpdate', all.length);
  const tokensInUpdate = bench.scalar(
    'tokensInUpdate',
    all.reduce((sum, i) => sum + lengths[i]!, 0),
  );
  return {
    ...tensors,
    weights,
    perEpisode: (x) => reduceSum(mul(x, weights), [1]),
    tokenMean: (x) => div(reduceSum(mul(x, weights)), tokensInUpdate),
    episodeMean: (x) => div(reduceSum(x), episodesInUpdate),
  };
}

/** The loss over inputs made from what was prepared: it may ask for nothing else, and must ask for all of it. */
function lossOf(variant: BoundAlgorithm, bench: Bench, policy: PolicyTensors, prepared: Prepared) {
  const { kept, rows, width } = bench;
  const known = new Map<string, Tensor>();
  const missing = (per: string, name: string): Error =>
    new Error(`${variant.id} asks for the ${per} input ${name}, which prepare does not give`);
  const episodeInput = (name: string): Tensor => {
    const numbers = prepared.episode[name];
    if (!numbers) throw missing('episode', name);
    return bench.feed(`episode.${name}`, Float32Array.from([...kept.map((i) => numbers[i]!), 0]), [rows]);
  };
  const tokenInput = (name: string): Tensor => {
    const numbers = prepared.token[name];
    if (!numbers) throw missing('token', name);
    return bench.feed(
      `token.${name}`,
      bench.rowsOf((episode) => numbers[episode]!),
      [rows, width],
    );
  };
  const made = variant.loss(bench.graph, policy, (name, per) => {
    const key = `${per}.${name}`;
    const found = known.get(key) ?? (per === 'episode' ? episodeInput(name) : tokenInput(name));
    known.set(key, found);
    return found;
  });
  const given = [
    ...Object.keys(prepared.episode).map((name) => `episode.${name}`),
    ...Object.keys(prepared.token).map((name) => `token.${name}`),
  ];
  const unused = given.filter((key) => !known.has(key));
  if (unused.length > 0) throw new Error(`${variant.id} prepares ${unused.join(', ')}, which its loss never asks for`);
  return made;
}

/** The gradients by every leaf. A term that an algorithm leaves out must still have one: zero. */
function slopesOf(loss: Tensor, leaves: LeafTensors): readonly Tensor[] {
  const tensors = LEAVES.map((name) => leaves[name]);
  const zero = mul(
    tensors.map((tensor) => reduceSum(tensor)).reduce((a, b) => add(a, b)),
    0,
  );
  return gradients(add(loss, zero), tensors);
}
