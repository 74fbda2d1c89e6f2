// A language model as the policy of a run: the model of the data folder, what of it is trained, and the chat in which it acts. The reference
// is the same model with the weights of the reference (no adapter, or the cloned one): it costs no second model.

import type { RunConfig } from '../config/config.ts';
import type { Flat } from '../engine/graph/parameters.ts';
import type { Environment, World } from '../environment/environment.ts';
import { TARGETS, type LoraShape, readAdapter } from '../policy/model/adapter.ts';
import { ActionAutomaton } from '../policy/model/automaton.ts';
import { type ChatCodec, type ChatSettings, chatTemplate, swappable } from '../policy/model/chat-text.ts';
import { modelNetwork } from '../policy/model/model-network.ts';
import { ModelRegistry, type OpenModel } from '../policy/model/files/registry.ts';
import { ModelText } from '../policy/model/text.ts';
import { readAll } from '../policy/model/files/tensor-source.ts';
import type { PolicyNetwork } from '../policy/transformer/network.ts';

export interface ModelPolicy {
  readonly codec: ChatCodec;
  readonly model: PolicyNetwork;
  readonly referenceModel: PolicyNetwork;
  readonly start: (values: Flat) => void;
}

const TARGET_SETS: Readonly<Record<RunConfig['policy']['model']['targets'], LoraShape['targets']>> = {
  all: TARGETS,
  attention: ['q_proj', 'k_proj', 'v_proj', 'o_proj'],
  qv: ['q_proj', 'v_proj'],
};

/** What of a model the config trains. */
export function trainedPart({ model: { rank, alpha, targets, train } }: RunConfig['policy']): LoraShape | 'all' {
  return train === 'all' ? 'all' : { rank, alpha, targets: TARGET_SETS[targets] };
}

export function modelPolicy(
  { policy }: RunConfig,
  world: World,
  environment: Environment,
  { dataFolder, critic }: { dataFolder: string; critic: boolean },
): ModelPolicy {
  const source = new ModelRegistry(dataFolder).open(policy.model.name, policy.model.precision);
  const { train, adapter } = policy.model;
  const trained = trainedPart(policy);
  const network = (valueHead: boolean): PolicyNetwork =>
    modelNetwork({ ...source, trained, valueHead, contextLength: policy.contextLength });
  const referenceModel = network(false);
  return {
    codec: chatCodec(source, policy, world, environment, referenceModel.contextLength),
    model: network(critic),
    referenceModel,
    start: (values) => {
      const { layout } = referenceModel;
      if (train === 'all') for (const [name, tensor] of source.tensors) layout.view(values, name).set(readAll(tensor));
      else if (adapter !== '') for (const group of layout.groups) values[group].set(readAdapter(adapter, layout)[group]);
    },
  };
}

const opened = new Map<string, { text: ModelText; automaton: ActionAutomaton }>();

/** Tokenizers are slow to load and automata remember much: one of each per model. */
function textOf(source: OpenModel): { text: ModelText; automaton: ActionAutomaton } {
  let known = opened.get(source.hash);
  if (!known) {
    const text = new ModelText(source);
    const size = Math.min(text.size, source.config.vocabulary);
    const vocabulary = { size, bytes: (id: number) => (text.isSpecial(id) ? undefined : text.bytes(id)) };
    known = { text, automaton: new ActionAutomaton(vocabulary, source.config.endTokens) };
    opened.set(source.hash, known);
  }
  return known;
}

function chatCodec(
  source: OpenModel,
  policy: RunConfig['policy'],
  world: World,
  environment: Environment,
  contextLength: number,
): ChatCodec {
  const { text, automaton } = textOf(source);
  const { endTokens } = source.config;
  const system = policy.model.system || (world.instruction ?? `${world.summary} Reply with one action.`);
  const prompt: ChatSettings = {
    system,
    contextLength,
    thoughts: policy.thoughts,
    maxThoughtTokens: policy.thoughtTokens,
    maxAnswerTokens: policy.model.answerTokens,
    constrained: policy.model.answers === 'grammar',
    ...(policy.model.lowerCase && { lowerCase: true }),
    ...(!policy.model.emptyThought && { emptyThought: false }),
  };
  return {
    chat: text,
    tokenizer: {
      size: text.size,
      token: (id) => text.token(id),
      json: { model: source.hash },
      endOfThought: endOfThought(text, policy.thoughts),
    },
    automaton,
    endTokens,
    template: chatTemplate(text, prompt, endTokens),
    prompt,
    names: [
      ...(policy.aids.relabelIds ? idGroups(environment.lexicon.interchangeable ?? [], policy.aids.similarIds) : []),
      ...(policy.aids.relabelWords ? (environment.lexicon.concepts ?? []) : []),
    ]
      .map(swappable)
      .filter((names) => names.length > 1),
    ...(policy.aids.relabelPrices && {
      namesIn: (task) => (environment.lexicon.comparable?.(task) ?? []).map((names) => names.map((name) => [name])),
    }),
  };
}

/** The ids that trade places: all of them, or those that differ in their last two characters alone. */
export function idGroups(ids: readonly string[], similar: boolean): string[][][] {
  const groups = similar ? [...Map.groupBy(ids, (id) => id.slice(0, -2)).values()] : [ids];
  return groups.map((group) => group.map((id) => [id]));
}

const endOfThought = (text: ModelText, thoughts: boolean) => (ids: readonly number[]) =>
  thoughts ? ids.findIndex((_, i) => text.decode(ids.slice(0, i + 1)).includes('</think>')) : -1;
