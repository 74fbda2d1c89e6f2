// `npm run bench -- device [id]`: what an update costs on a device. Counted from the graphs: kernels, arithmetic, bytes; modelled for three
// cards (docs/GPU.md); and measured where the device (default: webgpu) passes its self-test, so that the model can be checked.

import { at } from '../../main/base/indexed.ts';
import { DeviceCounters } from '../../main/engine/gpu/device-counters.ts';
import { deviceOptions, tryDevice } from '../../main/engine/gpu/device.ts';
import { neg } from '../../main/engine/graph/operators.ts';
import { ADAMW } from '../../main/engine/runtime/optimizer.ts';
import { stepGraph } from '../../main/engine/graph/training-graphs.ts';
import { Trainer, freshState } from '../../main/engine/runtime/training-step.ts';
import { PackedBatch } from '../../main/policy/transformer/batch.ts';
import { FLAGS, digitsPerWord } from '../../main/policy/gpu/device-batch.ts';
import { DeviceEpisodes } from '../../main/policy/gpu/device-episodes.ts';
import { deviceSamplingGraph } from '../../main/policy/gpu/device-graph.ts';
import { tokenMask } from '../../main/policy/text/grammar-mask.ts';
import { parseModelConfig, weightSpecs } from '../../main/policy/model/architecture.ts';
import { networkOf, policyObjective } from '../../main/policy/transformer/network.ts';
import { parameterInputs } from '../../main/policy/sampling/sampling-graph.ts';
import { modelLayout } from '../../main/policy/transformer/transformer.ts';
import type { ModelConfig } from '../../main/policy/transformer/transformer.ts';
import { Random } from '../../main/base/random.ts';
import { plannedNetwork } from '../../main/training/batching/memory-plan.ts';
import { CARDS, type Work, secondsOn, workOf } from './device-model.ts';
import { FURTHER, MINIMIND, SHAPES } from './llm-models.ts';
import { median } from './report.ts';
import { parseConfig } from '../catalog.ts';
import { BUILT_IN } from '../../main/config/catalog.ts';

const ROWS = 64;
const SHAPE = { rows: 32, time: 256, agentTokens: 64, masks: 1, episodes: 32, resident: true } as const;
/** Calls of one update: tokens that are drawn one after the other while 64 episodes are played, and two micro-batches. */
const SAMPLING_CALLS = 80;
const STEPS = 2;

const model = (width: number, layers: number): ModelConfig => ({
  vocabulary: 600,
  width,
  layers,
  heads: width / 32,
  feedForward: 4 * width,
  gate: 'relu2',
  contextLength: 256,
  valueHead: false,
  aids: { matchFlag: true, pointer: true, tokenShift: 3 },
});
const MODELS = [model(128, 4), model(256, 6), model(512, 8)];

const loss = (config: ModelConfig) =>
  policyObjective(config, SHAPE, {}, (_graph, policy) => ({ loss: neg(policy.tokenMean(policy.logProbs)) }));

interface Part {
  readonly name: string;
  readonly work: Work;
  readonly calls: number;
  readonly travelling: number;
}

function parts(config: ModelConfig): Part[] {
  const layout = modelLayout(config);
  const sampling = deviceSamplingGraph(config, 1, (graph) => parameterInputs(graph, layout));
  const step = stepGraph({ key: 'bench', build: loss(config) }, layout, ADAMW).graph;
  return [
    {
      name: 'sampling',
      work: workOf(sampling, { rows: ROWS, time: 256, masks: 64 }),
      calls: SAMPLING_CALLS,
      travelling: TOKEN_BYTES * ROWS,
    },
    { name: 'update', work: workOf(step), calls: STEPS, travelling: episodeBytes(config.vocabulary, SHAPE) },
  ];
}

/** Bytes that a row of the sampler exchanges in a call: what was counted in a run of shop-demo (test/training/device-run.slow.test.ts). */
const TOKEN_BYTES = 80;

/** Bytes of a micro-batch's episodes as they are sent: words of tokens and flags, the agent's tokens, and the rows. */
const episodeBytes = (vocabulary: number, { rows, time, agentTokens }: typeof SHAPE | typeof ADAPTER_SHAPE): number =>
  4 * ((rows * time) / digitsPerWord(vocabulary) + (rows * time) / digitsPerWord(FLAGS) + rows * agentTokens + 5 * rows);

/** A micro-batch of a language model's LoRA step: 4 sequences of 256 tokens, 64 of each the agent's. */
const ADAPTER_SHAPE = { rows: 4, time: 256, agentTokens: 64, masks: 1, episodes: 4, resident: true } as const;

