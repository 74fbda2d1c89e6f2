// Judges given tokens: their log-probabilities under the same masks they were drawn under, entropies, the critic's values, and the
// whole masked logits (for a full-vocabulary KL inside a loss). One forward pass over whole sequences, in the batch layout of
// training, one session per shape. The weights are read in place, like the sampler's.

import { Graph } from '../engine/graph.ts';
import type { Tensor } from '../engine/graph.ts';
import * as op from '../engine/operators.ts';
import type { Flat } from '../engine/parameters.ts';
import { peakBytes } from '../engine/memory.ts';
import { type MemoryPool, SessionCache } from '../engine/session-cache.ts';
import { Session, floats } from '../engine/session.ts';
import type { Value } from '../engine/session.ts';
import { PackedBatch } from './batch.ts';
import { networkOf } from './network.ts';
import type { PolicyModel, PolicyNetwork } from './network.ts';
import { parameterFeeds, parameterInputs } from './sampling-graph.ts';

/** One array per episode, one number per agent token (rows joined). */
export interface Scores {
  readonly logProbs: Float32Array[];
  readonly entropies: Float32Array[];
  /** Only where the model has a value head. */
  readonly values: Float32Array[] | undefined;
}

interface ScorerOptions {
  readonly threads?: number;
  /** How many sessions are kept; the least recently used one is disposed of first. */
  readonly sessions?: number;
  /** A limit of bytes shared with others. */
  readonly pool?: MemoryPool;
}

type Kind = 'scores' | 'logits';

export class Scorer {
  readonly #network: PolicyNetwork;
  readonly #options: ScorerOptions;
  readonly #sessions: SessionCache<Session>;
  readonly #feeds: Readonly<Record<string, Value>>;

  constructor(model: PolicyModel, weights: Flat, options: ScorerOptions = {}) {
    this.#network = networkOf(model);
    this.#options = options;
    this.#sessions = new SessionCache(options.sessions ?? 12, options.pool);
    this.#feeds = parameterFeeds(this.#network.layout, weights);
  }

  async score(batch: PackedBatch): Promise<Scores> {
    const { logProbs, entropies, values } = await this.#run('scores', batch);
    const unpack = (result: Value | undefined): Float32Array[] => (result ? batch.unpack(floats(result)) : []);
    return { logProbs: unpack(logProbs), entropies: unpack(entropies), values: values && unpack(values) };
  }

  /** The masked logits of every agent position, [rows, agent tokens, vocabulary], as a loss takes them for `referenceLogits`. */
  async logits(batch: PackedBatch): Promise<Value> {
    const { logits } = await this.#run('logits', batch);
    if (!logits) throw new Error('The scorer gave no logits');
    return logits;
  }

  async dispose(): Promise<void> {
    await this.#sessions.dispose();
  }

  async #run(kind: Kind, batch: PackedBatch): Promise<Record<string, Value>> {
    const session = await this.#session(kind, batch);
    return session.run({ ...this.#feeds, ...batch.feeds, ...PackedBatch.divisors(1, 1) });
  }

  #session(kind: Kind, { shape }: PackedBatch): Promise<Session> {
    const key = `${kind} ${Object.values(shape).join('×')}`;
    return this.#sessions.get(key, () => {
      const graph = new Graph(key);
      const policy = this.#network.tensors(graph, parameterInputs(graph, this.#network.layout), shape);
      for (const [name, tensor] of Object.entries(outputs(kind, policy, [shape.rows, shape.agentTokens, this.#network.vocabulary]))) {
        if (tensor) graph.output(name, tensor);
      }
      const { threads } = this.#options;
      const settings = { spinning: false, plannedMemory: false, ...(threads !== undefined && { threads }) };
      return { bytes: peakBytes(graph), create: () => Session.create(graph, settings) };
    });
  }
}

function outputs(kind: Kind, policy: ReturnType<PolicyNetwork['tensors']>, shape: readonly number[]): Record<string, Tensor | undefined> {
  if (kind === 'logits') return { logits: op.reshape(policy.logits, shape) };
  return { logProbs: policy.logProbs, entropies: policy.entropies, values: policy.values };
}
