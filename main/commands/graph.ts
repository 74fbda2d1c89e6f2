// `lab graph --out FILE`: the training graph of a preset (forward, loss, backward, clipping, AdamW) as an .onnx file with readable
// node names, to be looked at in any ONNX viewer.

import type { Command } from 'commander';
import { encode, liveNodes } from '../engine/graph/onnx.ts';
import { ADAMW } from '../engine/runtime/optimizer.ts';
import { stepGraph } from '../engine/graph/training-graphs.ts';
import { policyObjective } from '../policy/transformer/network.ts';
import { FLAGSHIP, loadPreset, presetIds } from '../config/presets.ts';
import { writeOutput } from '../base/output-file.ts';
import { openRun } from '../training/run-setup.ts';
import { catalog } from './shared/catalog.ts';
import { outFile } from './shared/out.ts';
import { CallError, answer } from './shared/output.ts';

interface GraphOptions {
  readonly out: string;
  readonly preset: string;
  readonly rows: string;
  readonly length: string;
}

export function register(program: Command): void {
  program
    .command('graph')
    .description('write the training graph as an .onnx file')
    .requiredOption('--out <file>', 'where to write it', outFile)
    .option('--preset <name>', `whose policy and algorithm (${presetIds(catalog()).join(', ')})`, FLAGSHIP)
    .option('--rows <n>', 'sequences in the batch', '8')
    .option('--length <n>', 'tokens per sequence', '64')
    .action((options: GraphOptions) => {
      if (!presetIds(catalog()).includes(options.preset))
        throw new CallError(`There is no preset "${options.preset}". Presets: ${presetIds(catalog()).join(', ')}`);
      const { model, layout, algorithm } = openRun(catalog(), loadPreset(catalog(), options.preset).config);
      const rows = whole('--rows', options.rows, 1, 4096);
      const time = whole('--length', options.length, 2, model.contextLength);
      const shape = { rows, time, agentTokens: Math.ceil(time / 4), masks: 16, episodes: rows };
      const reference = { referenceLogits: algorithm.needs.reference === 'full' };
      const build = policyObjective(model, shape, reference, (graph, policy, input) => algorithm.loss(graph, policy, input));
      const { graph } = stepGraph({ key: options.preset, build }, layout, ADAMW);
      writeOutput(options.out, encode(graph));
      const nodes = liveNodes(graph).length;
      answer(
        { file: options.out, nodes, parameters: layout.count },
        `${options.out}: ${nodes} nodes, ${layout.count.toLocaleString('en')} parameters`,
      );
    });
}

function whole(name: string, text: string, low: number, high: number): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < low || number > high)
    throw new CallError(`${name} takes a whole number from ${low} to ${high}, found "${text}"`);
  return number;
}
