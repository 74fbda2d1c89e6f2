// Everything a run's config stands for, made ready: the world, the way the policy reads and writes, and the model's shape.
// Training, evaluation and replay all begin here, so that the same config always means the same policy.

import { type BoundAlgorithm, algorithmOf } from '../algorithm/registry.ts';
import type { Flat, ParameterLayout } from '../engine/graph/parameters.ts';
import type { Environment, Lexicon, Plain, World } from '../environment/environment.ts';
import { penalised } from '../environment/penalised.ts';
import { findWorld } from '../environment/registry.ts';
import { GrammarMasks } from '../policy/text/grammar-mask.ts';
import { nameGroup } from '../policy/text/prompt.ts';
import { Tokenizer, type TokenizerOptions, trainTokenizer } from '../policy/text/tokenizer.ts';
import { spellingsOf } from '../policy/text/spelling.ts';
import { type PolicyModel, networkOf } from '../policy/transformer/network.ts';
import type { ScratchCodec } from '../policy/text/scratch-text.ts';
import type { ModelConfig } from '../policy/transformer/transformer.ts';
import type { TextCodec } from '../rollout/episode.ts';
import { canonicalJson, contentHash } from '../base/canonical.ts';
import type { Catalog } from '../config/catalog.ts';
import type { RunConfig } from '../config/config.ts';
import { defaultDataFolder } from '../base/paths.ts';
import { modelPolicy } from './model-policy.ts';

/** Words that occur more rarely are spelled in pieces, in worlds with too many words to give each one token. */
const LARGE_WORLD_WORDS = 4000;

export interface RunSetup {
  readonly catalog: Catalog;
  readonly config: RunConfig;
  readonly world: World;
  readonly environment: Environment;
  readonly codec: TextCodec;
  /** The trained policy's model, and the reference's (which has no critic). */
  readonly model: PolicyModel;
  readonly referenceModel: PolicyModel;
  readonly layout: ParameterLayout;
  readonly referenceLayout: ParameterLayout;
  readonly algorithm: BoundAlgorithm;
  /** What the first weights are where they are not random: an adapter to start from, or all weights of a language model. */
  readonly start?: ((values: Flat) => void) | undefined;
}

export interface OpenOptions {
  readonly progress?: (share: number, what: string) => void;
  /** Where language models are registered; default: the folder the window uses. */
  readonly dataFolder?: string;
}

/** Equal for configs whose episodes are made of the same texts and tokens. */
export const readingKey = ({ world, policy }: RunConfig): string =>
  canonicalJson({
    world,
    phrases: policy.aids.phrases,
    ...(policy.kind === 'model' && { model: policy.model.name, thoughts: policy.thoughts }),
  });

export function openRun(catalog: Catalog, config: RunConfig, { progress, dataFolder = defaultDataFolder() }: OpenOptions = {}): RunSetup {
  const world = findWorld(catalog, config.world.name);
  const created = world.create(config.world.settings, progress);
  const environment = config.policy.kind === 'model' ? penalised(created, config.policy.model.invalidPenalty) : created;
  const algorithm = algorithmOf(catalog, config.algorithm);
  const policy =
    config.policy.kind === 'model'
      ? modelPolicy(config, world, environment, { dataFolder, critic: algorithm.needs.critic })
      : scratchPolicy(config, environment, algorithm.needs.critic);
  const { model, referenceModel } = policy;
  return {
    catalog,
    config,
    world,
    environment,
    algorithm,
    ...policy,
    layout: networkOf(model).layout,
    referenceLayout: networkOf(referenceModel).layout,
  };
}

function scratchPolicy(
  { policy }: RunConfig,
  environment: Environment,
  critic: boolean,
): Pick<RunSetup, 'codec' | 'model' | 'referenceModel'> {
  const { lexicon } = environment;
  const tokenizer = new Tokenizer(trainTokenizer(lexicon.corpus(), tokenizerOptions(lexicon, policy.aids.phrases)));
  const codec: ScratchCodec = {
    tokenizer,
    masks: new GrammarMasks(tokenizer),
    prompt: {
      contextLength: policy.contextLength,
      thoughts: policy.thoughts,
      maxThoughtTokens: policy.thoughtTokens,
      matchFlag: policy.aids.matchFlag,
      compareFlag: policy.aids.compareFlag,
    },
    names: [
      ...(policy.aids.relabelIds ? [(lexicon.interchangeable ?? []).map((name) => [name])] : []),
      ...(policy.aids.relabelWords ? (lexicon.concepts ?? []) : []),
      ...(policy.aids.relabelPrices && policy.aids.compareFlag ? [(lexicon.prices ?? []).map((price) => [price])] : []),
    ]
      .map((names) => nameGroup(tokenizer, names))
      .filter((names) => names.length > 1),
  };
  const { matchFlag, compareFlag, pointer, tokenShift, letters } = policy.aids;
  const spellings = spellingsOf(tokenizer.tokens, letters);
  const { width, layers, heads, feedForward, gate, contextLength } = policy;
  const referenceModel: ModelConfig = {
    ...(policy.architecture === 'lstm' && { architecture: 'lstm' }),
    vocabulary: tokenizer.size,
    width,
    layers,
    heads,
    feedForward,
    gate,
    contextLength,
    valueHead: false,
    ...(spellings && { spellings }),
    aids: { matchFlag: matchFlag || compareFlag, pointer, tokenShift },
  };
  const model: ModelConfig = { ...referenceModel, valueHead: critic };
  return { codec, model, referenceModel };
}

function tokenizerOptions({ digits = 'whole', open = false, phrases: names = [] }: Lexicon, phrases: boolean): TokenizerOptions {
  return { minimumCount: 1, maximumWords: LARGE_WORLD_WORDS, digits, spelled: open, ...(phrases && { phrases: names }) };
}

/** Names a world with its settings at a level: part of every cache key. */
export function worldHash(environment: Environment, level: number): string {
  const identity: Plain = { name: environment.name, settings: environment.settings, level };
  return contentHash(identity);
}
