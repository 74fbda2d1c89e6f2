// Pieces of a loss that several algorithms share because they are mathematically the same: the KL to the reference, the
// clipped surrogate and the weighted cross-entropy, and the settings that come with them. All are graph nodes; the golden test checks each algorithm that uses them.

import { z } from 'zod';
import {
  add,
  cast,
  clip,
  equal,
  exp,
  greater,
  less,
  matmul,
  maximum,
  minimum,
  mul,
  neg,
  reshape,
  square,
  stopGradient,
  sub,
} from '../engine/graph/operators.ts';
import type { Tensor } from '../engine/graph/graph.ts';
import { between, knob, whole } from '../base/knob.ts';
import type { Trajectory } from '../rollout/trajectory.ts';
import { lengthInputs, tokenNumbers, type Inputs, type Loss, type LossInput, type Needs, type Prepared } from './algorithm.ts';
import { toTokens, turnNumbers } from './credit.ts';
import type { PolicyTensors } from '../policy/transformer/batch.ts';

/** Log-ratios are cut here before they are exponentiated: e^20 is far past any useful ratio and far from overflow. */
const LOG_RATIO_LIMIT = 20;

/** Settings that several algorithms share, each with its default. */
export const entropySetting = (preset: number) => ({
  entropyBonus: knob(between(0, 1), preset, 'Weight of the mean token entropy, which is rewarded.'),
});
export const penaltySetting = (preset: number) => ({
  stepPenalty: knob(between(0, 10), preset, 'Taken off the reward for every step of the episode.', 'reward per step'),
});
export const lengthSetting = (
  preset: boolean,
  description = 'Divide the log-probability of a trajectory by its number of agent tokens.',
) => ({
  lengthNormalise: knob(z.boolean(), preset, description),
});
/** PPO's clip range and how often the episodes of an update are used. */
export const clippedSettings = {
  clipLow: knob(between(0, 1), 0.2, 'How far the probability ratio may fall below 1 before it is cut.'),
  clipHigh: knob(between(0, 10), 0.28, 'How far the probability ratio may rise above 1 before it is cut.'),
  epochs: knob(whole(1, 64), 1, 'Passes over the episodes of an update.', 'passes'),
  minibatches: knob(whole(1, 256), 4, 'Optimizer steps per pass, each on an equal part of the episodes.', 'steps'),
};

/** The two settings of every algorithm with a KL term. */
export const klSettings = (coefficient: number) => ({
  klCoefficient: knob(between(0, 100), coefficient, 'Weight of KL(π‖π_ref) in the loss; 0 leaves it out.'),
  klEstimator: knob(
    z.enum(['full', 'k3']),
    'k3',
    'KL per token: over the full vocabulary (needs the reference’s whole distribution), or the k3 estimator e^d − d − 1 with d = log π_ref − log π of the sampled token.',
  ),
});

/** What each shared term takes. */
export type KlInputs = { reference?: Float32Array[] };
export type ClippedInputs = { advantage: Float32Array[]; old: Float32Array[] };
/** The number of each token's turn, from 1, and 1 / tokens of that turn. */
export type TurnInputs = { turn: Float32Array[]; turnShare: Float32Array[] };

/** The inputs of `perTurn` and of means over turns. */
export function turnInputs(trajectories: readonly Trajectory[]): TurnInputs {
  const shares = trajectories.map(({ steps }) => Float32Array.from(steps, ({ tokens }) => 1 / Math.max(1, tokens.ids.length)));
  return { turn: turnNumbers(trajectories), turnShare: toTokens(trajectories, shares) };
}

/** At every token the sum of `x` over the tokens of its turn. [R, A]; a turn lies in one row. */
export function perTurn(policy: PolicyTensors, x: Tensor, turn: Tensor): Tensor {
  const [rows, tokens] = policy.weights.shape as [number, number];
  const same = cast(equal(reshape(turn, [rows, tokens, 1]), reshape(turn, [rows, 1, tokens])), 'float32');
  return reshape(matmul(same, reshape(mul(x, policy.weights), [rows, tokens, 1])), [rows, tokens]);
}

