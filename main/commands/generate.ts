// `lab generate` and `lab score`: a language model outside of any world. Both answer in tokens, so that any tokenizer can be compared.

import { readFileSync } from 'node:fs';
import { Option } from 'commander';
import type { Command } from 'commander';
import { z } from 'zod';
import type { Flat } from '../engine/graph/parameters.ts';
import { openAdapter } from '../policy/model/adapter.ts';
import { generateTokens, scoreTokens } from '../policy/model/continuation.ts';
import { modelNetwork } from '../policy/model/model-network.ts';
import { PRECISIONS, type Precision } from '../policy/model/files/quantise.ts';
import { ModelRegistry } from '../policy/model/files/registry.ts';
import { ModelText } from '../policy/model/text.ts';
import type { PolicyNetwork } from '../policy/transformer/network.ts';
import { asCall } from './models.ts';
import { CallError, answer, dataFolder } from './shared/output.ts';
import { wholeNumber } from './shared/work.ts';

interface Options {
  readonly model: string;
  readonly adapter?: string;
  readonly precision: Precision;
  readonly tokens?: string;
  readonly prompt?: string;
  readonly raw?: boolean;
  readonly greedy?: boolean;
  readonly maxTokens: number;
  readonly temperature: string;
  readonly seed: number;
}

export function register(program: Command): void {
  program
    .command('generate')
    .description('continue a prompt with a language model')
    .requiredOption('--model <name>', 'a model of `lab models`')
    .option('--adapter <dir>', 'a PEFT adapter on top of it')
    .addOption(precisionOption())
    .option('--prompt <text>', 'what to say to it; its chat template is applied')
    .option('--raw', 'continue the prompt as it is, without the chat template')
    .option('--tokens <file>', 'instead of a prompt: a JSON file with lists of token ids')
    .option('--greedy', 'always the likeliest token')
    .option('--temperature <t>', 'sampling temperature', '1')
    .option('--max-tokens <n>', 'at most so many new tokens', wholeNumber('--max-tokens', 1), 128)
    .option('--seed <n>', 'decides what is drawn', wholeNumber('--seed'), 1)
    .action((options: Options) => refusing(() => generate(options)));
  program
    .command('score')
    .description('log-probabilities of given tokens under a language model')
    .requiredOption('--model <name>', 'a model of `lab models`')
    .requiredOption('--tokens <file>', 'a JSON file with lists of token ids')
    .option('--adapter <dir>', 'a PEFT adapter on top of it')
    .addOption(precisionOption())
    .action((options: Options) => refusing(() => score(options)));
}

const precisionOption = (): Option =>
  new Option('--precision <precision>', 'how its weights are kept').choices([...PRECISIONS]).default('f32');

async function generate(options: Options): Promise<void> {
  const { source, network, weights } = open(options);
  const text = source.tokenizer ? new ModelText(source) : undefined;
  const temperature = Number(options.temperature);
  if (!(temperature > 0))
    throw new CallError(`--temperature takes a number above 0, found "${options.temperature}"; --greedy takes the likeliest token`);
  const prompts = promptsOf(options, text, source.config.vocabulary);
  const endTokens = options.tokens === undefined ? source.config.endTokens : [];
  const settings = { greedy: options.greedy === true, temperature, maxTokens: options.maxTokens, endTokens, seed: options.seed };
  const tokens = await generateTokens(network, weights, prompts, settings);
  const texts = tokens.map((list) => text?.decode(list) ?? '');
  answer({ tokens, text: texts }, text ? texts.join('\n') : JSON.stringify(tokens));
}

function promptsOf({ prompt, tokens, raw }: Options, text: ModelText | undefined, vocabulary: number): number[][] {
  if ((prompt === undefined) === (tokens === undefined)) throw new CallError('Give either --prompt TEXT or --tokens FILE');
  if (tokens !== undefined) return readTokens(tokens, vocabulary);
  if (!text) throw new CallError('This model has no tokenizer; give --tokens FILE instead of --prompt');
  if (raw) return [text.encode(prompt ?? '')];
  return [text.encodeTemplate(text.render([{ role: 'user', content: prompt ?? '' }], true))];
}

async function score(options: Options): Promise<void> {
  const { source, network, weights } = open(options);
  const lists = readTokens(options.tokens ?? '', source.config.vocabulary);
  const logProbs = (await scoreTokens(network, weights, lists)).map((numbers) => [...numbers]);
  answer({ logProbs }, logProbs.map((numbers) => numbers.map((number) => number.toFixed(4)).join(' ')).join('\n'));
}

function open({ model, adapter, precision }: Options): {
  source: ReturnType<ModelRegistry['open']>;
  network: PolicyNetwork;
  weights: Flat;
} {
  const source = new ModelRegistry(dataFolder()).open(model, precision);
  const { config } = source;
  const opened = adapter === undefined ? undefined : openAdapter(adapter, config);
  const network = modelNetwork({ ...source, trained: opened?.lora ?? 'none', contextLength: config.contextLength });
  return { source, network, weights: opened?.values ?? network.layout.zeros() };
}

function readTokens(file: string, vocabulary: number): number[][] {
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new CallError(`${file} cannot be read as JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  const parsed = z
    .array(
      z
        .array(
          z
            .int()
            .min(0)
            .max(vocabulary - 1),
        )
        .min(1),
    )
    .min(1)
    .safeParse(json);
  if (!parsed.success)
    throw new CallError(`${file}: expected lists of token ids from 0 to ${vocabulary - 1}. ${z.prettifyError(parsed.error)}`);
  return parsed.data;
}

async function refusing(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    throw error instanceof RangeError ? new CallError(error.message) : asCall(error);
  }
}