function adapterParts(name: string, shape: object): { parameters: number; own: Part[] } {
  const config = parseConfig({ policy: { kind: 'model', contextLength: 256, model: { name, rank: 16, alpha: 32 } } });
  const described = parseModelConfig({ ...shape, ...FURTHER }, name);
  const network = plannedNetwork(BUILT_IN, config, described);
  const build = policyObjective(network, ADAPTER_SHAPE, {}, (_graph, policy) => ({ loss: neg(policy.tokenMean(policy.logProbs)) }));
  const work = workOf(stepGraph({ key: 'bench', build }, network.layout, ADAMW).graph);
  const parameters = weightSpecs(described).reduce((sum, spec) => sum + spec.shape.reduce((a, b) => a * b, 1), 0);
  const sampling = network.device?.graph(1, (graph) => parameterInputs(graph, network.layout));
  const own: Part[] = [{ name: 'LoRA, 1,024 tokens', work, calls: 1, travelling: episodeBytes(described.vocabulary, ADAPTER_SHAPE) }];
  if (sampling) {
    const each = workOf(sampling, { rows: MODEL_ROWS, time: 256, masks: 64 });
    own.unshift({ name: `a token of ${MODEL_ROWS} episodes`, work: each, calls: 1, travelling: TOKEN_BYTES * MODEL_ROWS });
  }
  return { parameters, own };
}
const MODEL_ROWS = 16;

/** Seconds of one optimizer step on the device, and the bytes it exchanged. */
async function measured(config: ModelConfig, id: string): Promise<{ seconds: number; bytes: number }> {
  const random = Random.from('bench device');
  const mask = tokenMask(Array.from({ length: 500 }, (_, i) => i + 1));
  const episodes = Array.from({ length: SHAPE.episodes }, () => {
    const tokens = Array.from({ length: SHAPE.time }, () => 1 + random.below(500));
    const agent = Array.from({ length: SHAPE.agentTokens }, (_, i) => ({ position: 100 + i, target: at(tokens, 101 + i), mask }));
    return [{ tokens, flags: tokens.map((token) => token % 2), agent }];
  });
  const layout = modelLayout(config);
  const counters = new DeviceCounters();
  const session = { ...deviceOptions(id), counters };
  const held = new DeviceEpisodes(networkOf(config), session);
  const state = freshState(
    layout,
    layout.initialise(() => random.normal()),
  );
  const trainer = new Trainer({ layout, state, session });
  const times: number[] = [];
  for (let step = 0; step < 6; step++) {
    counters.take();
    const begin = performance.now();
    await held.hold(episodes.map((rows) => ({ rows })));
    const feeds = { ...held.batch(episodes, SHAPE).feeds, ...PackedBatch.divisors(SHAPE.episodes, SHAPE.episodes * SHAPE.agentTokens) };
    await trainer.step([{ key: 'bench', build: loss(config), feeds }], 1e-3);
    times.push((performance.now() - begin) / 1e3);
  }
  const { bytesUploaded: up, bytesDownloaded: down } = counters.take();
  await held.dispose();
  await trainer.dispose();
  return { seconds: median(times.slice(1)), bytes: up + down };
}

const id = process.argv.slice(2).find((argument) => !argument.startsWith('--')) ?? 'webgpu';
const lines = [
  [
    'parameters',
    'part',
    'calls',
    'kernels a call',
    'GFLOP a call',
    'MB touched a call',
    'kB exchanged a call',
    ...CARDS.map(({ name }) => `${name}, ms`),
  ],
];
const addLine = (parameters: number, { name, work, calls, travelling }: Part): void => {
  lines.push([
    `${(parameters / 1e6).toFixed(2)} M`,
    name,
    String(calls),
    String(work.kernels),
    (work.flops / 1e9).toFixed(2),
    (work.touched / 1e6).toFixed(0),
    (travelling / 1e3).toFixed(0),
    ...CARDS.map((card) => (1e3 * secondsOn(card, work, calls, travelling)).toFixed(0)),
  ]);
};
for (const config of MODELS) for (const part of parts(config)) addLine(modelLayout(config).count, part);
for (const [name, shape] of Object.entries({ minimind2: MINIMIND, ...SHAPES })) {
  const { parameters, own } = adapterParts(name, shape);
  for (const part of own) addLine(parameters, part);
}
process.stdout.write(`${lines.map((line) => `| ${line.join(' | ')} |`).join('\n')}\n`);

const device = await tryDevice(id);
if (!device.ok) process.stdout.write(`Nothing was measured: ${id}: ${device.reason}\n`);
else {
  for (const config of MODELS.slice(0, process.argv.includes('--all') ? 3 : 1)) {
    const { seconds, bytes } = await measured(config, id);
    const update = parts(config).find(({ name }) => name === 'update');
    const modelled = update
      ? CARDS.map((card) => `${card.name} ${(1e3 * secondsOn(card, update.work, 1, update.travelling)).toFixed(0)}`).join(', ')
      : '';
    process.stdout.write(
      `Measured on ${device.name}: a step of ${(modelLayout(config).count / 1e6).toFixed(2)} M parameters ${(1e3 * seconds).toFixed(0)} ms, ${(bytes / 1e3).toFixed(0)} kB exchanged; modelled (ms): ${modelled}\n`,
    );
  }
}
process.exit(0);
