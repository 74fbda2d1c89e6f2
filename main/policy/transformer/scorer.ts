// Judges given tokens: their log-probabilities under the same masks they were drawn under, entropies, the critic's values, and the
// whole masked logits (for a full-vocabulary KL inside a loss). One forward pass over whole sequences, in the batch layout of
// training, one session per shape. The weights are read in place.

import { Graph } from '../../engine/graph/graph.ts';
import type { Tensor } from '../../engine/graph/graph.ts';
import * as op from '../../engine/graph/operators.ts';
import { DeviceBuffers } from '../../engine/gpu/device-buffers.ts';
import { DeviceParameters, deviceInputs } from '../../engine/gpu/device-parameters.ts';
import type { Flat } from '../../engine/graph/parameters.ts';
import { laneNumber, laneThreads, lanesOf } from '../../engine/runtime/lanes.ts';
import { sharedNumbers } from '../../engine/runtime/shared-memory.ts';
import { peakBytes } from '../../engine/graph/memory.ts';
import { type MemoryPool, type Planned, SessionCache } from '../../engine/runtime/session-cache.ts';
import { Session, floats } from '../../engine/runtime/session.ts';
import type { Feeds, Fetches, SessionOptions, Value } from '../../engine/runtime/session.ts';
import { PackedBatch, type FedBatch } from './batch.ts';
import { networkOf } from './network.ts';
import type { PolicyModel, PolicyNetwork } from './network.ts';
import { parameterFeeds, parameterInputs } from '../sampling/sampling-graph.ts';

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

/** What a session holds for every byte alive at once in its graph, as measured (more than in training: the runtime's order is another one). */
const ARENA = 3;

export class Scorer {
  readonly #network: PolicyNetwork;
  readonly #options: ScorerOptions;
  readonly #sessions: SessionCache<Session>;
  readonly #feeds: () => Promise<Feeds>;
  /** What lanes read: a copy of the weights in memory that they see. */
  readonly #shared: (() => Feeds) | undefined;
  readonly #device: { readonly session: SessionOptions; readonly buffers: DeviceBuffers } | undefined;
  /** Logits on the device that somebody still needs. */
  #lent: Value[] = [];

  /** `weights` on a device make the scorer work there. */
  constructor(model: PolicyModel, weights: Flat | DeviceParameters, options: ScorerOptions = {}) {
    this.#network = networkOf(model);
    this.#options = options;
    this.#sessions = new SessionCache(options.sessions ?? 12, options.pool);
    if (weights instanceof DeviceParameters) {
      this.#device = { session: weights.session, buffers: new DeviceBuffers(weights.session) };
      const { base } = this.#network;
      this.#feeds = async () => ({ ...(await weights.feeds()), ...(await base?.feeds(weights.session)) });
    } else {
      const feeds = parameterFeeds(this.#network.layout, weights);
      this.#feeds = async () => feeds;
      if (this.lanes > 1) this.#shared = sharedFeeds(this.#network, weights);
    }
  }

  /** How many batches may be scored side by side. Devices have one session. */
  get lanes(): number {
    return this.#device ? 1 : lanesOf(this.#options.threads, this.#network.lanes);
  }

  /** `only`: on a device nothing else comes back. `lane`: the number of the thread that computes it. */
  async score(batch: FedBatch, { only, lane }: { only?: keyof Scores | undefined; lane?: number | undefined } = {}): Promise<Scores> {
    const fetches = only && this.#device ? { [only]: null } : undefined;
    const { logProbs, entropies, values } = await this.#run('scores', batch, fetches, lane);
    const unpack = (result: Value | undefined): Float32Array[] => (result ? batch.unpack(floats(result)) : []);
    return { logProbs: unpack(logProbs), entropies: unpack(entropies), values: values && unpack(values) };
  }

  /**
   * The masked logits of every agent position, [rows, agent tokens, vocabulary], as a loss takes them for `referenceLogits`. On a device
   * they stay there, until `freeLogits`.
   */
  async logits(batch: FedBatch): Promise<Value> {
    const { rows, agentTokens } = batch.shape;
    const place = await this.#device?.buffers.allocate([rows, agentTokens, this.#network.vocabulary]);
    const { logits } = await this.#run('logits', batch, place && { logits: place });
    if (!logits) throw new Error('The scorer gave no logits');
    if (place) this.#lent.push(place);
    return place ?? logits;
  }

  /** Nobody needs the logits any more that were given out. */
  freeLogits(): void {
    for (const value of this.#lent.splice(0)) this.#device?.buffers.free(value);
  }

  async dispose(): Promise<void> {
    this.freeLogits();
    await this.#device?.buffers.dispose();
    await this.#sessions.dispose();
  }

  async #run(kind: Kind, batch: FedBatch, fetches?: Fetches, lane?: number): Promise<Record<string, Value>> {
    const weights = lane === undefined ? await this.#feeds() : (this.#shared?.() ?? {});
    const key = `${kind} ${Object.values(batch.shape).join('×')}${lane === undefined ? '' : ` in lane ${lane}`}`;
    return this.#sessions.use(key, this.#plan(key, kind, batch, lane), (session) =>
      session.run({ ...weights, ...batch.feeds, ...PackedBatch.divisors(1, 1) }, fetches),
    );
  }

  #plan(key: string, kind: Kind, { shape }: FedBatch, lane: number | undefined): () => Planned<Session> {
    return () => {
      const graph = new Graph(key);
      const { layout } = this.#network;
      const inputs = this.#device ? deviceInputs(graph, layout, this.#device.session) : parameterInputs(graph, layout);
      const policy = this.#network.tensors(graph, inputs, shape);
      for (const [name, tensor] of Object.entries(outputs(kind, policy, [shape.rows, shape.agentTokens, this.#network.vocabulary]))) {
        if (tensor) graph.output(name, tensor);
      }
      const { threads } = this.#options;
      const beside =
        lane === undefined
          ? threads !== undefined && { threads }
          : { threads: laneThreads(threads, this.#network.lanes), lane: laneNumber(lane) };
      const settings = { spinning: false, plannedMemory: false, ...beside, ...this.#device?.session };
      return { bytes: ARENA * peakBytes(graph), create: () => Session.create(graph, settings) };
    };
  }
}

/** The weights as they are when asked, in memory that lanes see. */
function sharedFeeds({ layout }: PolicyNetwork, weights: Flat): () => Feeds {
  const shared = { decay: sharedNumbers(layout.lengths.decay), plain: sharedNumbers(layout.lengths.plain) };
  const feeds = parameterFeeds(layout, shared);
  return () => {
    shared.decay.set(weights.decay);
    shared.plain.set(weights.plain);
    return feeds;
  };
}

function outputs(kind: Kind, policy: ReturnType<PolicyNetwork['tensors']>, shape: readonly number[]): Record<string, Tensor | undefined> {
  if (kind === 'logits') return { logits: op.reshape(policy.logits, shape) };
  return { logProbs: policy.logProbs, entropies: policy.entropies, values: policy.values };
}
