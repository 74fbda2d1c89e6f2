// Sokoban levels with one box: random rooms that can be solved, and a solver. A level is a text of its cells row by row (# wall,
// _ floor), with the places of player, box and target beside it.

import type { Random } from '../../base/random.ts';
import { type Direction, DIRECTIONS, neighbour } from '../grid.ts';

export interface Level {
  readonly size: number;
  readonly walls: readonly number[];
  readonly player: number;
  readonly box: number;
  readonly target: number;
}

/** Who stands where; walls and target do not change. */
export interface Place {
  readonly player: number;
  readonly box: number;
}

/** Neighbours of every cell in the order of DIRECTIONS, −1 beyond the edge: levels are drawn by the thousand. */
const tables = new Map<number, Int16Array>();
function neighbours(size: number): Int16Array {
  let table = tables.get(size);
  if (!table) {
    table = Int16Array.from({ length: 4 * size * size }, (_, at) => neighbour(at >> 2, DIRECTIONS[at & 3] ?? 'up', size) ?? -1);
    tables.set(size, table);
  }
  return table;
}

const bitmaps = new WeakMap<Level, Uint8Array>();
function wallsOf(level: Level): Uint8Array {
  let bitmap = bitmaps.get(level);
  if (!bitmap) {
    bitmap = new Uint8Array(level.size * level.size);
    for (const cell of level.walls) bitmap[cell] = 1;
    bitmaps.set(level, bitmap);
  }
  return bitmap;
}

/** The walls that do not surround the room. */
export const innerWalls = ({ size, walls }: Pick<Level, 'size' | 'walls'>): number[] =>
  walls.filter((cell) => cell >= size && cell < size * (size - 1) && cell % size > 0 && cell % size < size - 1);

/** What a step does: undefined where a wall, or the box before a wall, is in the way. */
export function push(level: Level, { player, box }: Place, direction: Direction): Place | undefined {
  const table = neighbours(level.size);
  const walls = wallsOf(level);
  const way = DIRECTIONS.indexOf(direction);
  const next = table[4 * player + way] ?? -1;
  if (next < 0 || walls[next] === 1) return undefined;
  if (next !== box) return { player: next, box };
  const beyond = table[4 * box + way] ?? -1;
  return beyond < 0 || walls[beyond] === 1 ? undefined : { player: next, box: beyond };
}

/** Memory of the search, used again and again: thousands of rooms are drawn at once, and most are thrown away. */
const memories = new Map<number, { readonly came: Int32Array; readonly queue: Int32Array; readonly walls: Uint8Array }>();
function memoryFor(cells: number) {
  let memory = memories.get(cells);
  if (!memory) {
    memory = { came: new Int32Array(cells * cells), queue: new Int32Array(cells * cells), walls: new Uint8Array(cells) };
    memories.set(cells, memory);
  }
  return memory;
}

/** The shortest solution from a place by breadth-first search; undefined where there is none. */
export const solve = (level: Level, from: Place): Direction[] | undefined => search(level, wallsOf(level), from);

function search({ size, target }: Pick<Level, 'size' | 'target'>, walls: Uint8Array, from: Place): Direction[] | undefined {
  const cells = size * size;
  const table = neighbours(size);
  // A place is player · cells + box; `came` has the place before it and the direction, 0 where it was not seen.
  const { came, queue } = memoryFor(cells);
  came.fill(0);
  const start = from.player * cells + from.box;
  queue[0] = start;
  came[start] = -1;
  for (let head = 0, length = 1; head < length; head++) {
    const place = queue[head] ?? 0;
    const box = place % cells;
    if (box === target) return backwards(came, place);
    const player = (place - box) / cells;
    for (let way = 0; way < 4; way++) {
      const next = table[4 * player + way] ?? -1;
      if (next < 0 || walls[next] === 1) continue;
      const moved = next === box ? (table[4 * box + way] ?? -1) : box;
      if (moved < 0 || walls[moved] === 1) continue;
      const reached = next * cells + moved;
      if (came[reached] !== 0) continue;
      came[reached] = 4 * place + way + 1;
      queue[length++] = reached;
    }
  }
  return undefined;
}

function backwards(came: Int32Array, place: number): Direction[] {
  const moves: Direction[] = [];
  for (let way = came[place] ?? -1; way > 0; way = came[(way - 1) >> 2] ?? -1) moves.unshift(DIRECTIONS[(way - 1) & 3] ?? 'up');
  return moves;
}

export const LONGEST_SOLUTION = 15;

/** A room with walls around it and some inside, drawn again until it can be solved in 2 to LONGEST_SOLUTION steps. */
export function drawLevel(size: number, random: Random): Level {
  const cells = Array.from({ length: size * size }, (_, cell) => cell);
  const inside = cells.filter((cell) => cell >= size && cell < size * (size - 1) && cell % size > 0 && cell % size < size - 1);
  const { walls } = memoryFor(size * size);
  for (;;) {
    walls.fill(1);
    for (const cell of inside) walls[cell] = random.next() < 0.25 ? 1 : 0;
    const [player, box, target] = random.shuffle(inside.filter((cell) => walls[cell] === 0));
    if (player === undefined || box === undefined || target === undefined) continue;
    const steps = search({ size, target }, walls, { player, box })?.length ?? 0;
    if (steps >= 2 && steps <= LONGEST_SOLUTION) return { size, walls: cells.filter((cell) => walls[cell] === 1), player, box, target };
  }
}

/** Rows and columns between two cells. */
const distance = (a: number, b: number, size: number): number =>
  Math.abs(Math.floor(a / size) - Math.floor(b / size)) + Math.abs((a % size) - (b % size));

/** The first step on the shortest way to a push that brings the box nearer to the target; undefined where there is none. */
export function greedyMove(level: Level, from: Place): Direction | undefined {
  const queue: { readonly place: Place; readonly first: Direction | undefined }[] = [{ place: from, first: undefined }];
  const seen = new Set([from.player]);
  for (let head = 0; head < queue.length; head++) {
    const now = queue[head];
    for (const direction of DIRECTIONS) {
      const next = now && push(level, now.place, direction);
      if (!now || !next) continue;
      const first = now.first ?? direction;
      if (next.box !== from.box) {
        if (distance(next.box, level.target, level.size) < distance(from.box, level.target, level.size)) return first;
      } else if (!seen.has(next.player)) {
        seen.add(next.player);
        queue.push({ place: next, first });
      }
    }
  }
  return undefined;
}

export function greedySolves(level: Level): boolean {
  let place: Place = level;
  for (let step = 0; step < 2 * LONGEST_SOLUTION && place.box !== level.target; step++) {
    const move = greedyMove(level, place);
    const next = move && push(level, place, move);
    if (!next) return false;
    place = next;
  }
  return place.box === level.target;
}