interface KlSettings {
  readonly klCoefficient: number;
  readonly klEstimator: 'full' | 'k3';
}

/** How much of the reference a KL term needs. */
export function klNeeds(settings: KlSettings): Needs['reference'] {
  if (settings.klCoefficient === 0) return 'none';
  return settings.klEstimator === 'full' ? 'full' : 'tokens';
}

/** Inputs of the KL term. */
export function klInputs(trajectories: readonly Trajectory[], settings: KlSettings): KlInputs {
  return klNeeds(settings) === 'tokens' ? { reference: tokenNumbers(trajectories, 'referenceLogProbs') } : {};
}

/** KL(π‖π_ref), mean over the update's tokens; undefined when the algorithm runs without it. */
function klTerm(policy: PolicyTensors, input: LossInput<never, 'reference'>, settings: KlSettings): Tensor | undefined {
  const needs = klNeeds(settings);
  if (needs === 'none') return undefined;
  if (needs === 'full') {
    if (!policy.kl)
      throw new Error(
        'The full KL needs the reference’s distribution, but the training step was built without it. Use klEstimator k3 or give referenceLogits.',
      );
    return policy.tokenMean(policy.kl);
  }
  const d = boundedLogRatio(policy, input('reference', 'token'), policy.logProbs);
  return policy.tokenMean(sub(sub(exp(d), d), 1));
}

/** a − b per token; 0 on padding, whatever stands there. */
function boundedLogRatio(policy: PolicyTensors, a: Tensor, b: Tensor): Tensor {
  return clip(mul(sub(a, b), policy.weights), -LOG_RATIO_LIMIT, LOG_RATIO_LIMIT);
}

/**
 * PPO's clipped surrogate per token, to be minimised: −min(ρ·A, clip(ρ, 1 − low, 1 + high)·A), with ρ = π/π_old.
 * Also the share of tokens whose ratio was cut, and the k1 estimate of KL(π_old‖π).
 */
export function clippedSurrogate(policy: PolicyTensors, input: LossInput<never, 'advantage' | 'old'>, low: number, high: number) {
  const logRatio = boundedLogRatio(policy, policy.logProbs, input('old', 'token'));
  return clippedLoss(policy, input('advantage', 'token'), logRatio, logRatio, low, high);
}

/** GSPO's surrogate, a turn being the sequence: one ratio for all of its tokens, the geometric mean of theirs. */
export function turnSurrogate(
  policy: PolicyTensors,
  input: LossInput<never, 'advantage' | 'old' | 'turn' | 'turnShare'>,
  low: number,
  high: number,
) {
  const tokens = boundedLogRatio(policy, policy.logProbs, input('old', 'token'));
  const turns = mul(perTurn(policy, tokens, input('turn', 'token')), input('turnShare', 'token'));
  return clippedLoss(policy, input('advantage', 'token'), turns, tokens, low, high);
}

/** CISPO's surrogate: −A · log π, weighted by the clipped ratio, through which no gradient flows; so no token is left out. */
export function weightedSurrogate(policy: PolicyTensors, input: LossInput<never, 'advantage' | 'old'>, low: number, high: number) {
  const logRatio = boundedLogRatio(policy, policy.logProbs, input('old', 'token'));
  const weight = stopGradient(clip(exp(logRatio), 1 - low, 1 + high));
  const loss = neg(policy.tokenMean(mul(mul(weight, input('advantage', 'token')), policy.logProbs)));
  return { loss, metrics: ratioMetrics(policy, exp(logRatio), logRatio, low, high) };
}

function clippedLoss(policy: PolicyTensors, advantage: Tensor, logRatio: Tensor, perToken: Tensor, low: number, high: number) {
  const ratio = exp(logRatio);
  const surrogate = minimum(mul(ratio, advantage), mul(clip(ratio, 1 - low, 1 + high), advantage));
  return { loss: neg(policy.tokenMean(surrogate)), metrics: ratioMetrics(policy, ratio, perToken, low, high) };
}

