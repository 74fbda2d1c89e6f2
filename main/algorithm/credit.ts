// Which turn earned the reward: an advantage for every turn of an episode instead of one for the whole. All methods but `branch`
// compare the episodes of one task in one update; what they compare is the only difference between them:
// - anchor (GiGPO, arXiv 2505.10978): turns that begin in the same state, by their discounted return from there on;
// - history (HGPO, arXiv 2602.22817): the same for equal last 1 … K + 1 states, longer agreement weighing more;
// - graph (GraphGPO, arXiv 2605.26684): turns that begin in the same state, by how near to success they lead in the graph of all episodes;
// - branch (VinePPO, arXiv 2410.01679): the state's value from K continuations played from it, so A = r + γ·V(next) − V.
// A state is what the world showed before the turn. `groupCredit` has the published forms, which normalise inside groups;
// `turnTargets` has plain temporal differences, whose sum over an episode with γ = 1 is its return less the value of its beginning.

import { z } from 'zod';
import { mean, deviation } from '../base/statistics.ts';
import { between, knob, whole } from '../base/knob.ts';
import type { Trajectory } from '../rollout/trajectory.ts';
import { groupBy } from './advantage.ts';
import type { RewardKind } from './vstar.ts';

export const creditMethods = ['episode', 'anchor', 'history', 'graph', 'branch'] as const;
export type CreditMethod = (typeof creditMethods)[number];

/** The settings of every algorithm that can give credit by the turn. */
export const creditSettings = {
  credit: knob(
    z.enum(creditMethods),
    'episode',
    'Who gets the advantage: `episode` every turn the same; by the turn with `anchor` (GiGPO), `history` (HGPO), `graph` (GraphGPO) or `branch` (VinePPO: exact values from continuations).',
  ),
  creditDiscount: knob(between(0, 1), 0.95, 'γ: what a reward one turn later is worth; with `graph` what one step of distance costs.'),
  creditWeight: knob(between(0, 100), 1, 'Weight of the turn’s advantage beside the episode’s (`anchor`, `graph`).'),
  creditHistory: knob(whole(0, 32), 2, 'K of `history`: states before the present one that are compared too.', 'states'),
  creditBranches: knob(whole(1, 256), 4, 'K of `branch`: continuations played from the state before each turn.', 'episodes'),
};

export interface CreditSettings {
  readonly credit: CreditMethod;
  readonly creditDiscount: number;
  readonly creditWeight: number;
  readonly creditHistory: number;
  readonly creditBranches: number;
}

/** Rewards from the state before a turn on, one list per continuation: [trajectory][turn][continuation] → rewards of its turns. */
export type Branches = readonly (readonly (readonly (readonly number[])[])[])[];

const EPSILON = 1e-6;

const sumOf = (rewards: readonly number[]): number => rewards.reduce((sum, reward) => sum + reward, 0);

/** The reward of each turn; with binary reward the last turn of a success gets 1. `penalty` is taken off every turn. */
export function turnRewards({ steps, success }: Pick<Trajectory, 'steps' | 'success'>, kind: RewardKind, penalty = 0): number[] {
  return steps.map(({ reward }, turn) => (kind === 'shaped' ? reward : success && turn === steps.length - 1 ? 1 : 0) - penalty);
}

/** What is collected from each turn on. */
export function returnsToGo(rewards: readonly number[], discount: number): number[] {
  let collected = 0;
  return rewards.map((_, i) => (collected = rewards[rewards.length - 1 - i]! + discount * collected)).reverse();
}

const discounted = (rewards: readonly number[], discount: number, penalty: number): number =>
  returnsToGo(
    rewards.map((reward) => reward - penalty),
    discount,
  )[0] ?? 0;

interface TurnOf {
  readonly episode: number;
  readonly turn: number;
  readonly task: string;
  readonly value: number;
}

const perTurn = (trajectories: readonly Trajectory[]): Float32Array[] => trajectories.map(({ steps }) => new Float32Array(steps.length));

/** Every turn of every episode with a number. */
function allTurns(trajectories: readonly Trajectory[], values: readonly (readonly number[])[]): TurnOf[] {
  return trajectories.flatMap(({ task, steps }, episode) =>
    steps.map((_, turn) => ({ episode, turn, task, value: values[episode]![turn]! })),
  );
}

