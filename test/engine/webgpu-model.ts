// A tiny language model with an adapter: tokens drawn, scores and three training steps, as one line of JSON. Run by device.slow.test.ts here and,
// over software Vulkan, in a child process: sampler, scorer and trainer of a device with one copy of the model's weights.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DeviceParameters } from '../../main/engine/gpu/device-parameters.ts';
import { neg } from '../../main/engine/graph/operators.ts';
import type { SessionOptions } from '../../main/engine/runtime/session.ts';
import { Trainer, freshState } from '../../main/engine/runtime/training-step.ts';
import { PackedBatch } from '../../main/policy/transformer/batch.ts';
import { DeviceEpisodes } from '../../main/policy/gpu/device-episodes.ts';
import type { Drawn } from '../../main/policy/sampling/draw.ts';
import { tokenMask } from '../../main/policy/text/grammar-mask.ts';
import { TARGETS } from '../../main/policy/model/adapter.ts';
import { modelNetwork } from '../../main/policy/model/model-network.ts';
import { ModelRegistry } from '../../main/policy/model/files/registry.ts';
import { type PolicyNetwork, policyObjective } from '../../main/policy/transformer/network.ts';
import { openSampler } from '../../main/policy/sampling/open-sampler.ts';
import type { AgentToken, EncodedRow } from '../../main/policy/text/prompt.ts';
import type { Feed, SampledEpisode } from '../../main/policy/sampling/sampler.ts';
import { Scorer } from '../../main/policy/transformer/scorer.ts';
import { Random } from '../../main/base/random.ts';
import { writeTinyModel } from '../policy/model/tiny-model.ts';
import { answer, webgpu } from './vulkan.ts';

const MASK = tokenMask(Array.from({ length: 30 }, (_, i) => i + 3));
const WRITTEN = 4;

/** Reads a few tokens and writes four. */
class Note implements SampledEpisode {
  readonly random: Random;
  readonly mask = MASK;
  readonly row: EncodedRow;
  #read = 0;

  constructor(seed: number) {
    this.random = Random.from('note', seed);
    const tokens = Array.from({ length: 5 + seed }, () => 3 + this.random.below(30));
    this.row = { tokens, flags: tokens.map(() => 0), agent: [] };
  }

  get done(): boolean {
    return this.row.agent.length === WRITTEN;
  }

  take(): Feed {
    const [tokens, flags, newRow] = [this.row.tokens.slice(this.#read), this.row.flags.slice(this.#read), this.#read === 0];
    this.#read = this.row.tokens.length;
    return { tokens, flags, newRow };
  }

  accept({ token }: Drawn): void {
    this.row.agent.push({ position: this.row.tokens.length - 1, target: token, mask: this.mask } satisfies AgentToken);
    this.row.tokens.push(token);
    this.row.flags.push(0);
  }
}

export interface ModelTrace {
  readonly tokens: number[][];
  readonly logProbs: number[];
  readonly losses: number[];
  readonly norms: number[];
}

/** On the device of these options, or on the CPU. */
export async function modelTrace(session: SessionOptions): Promise<ModelTrace> {
  const folder = mkdtempSync(join(tmpdir(), 'astrolab-device-model-'));
  try {
    writeTinyModel(folder);
    const registry = new ModelRegistry(join(folder, 'data'));
    registry.add(folder, 'tiny');
    const source = registry.open('tiny', 'f32');
    const network = modelNetwork({ ...source, trained: { rank: 4, alpha: 8, targets: TARGETS }, contextLength: 64 });
    return await traceOf(network, session);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function traceOf(network: PolicyNetwork, session: SessionOptions): Promise<ModelTrace> {
  const random = Random.from('adapter');
  const values = network.layout.initialise(() => random.normal());
  for (const { name } of network.layout.specs) network.layout.view(values, name).forEach((_, i, all) => (all[i] = 0.1 * random.normal()));
  const trainer = new Trainer({ layout: network.layout, state: freshState(network.layout, values), session });
  const weights = trainer.parameters ?? values;
  const notes = [1, 2, 3].map((seed) => new Note(seed));
  const sampler = openSampler(network, weights, { capacity: 4, threads: 1 });
  await sampler.run(notes);
  const rows = notes.map(({ row }) => [row]);
  const held = weights instanceof DeviceParameters ? new DeviceEpisodes(network, session) : undefined;
  await held?.hold(rows.map((own) => ({ rows: own })));
  const packed = new PackedBatch(rows, network);
  const batch = held?.batch(rows, packed.shape) ?? packed;
  const scorer = new Scorer(network, weights, { threads: 1 });
  const { logProbs } = await scorer.score(batch, { only: 'logProbs' });
  const build = policyObjective(network, batch.shape, {}, (_graph, policy) => ({ loss: neg(policy.tokenMean(policy.logProbs)) }));
  const base = weights instanceof DeviceParameters ? await network.base?.feeds(session) : {};
  const feeds = { ...base, ...batch.feeds, ...PackedBatch.divisors(3, packed.tokenCount) };
  const [losses, norms]: [number[], number[]] = [[], []];
  for (let step = 0; step < 3; step++) {
    const report = await trainer.step([{ key: 'notes', build, feeds }], 1e-2);
    losses.push(report.loss);
    norms.push(report.gradientNorm);
  }
  await sampler.dispose();
  await scorer.dispose();
  await held?.dispose();
  await network.base?.release();
  await trainer.dispose();
  return { tokens: notes.map(({ row }) => row.tokens), logProbs: logProbs.flatMap((numbers) => [...numbers]), losses, norms };
}

await answer('webgpu-model.ts', () => modelTrace(webgpu));
