// Who can walk on a lake without learning. `blind` looks only at where the goal lies; `heuristic` takes the shortest way over ice
// as if it were not slippery; the demonstrator follows value iteration, with mistakes at adjustable rates.

import type { Mistake, Said, Turn } from '../environment.ts';
import { DIRECTIONS, neighbour } from '../grid.ts';
import type { FrozenLake, LakeState } from './frozenlake.ts';
import { distances } from './lake.ts';

export const LAKE_MISTAKES = {
  anyWay: { chance: 0.25, meaning: 'Chance of a step in any direction.' },
  unaware: { chance: 0.35, meaning: 'Chance of a step that takes the shortest way and forgets that ice is slippery.' },
} as const satisfies Readonly<Record<string, Mistake>>;
type LakeMistakes = Readonly<Record<keyof typeof LAKE_MISTAKES, number>>;

const pick = <T>(items: readonly T[], random: () => number): T | undefined => items[Math.floor(random() * items.length)];

/** Straight towards the goal, holes or not. */
export function blind(lake: FrozenLake, { state }: Turn<LakeState>, random: () => number): string {
  const { size, goal } = lake.lakeAt(state);
  const ways = [
    ...(goal % size < state.at % size ? ['left'] : goal % size > state.at % size ? ['right'] : []),
    ...(Math.floor(goal / size) < Math.floor(state.at / size)
      ? ['up']
      : Math.floor(goal / size) > Math.floor(state.at / size)
        ? ['down']
        : []),
  ];
  return `go ${pick(ways, random) ?? 'up'}`;
}

export function heuristic(lake: FrozenLake, { state }: Turn<LakeState>): string {
  const map = lake.lakeAt(state);
  const away = distances(map);
  const length = (way: (typeof DIRECTIONS)[number]): number => away[neighbour(state.at, way, map.size) ?? state.at] ?? Infinity;
  return `go ${DIRECTIONS.reduce((best, way) => (length(way) < length(best) ? way : best))}`;
}

export function demonstrate(lake: FrozenLake, turn: Turn<LakeState>, mistakes: LakeMistakes, random: () => number): Said {
  if (random() < mistakes.anyWay) return { thought: 'any way', action: `go ${pick(DIRECTIONS, random) ?? 'up'}`, mistake: true };
  if (random() < mistakes.unaware) return { thought: 'towards the goal', action: heuristic(lake, turn), mistake: true };
  return { thought: 'away from holes', action: lake.oracle(turn.state) ?? 'go up' };
}