function ratioMetrics(policy: PolicyTensors, ratio: Tensor, logRatio: Tensor, low: number, high: number): Record<string, Tensor> {
  const outside = add(cast(less(ratio, 1 - low), 'float32'), cast(greater(ratio, 1 + high), 'float32'));
  return { 'ratio.mean': policy.tokenMean(ratio), 'ratio.clipped': policy.tokenMean(outside), 'kl.old': neg(policy.tokenMean(logRatio)) };
}

/** ½·max((V − R)², (V_clipped − R)²), mean over tokens; V_clipped stays within `range` of the old value. */
export function valueLoss(policy: PolicyTensors, input: LossInput<never, 'returns' | 'oldValues'>, range: number): Tensor {
  if (!policy.values)
    throw new Error('The value loss needs a critic, but the model was built without a value head. Build it with valueHead: true.');
  const returns = input('returns', 'token');
  const old = input('oldValues', 'token');
  const plain = square(sub(policy.values, returns));
  if (range === 0) return mul(policy.tokenMean(plain), 0.5);
  const near = add(old, clip(sub(policy.values, old), -range, range));
  return mul(policy.tokenMean(maximum(plain, square(sub(near, returns)))), 0.5);
}

/** −log π(y|x) of each episode, divided by its length when `normalise` says so. [E] */
function crossEntropy(policy: PolicyTensors, input: LossInput<'inverseLength', never>, normalise: boolean): Tensor {
  const sum = neg(policy.perEpisode(policy.logProbs));
  return normalise ? mul(sum, input('inverseLength', 'episode')) : sum;
}

/** Mean over episodes of the number `name` that `prepare` gave each times −log π(y|x). */
export function weightedCrossEntropy<Name extends 'advantage' | 'weight'>(
  policy: PolicyTensors,
  input: LossInput<Name | 'inverseLength', never>,
  name: Name,
  normalise: boolean,
): Tensor {
  return policy.episodeMean(mul(input(name, 'episode'), crossEntropy(policy, input, normalise)));
}

/** What a loss with one number per episode takes: that number, the lengths it divides by, the reference for the KL. */
export interface EpisodeInputs<Name extends string> extends Inputs {
  readonly episode: Record<Name, Float32Array> & { inverseLength?: Float32Array };
  readonly token: KlInputs;
}

export function episodeInputs<Name extends string>(
  trajectories: readonly Trajectory[],
  numbers: Record<Name, Float32Array>,
  settings: KlSettings & { readonly lengthNormalise: boolean },
): Pick<Prepared<EpisodeInputs<Name>>, 'episode' | 'token' | 'keep'> {
  return {
    episode: { ...numbers, ...lengthInputs(trajectories, settings.lengthNormalise) },
    token: klInputs(trajectories, settings),
    keep: trajectories.map(() => true),
  };
}

/** An algorithm's main term + λ · KL(π‖π_ref) − entropy bonus, with the metrics that all of them log. */
export function regularised(
  policy: PolicyTensors,
  input: LossInput<never, 'reference'>,
  main: Tensor,
  settings: KlSettings & { readonly entropyBonus: number },
): Loss {
  const kl = klTerm(policy, input, settings);
  const entropy = policy.tokenMean(policy.entropies);
  const loss = withTerm(withTerm(main, settings.klCoefficient, kl), -settings.entropyBonus, entropy);
  return { loss, metrics: { loss, 'loss.policy': main, entropy, ...(kl && { [`kl.${settings.klEstimator}`]: kl }) } };
}

/** loss + coefficient · term, leaving out what is switched off. */
export function withTerm(loss: Tensor, coefficient: number, term: Tensor | undefined): Tensor {
  return term === undefined || coefficient === 0 ? loss : add(loss, mul(term, coefficient));
}
