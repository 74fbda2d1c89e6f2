// Who can play a bandit without learning: `blind` pulls at random, `heuristic` is Thompson sampling (the usual yardstick), and the
// demonstrator pulls the arm that won most often once each was tried, with mistakes at adjustable rates. None knows the chances.

import type { Mistake, Said, Turn } from '../environment.ts';
import { armName, type Bandit, type BanditState } from './bandit.ts';

export const BANDIT_MISTAKES = {
  anyArm: { chance: 0.3, meaning: 'Chance of pulling any arm.' },
} as const satisfies Readonly<Record<string, Mistake>>;
type BanditMistakes = Readonly<Record<keyof typeof BANDIT_MISTAKES, number>>;

const anyArm = (count: number, random: () => number): string => `pull ${armName(Math.floor(random() * count))}`;

export const blind = (_bandit: Bandit, { state }: Turn<BanditState>, random: () => number): string => anyArm(state.wins.length, random);

/** The largest of so many uniform draws, ordered: the a-th smallest of a + b − 1 is Beta(a, b). */
function beta(a: number, b: number, random: () => number): number {
  const draws = Array.from({ length: a + b - 1 }, random).toSorted((x, y) => x - y);
  return draws[a - 1] ?? 0;
}

function bestBy(values: readonly number[]): string {
  return `pull ${armName(values.indexOf(Math.max(...values)))}`;
}

/** Thompson sampling: draws a chance for each arm from its posterior (Beta prior of 1, 1) and pulls the largest. */
export const heuristic = (_bandit: Bandit, { state }: Turn<BanditState>, random: () => number): string =>
  bestBy(state.wins.map((won, arm) => beta(won + 1, (state.losses[arm] ?? 0) + 1, random)));

export function demonstrate(
  _bandit: Bandit,
  { state }: Turn<BanditState>,
  { anyArm: careless }: BanditMistakes,
  random: () => number,
): Said {
  if (random() < careless) return { thought: 'any', action: anyArm(state.wins.length, random), mistake: true };
  const untried = state.wins.findIndex((won, arm) => won + (state.losses[arm] ?? 0) === 0);
  if (untried >= 0) return { thought: 'untried', action: `pull ${armName(untried)}` };
  return { thought: 'best so far', action: bestBy(state.wins.map((won, arm) => (won + 1) / (won + (state.losses[arm] ?? 0) + 2))) };
}