const key = (...parts: readonly string[]): string => JSON.stringify(parts);
const stateOf = (trajectories: readonly Trajectory[], { episode, turn }: TurnOf): string => trajectories[episode]!.steps[turn]!.observation;

/** The last `count` states up to a turn's own, as a key; undefined where the episode has not had so many. */
function historyOf(trajectories: readonly Trajectory[], { episode, turn, task }: TurnOf, count: number): string | undefined {
  if (turn + 1 < count) return undefined;
  return key(task, ...trajectories[episode]!.steps.slice(turn + 1 - count, turn + 1).map(({ observation }) => observation));
}

/** (value − mean) / std inside each group of turns; groups of one get 0. */
function standardised(turns: readonly TurnOf[], keys: readonly string[], divide: boolean, into: Float32Array[]): Float32Array[] {
  for (const members of groupBy(keys)) {
    if (members.length < 2) continue;
    const values = members.map((i) => turns[i]!.value);
    const centre = mean(values);
    const scale = divide ? deviation(values) + EPSILON : 1;
    for (const i of members) into[turns[i]!.episode]![turns[i]!.turn] = (turns[i]!.value - centre) / scale;
  }
  return into;
}

/** The episode's part, as the authors of GiGPO and GraphGPO take it: every turn brings its episode's return to the mean and spread of its task. */
function episodePart(trajectories: readonly Trajectory[], rewards: readonly (readonly number[])[], divide: boolean): Float32Array[] {
  const returns = rewards.map((list) => list.map(() => sumOf(list)));
  const turns = allTurns(trajectories, returns);
  return standardised(
    turns,
    turns.map(({ task }) => task),
    divide,
    perTurn(trajectories),
  );
}

function anchorPart(
  trajectories: readonly Trajectory[],
  rewards: readonly (readonly number[])[],
  discount: number,
  divide: boolean,
): Float32Array[] {
  const turns = allTurns(
    trajectories,
    rewards.map((list) => returnsToGo(list, discount)),
  );
  return standardised(
    turns,
    turns.map((turn) => key(turn.task, stateOf(trajectories, turn))),
    divide,
    perTurn(trajectories),
  );
}

/** Means of the advantages in groups of equal last 1 … K + 1 states, weighted by how many states agree; groups of one and zeros say nothing. */
function historyPart(
  trajectories: readonly Trajectory[],
  rewards: readonly (readonly number[])[],
  { creditDiscount, creditHistory }: CreditSettings,
  divide: boolean,
): Float32Array[] {
  const turns = allTurns(
    trajectories,
    rewards.map((list) => returnsToGo(list, creditDiscount)),
  );
  const sums = perTurn(trajectories);
  const weights = perTurn(trajectories);
  for (let count = 1; count <= creditHistory + 1; count++) {
    const long = turns.filter(({ turn }) => turn + 1 >= count);
    for (const members of groupBy(long.map((turn) => historyOf(trajectories, turn, count)!))) {
      if (members.length < 2) continue;
      const values = members.map((i) => long[i]!.value);
      const centre = mean(values);
      const spread = Math.sqrt(mean(values.map((value) => (value - centre) ** 2))); // of the population, as the authors' code has it
      for (const i of members) {
        const { episode, turn, value } = long[i]!;
        const advantage = divide ? (value - centre) / (spread + EPSILON) : value - centre;
        if (advantage === 0) continue;
        sums[episode]![turn] = sums[episode]![turn]! + (count + 1) * advantage;
        weights[episode]![turn] = weights[episode]![turn]! + (count + 1);
      }
    }
  }
  return sums.map((list, episode) => list.map((sum, turn) => sum / (weights[episode]![turn]! + EPSILON)));
}

/**
 * γ to the distance from where each turn leads to success, in steps through the graph of all episodes of its task; states from which no episode
 * found success are one step further than the furthest. 0 for tasks that nobody solved.
 */
