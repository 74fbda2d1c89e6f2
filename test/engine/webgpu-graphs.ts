// Makes every graph that a run needs on a device, where whatever the device lacks is an error instead of a silent way through the CPU.
// Run by device.test.ts and device.slow.test.ts over software Vulkan, with the algorithms to make graphs for; prints the names of those that
// were made.

import { ADAMW } from '../../main/engine/runtime/optimizer.ts';
import { Graph } from '../../main/engine/graph/graph.ts';
import { Session } from '../../main/engine/runtime/session.ts';
import { applyGraph, readGraph, stepGraph, sumGraph } from '../../main/engine/graph/training-graphs.ts';
import { deviceSamplingGraph } from '../../main/policy/gpu/device-graph.ts';
import { networkOf, policyObjective } from '../../main/policy/transformer/network.ts';
import { parameterInputs } from '../../main/policy/sampling/sampling-graph.ts';
import type { ModelConfig } from '../../main/policy/transformer/transformer.ts';
import { modelLayout } from '../../main/policy/transformer/transformer.ts';
import { answer, webgpu } from './vulkan.ts';
import { algorithmOf } from '../catalog.ts';

const shape = { rows: 2, time: 8, agentTokens: 4, masks: 1, episodes: 2, resident: true } as const;

const model = (valueHead: boolean): ModelConfig => ({
  vocabulary: 24,
  width: 16,
  layers: 1,
  heads: 2,
  feedForward: 24,
  gate: 'swiglu',
  contextLength: 16,
  valueHead,
  aids: { matchFlag: true, pointer: true, tokenShift: 3 },
});

function* graphs(): Generator<Graph> {
  for (const id of process.argv.slice(3)) {
    const { needs, loss } = algorithmOf({ id });
    const config = model(needs.critic);
    yield stepGraph({ key: id, build: policyObjective(config, shape, { recompute: needs.critic }, loss) }, modelLayout(config), ADAMW)
      .graph;
  }
  const config = model(false);
  const layout = modelLayout(config);
  const full = policyObjective(config, shape, { referenceLogits: true }, (_graph, { kl, tokenMean }) => {
    if (!kl) throw new Error('The policy has no KL');
    return { loss: tokenMean(kl) };
  });
  yield sumGraph({ key: 'full KL', build: full }, layout).graph;
  yield applyGraph(layout, ADAMW, 3).graph;
  yield readGraph(layout, 'values').graph;
  for (const count of [1, 16]) yield deviceSamplingGraph(config, count, (graph) => parameterInputs(graph, layout));
  const critic = model(true);
  const scores = new Graph('scores');
  const { logProbs, entropies, values } = networkOf(critic).tensors(scores, parameterInputs(scores, modelLayout(critic)), shape);
  for (const [name, tensor] of Object.entries({ logProbs, entropies, values })) if (tensor) scores.output(name, tensor);
  yield scores;
}

await answer('webgpu-graphs.ts', async () => {
  const made: string[] = [];
  for (const graph of graphs()) {
    const session = await Session.create(graph, webgpu);
    await session.dispose();
    made.push(graph.name);
  }
  const lacking = new Graph('an operator that WebGPU lacks');
  lacking.output('y', lacking.node('Det', [lacking.input('x', 'float32', [2, 2])], [{ shape: [], dtype: 'float32' }])[0]!);
  const refused = await Session.create(lacking, webgpu).then(
    () => '',
    (error: Error) => error.message,
  );
  return { made, refused };
});
