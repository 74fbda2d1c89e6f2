// Lakes: random maps in which the goal can be reached, and the best way to walk on each by value iteration. A lake is a text of
// its cells row by row (P start, _ ice, O hole, G goal), so equal lakes are equal texts.

import type { Random } from '../../base/random.ts';
import { type Direction, DIRECTIONS, neighbour } from '../grid.ts';

export interface Lake {
  readonly size: number;
  readonly cells: string;
  readonly start: number;
  readonly goal: number;
  readonly holes: readonly number[];
}

export function lakeOf(cells: string, size: number): Lake {
  const holes = [...cells].flatMap((cell, index) => (cell === 'O' ? [index] : []));
  return { size, cells, start: cells.indexOf('P'), goal: cells.indexOf('G'), holes };
}

/** Start and goal anywhere, every other cell a hole with chance 1 − `frozen`; drawn again until there is a way. */
export function drawLake(size: number, frozen: number, random: Random): Lake {
  for (;;) {
    const [start = 0, goal = 1] = random.shuffle(Array.from({ length: size * size }, (_, cell) => cell));
    const cells = Array.from({ length: size * size }, (_, cell) => {
      const ice = random.next() < frozen;
      return cell === start ? 'P' : cell === goal ? 'G' : ice ? '_' : 'O';
    }).join('');
    const lake = lakeOf(cells, size);
    if (distances(lake)[start] !== undefined && (distances(lake)[start] ?? 0) > 1) return lake;
  }
}

/** Steps to the goal over ice from every cell, were it not slippery. */
export function distances({ size, goal, holes }: Lake): readonly (number | undefined)[] {
  const found: (number | undefined)[] = Array.from({ length: size * size }, () => undefined);
  found[goal] = 0;
  const queue = [goal];
  for (let cell = queue.shift(); cell !== undefined; cell = queue.shift()) {
    for (const direction of DIRECTIONS) {
      const next = neighbour(cell, direction, size);
      if (next === undefined || found[next] !== undefined || holes.includes(next)) continue;
      found[next] = (found[cell] ?? 0) + 1;
      queue.push(next);
    }
  }
  return found;
}

/** The directions in which a step may lead, with equal chances: on slippery ice the wanted one and the two beside it. */
export function outcomes(direction: Direction, slippery: boolean): readonly Direction[] {
  const at = DIRECTIONS.indexOf(direction);
  const turned = (by: number): Direction => DIRECTIONS[(at + by + 4) % 4] ?? direction;
  return slippery ? [turned(-1), direction, turned(1)] : [direction];
}

export interface Plan {
  /** The chance of reaching the goal from a cell in so many steps, acting well. */
  value(cell: number, steps: number): number;
  best(cell: number, steps: number): Direction;
}

/** Value iteration over the steps that are left: exact, because an episode ends after `maxSteps`. */
export function planFor({ size, goal, holes }: Lake, slippery: boolean, maxSteps: number): Plan {
  const ends = new Set([goal, ...holes]);
  const table: Float64Array[] = [Float64Array.from({ length: size * size }, (_, cell) => (cell === goal ? 1 : 0))];
  const quality = (values: Float64Array, cell: number, direction: Direction): number => {
    const reached = outcomes(direction, slippery).map((way) => values[neighbour(cell, way, size) ?? cell] ?? 0);
    return reached.reduce((sum, value) => sum + value, 0) / reached.length;
  };
  const at = (steps: number): Float64Array => table[Math.min(steps, maxSteps)] ?? new Float64Array(size * size);
  for (let steps = 1; steps <= maxSteps; steps++) {
    const before = at(steps - 1);
    table.push(before.map((value, cell) => (ends.has(cell) ? value : Math.max(...DIRECTIONS.map((way) => quality(before, cell, way))))));
  }
  return {
    value: (cell, steps) => at(steps)[cell] ?? 0,
    best(cell, steps) {
      const before = at(steps - 1);
      return DIRECTIONS.reduce((best, way) => (quality(before, cell, way) > quality(before, cell, best) + 1e-12 ? way : best));
    },
  };
}
