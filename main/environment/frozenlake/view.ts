// A lake in short, for a small policy: all of it on the first page, afterwards only where one stands. A thing and its cell are one word,
// so that a page is a set of facts and nothing has to be read off its place in a list.
//
//   pbc gda hab hcd 20     you at bc, goal at da, holes at ab and cd, 20 steps left
//   pbb 19

import type { View } from '../environment.ts';
import { MOVE_SAYINGS, placed } from '../grid.ts';
import type { LakeState } from './frozenlake.ts';
import type { Lake } from './lake.ts';

export function lakeView({ size, goal, holes }: Lake, { at, steps }: LakeState, maxSteps: number): View {
  const still = steps > 0 ? [] : [...placed('g', [goal], size), ...placed('h', holes, size)];
  return { text: [...still, ...placed('p', [at], size), maxSteps - steps].join(' '), sayings: MOVE_SAYINGS };
}

/** Every word that the view can show or that may be said in it. */
export function* lakeViewCorpus(size: number, maxSteps: number): Generator<string> {
  const cells = Array.from({ length: size * size }, (_, cell) => cell);
  for (const thing of ['p', 'g', 'h']) yield placed(thing, cells, size).join(' ');
  for (let left = 0; left <= maxSteps; left++) yield String(left);
  yield [...MOVE_SAYINGS.keys(), 'towards the goal away from holes any way'].join(' ');
}
