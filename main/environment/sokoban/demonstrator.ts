// Who can push boxes without learning. `blind` walks at random; `heuristic` pushes the box towards the target along the axis where
// that is possible at once and does not see deadlocks; the demonstrator follows the solver, with mistakes at adjustable rates.

import type { Mistake, Said, Turn } from '../environment.ts';
import { DIRECTIONS } from '../grid.ts';
import { greedyMove, solve } from './level.ts';
import type { Sokoban, SokobanState } from './sokoban.ts';

export const SOKOBAN_MISTAKES = {
  anyWay: { chance: 0.15, meaning: 'Chance of a step in any direction.' },
  hasty: { chance: 0.25, meaning: 'Chance of a step that pushes towards the target without looking for deadlocks.' },
} as const satisfies Readonly<Record<string, Mistake>>;
type SokobanMistakes = Readonly<Record<keyof typeof SOKOBAN_MISTAKES, number>>;

const anyWay = (random: () => number): string => `go ${DIRECTIONS[Math.floor(random() * DIRECTIONS.length)] ?? 'up'}`;

export const blind = (_sokoban: Sokoban, _turn: Turn<SokobanState>, random: () => number): string => anyWay(random);

export function heuristic(sokoban: Sokoban, { state }: Turn<SokobanState>, random: () => number): string {
  const direction = greedyMove(sokoban.levelAt(state), state);
  return direction ? `go ${direction}` : anyWay(random);
}

export function demonstrate(sokoban: Sokoban, turn: Turn<SokobanState>, mistakes: SokobanMistakes, random: () => number): Said {
  if (random() < mistakes.anyWay) return { thought: 'any way', action: anyWay(random), mistake: true };
  if (random() < mistakes.hasty) return { thought: 'push it', action: heuristic(sokoban, turn, random), mistake: true };
  const [next] = solve(sokoban.levelAt(turn.state), turn.state) ?? [];
  if (!next) return { thought: 'any way', action: anyWay(random), mistake: true };
  return { thought: 'to the target', action: `go ${next}` };
}