export function nearness(trajectories: readonly Trajectory[], discount: number): number[][] {
  const SUCCESS = '';
  const next = (trajectory: Trajectory, turn: number): string => {
    if (turn + 1 < trajectory.steps.length) return key(trajectory.steps[turn + 1]!.observation);
    return trajectory.success ? SUCCESS : key(trajectory.finalObservation, 'end');
  };
  const values = trajectories.map(({ steps }) => steps.map(() => 0));
  for (const members of groupBy(trajectories.map(({ task }) => task))) {
    const before = new Map<string, Set<string>>();
    for (const i of members) {
      trajectories[i]!.steps.forEach(({ observation }, turn) => {
        const target = next(trajectories[i]!, turn);
        before.set(target, (before.get(target) ?? new Set()).add(key(observation)));
      });
    }
    if (!before.has(SUCCESS)) continue;
    const distance = new Map([[SUCCESS, 0]]);
    const queue = [SUCCESS];
    for (const state of queue) {
      for (const earlier of before.get(state) ?? []) {
        if (distance.has(earlier)) continue;
        distance.set(earlier, distance.get(state)! + 1);
        queue.push(earlier);
      }
    }
    const furthest = Math.max(...distance.values()) + 1;
    for (const i of members) {
      const trajectory = trajectories[i]!;
      values[i] = trajectory.steps.map((_, turn) => discount ** (distance.get(next(trajectory, turn)) ?? furthest));
    }
  }
  return values;
}

function graphPart(trajectories: readonly Trajectory[], discount: number, divide: boolean): Float32Array[] {
  const turns = allTurns(trajectories, nearness(trajectories, discount));
  return standardised(
    turns,
    turns.map((turn) => key(turn.task, stateOf(trajectories, turn))),
    divide,
    perTurn(trajectories),
  );
}

function weightedSum(a: readonly Float32Array[], b: readonly Float32Array[], weight: number): Float32Array[] {
  return a.map((list, episode) => list.map((value, turn) => value + weight * b[episode]![turn]!));
}

export interface CreditContext {
  readonly reward: RewardKind;
  /** Taken off the reward of every turn. */
  readonly penalty?: number;
  /** Given where `credit` is branch. */
  readonly branches?: Branches | undefined;
}

/** The advantage of every turn in its published form, for policy gradients: [trajectory][turn]. */
export function groupCredit(
  trajectories: readonly Trajectory[],
  settings: CreditSettings & { readonly divideBySpread: boolean },
  context: CreditContext,
): Float32Array[] {
  const { creditDiscount, creditWeight, divideBySpread } = settings;
  const rewards = trajectories.map((trajectory) => turnRewards(trajectory, context.reward, context.penalty));
  switch (settings.credit) {
    case 'episode': {
      const once = trajectories.map(({ task }, episode) => ({ episode, turn: 0, task, value: sumOf(rewards[episode]!) }));
      const numbers = standardised(
        once,
        once.map(({ task }) => task),
        divideBySpread,
        trajectories.map(() => new Float32Array(1)),
      );
      return trajectories.map(({ steps }, episode) => new Float32Array(steps.length).fill(numbers[episode]![0]!));
    }
    case 'anchor': {
      const turns = anchorPart(trajectories, rewards, creditDiscount, divideBySpread);
      return weightedSum(episodePart(trajectories, rewards, divideBySpread), turns, creditWeight);
    }
    case 'history':
      return historyPart(trajectories, rewards, settings, divideBySpread);
    case 'graph': {
      const turns = graphPart(trajectories, creditDiscount, divideBySpread);
      return weightedSum(episodePart(trajectories, rewards, divideBySpread), turns, creditWeight);
    }
    case 'branch':
      return spreadOverUpdate(turnTargets(withoutVstar(trajectories), settings, context, mean), divideBySpread);
  }
}

const withoutVstar = (trajectories: readonly Trajectory[]): Trajectory[] => trajectories.map((one) => ({ ...one, vstar: null }));

/** Divides by the spread of all turns of the update: their values differ by task, but not their meaning. */
function spreadOverUpdate(parts: readonly Float32Array[], divide: boolean): Float32Array[] {
  const scale = divide ? deviation(parts.flatMap((part) => [...part])) + EPSILON : 1;
  return parts.map((part) => part.map((value) => value / scale));
}

