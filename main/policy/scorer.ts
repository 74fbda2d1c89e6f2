// Judges given tokens: their log-probabilities under the same masks they were drawn under, entropies, the critic's values, the
// whole masked logits (for a full-vocabulary KL inside a loss) and that KL itself. One forward pass over whole sequences, in the
// batch layout of training, one session per shape. The weights are read in place, like the sampler's.

import { Graph } from '../engine/graph.ts';
import type { Tensor } from '../engine/graph.ts';
import * as op from '../engine/operators.ts';
import type { Flat, ParameterLayout } from '../engine/parameters.ts';
import { Session, floats } from '../engine/session.ts';
import type { Value } from '../engine/session.ts';
import { PackedBatch, policyTensors } from './batch.ts';
import { parameterFeeds, parameterInputs } from './sampling-graph.ts';
import { modelLayout } from './transformer.ts';
import type { ModelConfig } from './transformer.ts';

/** One array per episode, one number per agent token (rows joined). */
export interface Scores {
  readonly logProbs: Float32Array[];
  readonly entropies: Float32Array[];
  /** Only where the model has a value head. */
  readonly values: Float32Array[] | undefined;
}

interface ScorerOptions {
  readonly threads?: number;
  /** How many sessions are kept; the one unused for longest goes. */
  readonly sessions?: number;
}

type Kind = 'scores' | 'logits' | 'kl';

export class Scorer {
  readonly #config: ModelConfig;
  readonly #layout: ParameterLayout;
  readonly #options: ScorerOptions;
  readonly #sessions = new Map<string, Session>();
  #feeds: Readonly<Record<string, Value>>;

  constructor(config: ModelConfig, weights: Flat, options: ScorerOptions = {}) {
    this.#config = config;
    this.#layout = modelLayout(config);
    this.#options = options;
    this.#feeds = parameterFeeds(this.#layout, weights);
  }

  setWeights(weights: Flat): void {
    this.#feeds = parameterFeeds(this.#layout, weights);
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

  /** KL(this policy ‖ reference) over the whole vocabulary for every agent token. */
  async divergence(batch: PackedBatch, referenceLogits: Value): Promise<Float32Array[]> {
    const { kl } = await this.#run('kl', batch, { referenceLogits });
    return kl ? batch.unpack(floats(kl)) : [];
  }

  async dispose(): Promise<void> {
    for (const session of this.#sessions.values()) await session.dispose();
    this.#sessions.clear();
  }

  async #run(kind: Kind, batch: PackedBatch, extra: Record<string, Value> = {}): Promise<Record<string, Value>> {
    const session = await this.#session(kind, batch);
    return session.run({ ...this.#feeds, ...batch.feeds, ...PackedBatch.divisors(1, 1), ...extra });
  }

  async #session(kind: Kind, { shape }: PackedBatch): Promise<Session> {
    const key = `${kind} ${Object.values(shape).join('×')}`;
    const known = this.#sessions.get(key);
    if (known) {
      this.#sessions.delete(key);
      this.#sessions.set(key, known);
      return known;
    }
    const [oldest] = this.#sessions;
    if (oldest && this.#sessions.size >= (this.#options.sessions ?? 12)) {
      this.#sessions.delete(oldest[0]);
      await oldest[1].dispose();
    }
    const graph = new Graph(key);
    const policy = policyTensors(graph, parameterInputs(graph, this.#layout), this.#config, shape, { referenceLogits: kind === 'kl' });
    for (const [name, tensor] of Object.entries(outputs(kind, policy, [shape.rows, shape.agentTokens, this.#config.vocabulary]))) {
      if (tensor) graph.output(name, tensor);
    }
    const { threads } = this.#options;
    const session = await Session.create(graph, { spinning: false, ...(threads !== undefined && { threads }) });
    this.#sessions.set(key, session);
    return session;
  }
}

function outputs(kind: Kind, policy: ReturnType<typeof policyTensors>, shape: readonly number[]): Record<string, Tensor | undefined> {
  if (kind === 'logits') return { logits: op.reshape(policy.logits, shape) };
  if (kind === 'kl') return { kl: policy.kl };
  return { logProbs: policy.logProbs, entropies: policy.entropies, values: policy.values };
}
