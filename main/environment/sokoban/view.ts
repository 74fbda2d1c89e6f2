// A room in short, for a small policy: all of it on the first page, afterwards only player and box. A thing and its cell are one word,
// so that a page is a set of facts and nothing has to be read off its place in a list.
//
//   tdd wbb wce pbc xcc 20     target at dd, walls at bb and ce, you at bc, box at cc, 20 steps left
//   pbd xcc 19

import type { View } from '../environment.ts';
import { MOVE_SAYINGS, placed } from '../grid.ts';
import { innerWalls, type Level } from './level.ts';
import type { SokobanState } from './sokoban.ts';

export function levelView(level: Level, { player, box, steps }: SokobanState, maxSteps: number): View {
  const { size, target } = level;
  const still = steps > 0 ? [] : [...placed('t', [target], size), ...placed('w', innerWalls(level), size)];
  const moving = [...placed('p', [player], size), ...placed('x', [box], size)];
  return { text: [...still, ...moving, maxSteps - steps].join(' '), sayings: MOVE_SAYINGS };
}

/** Every word that the view can show or that may be said in it. */
export function* levelViewCorpus(size: number, maxSteps: number): Generator<string> {
  const cells = Array.from({ length: size * size }, (_, cell) => cell);
  for (const thing of ['p', 'x', 't', 'w']) yield placed(thing, cells, size).join(' ');
  for (let left = 0; left <= maxSteps; left++) yield String(left);
  yield [...MOVE_SAYINGS.keys(), 'to the target push it any way'].join(' ');
}