/**
 * r + γ·V(next state) − V(state) for every turn, the end being worth nothing and the beginning the task's V* where it has one. V comes from the returns of all visits to the state (`anchor`), to
 * the state by the same way (`history`), from the distance to success (`graph`), or from the continuations (`branch`); `value` makes one number of returns.
 */
export function turnTargets(
  trajectories: readonly Trajectory[],
  settings: CreditSettings,
  { reward, penalty, branches }: CreditContext,
  value: (returns: readonly number[]) => number,
): Float32Array[] {
  const discount = settings.creditDiscount;
  // The distance to success knows nothing of other rewards.
  const kind = settings.credit === 'graph' ? 'binary' : reward;
  const rewards = trajectories.map((trajectory) => turnRewards(trajectory, kind, penalty));
  const values = stateValues(trajectories, rewards, settings, branches, penalty ?? 0, value);
  trajectories.forEach(({ vstar }, episode) => vstar !== null && values[episode]!.length > 0 && (values[episode]![0] = vstar));
  return rewards.map((list, episode) =>
    Float32Array.from(list, (now, turn) => now + discount * (values[episode]![turn + 1] ?? 0) - values[episode]![turn]!),
  );
}

function stateValues(
  trajectories: readonly Trajectory[],
  rewards: readonly (readonly number[])[],
  { credit, creditDiscount, creditHistory }: CreditSettings,
  branches: Branches | undefined,
  penalty: number,
  value: (returns: readonly number[]) => number,
): number[][] {
  if (credit === 'branch') {
    if (!branches) throw new Error('Credit by branches needs continuations from every turn, but none were played');
    return branches.map((turns) =>
      turns.map((continuations) =>
        continuations.length === 0 ? 0 : value(continuations.map((list) => discounted(list, creditDiscount, penalty))),
      ),
    );
  }
  if (credit === 'graph') return bestKnown(trajectories, nearness(trajectories, creditDiscount));
  const turns = allTurns(
    trajectories,
    rewards.map((list) => returnsToGo(list, creditDiscount)),
  );
  const keys = turns.map((turn) => {
    if (credit === 'history') return historyOf(trajectories, turn, Math.min(creditHistory, turn.turn) + 1)!;
    return key(turn.task, stateOf(trajectories, turn));
  });
  const values = trajectories.map(({ steps }) => steps.map(() => 0));
  for (const members of groupBy(keys)) {
    const one = value(members.map((i) => turns[i]!.value));
    for (const i of members) values[turns[i]!.episode]![turns[i]!.turn] = one;
  }
  return values;
}

/** For every turn, the nearest to success that any visit to its state led. */
function bestKnown(trajectories: readonly Trajectory[], after: readonly (readonly number[])[]): number[][] {
  const best = new Map<string, number>();
  const turns = allTurns(trajectories, after);
  for (const turn of turns) {
    const state = key(turn.task, stateOf(trajectories, turn));
    best.set(state, Math.max(best.get(state) ?? 0, turn.value));
  }
  const values = trajectories.map(({ steps }) => steps.map(() => 0));
  for (const turn of turns) values[turn.episode]![turn.turn] = best.get(key(turn.task, stateOf(trajectories, turn))) ?? 0;
  return values;
}

/** A number of each turn, given to all of its tokens. */
export const toTokens = (trajectories: readonly Trajectory[], turns: readonly Float32Array[]): Float32Array[] =>
  trajectories.map(({ steps }, episode) => {
    const tokens = new Float32Array(steps.reduce((sum, step) => sum + step.tokens.ids.length, 0));
    let offset = 0;
    steps.forEach((step, turn) => {
      tokens.fill(turns[episode]![turn]!, offset, offset + step.tokens.ids.length);
      offset += step.tokens.ids.length;
    });
    return tokens;
  });

/** Which turn of its episode each token belongs to, from 1 (0 is padding). */
export const turnNumbers = (trajectories: readonly Trajectory[]): Float32Array[] =>
  toTokens(
    trajectories,
    trajectories.map(({ steps }) => Float32Array.from(steps, (_, turn) => turn + 1)),
  );
