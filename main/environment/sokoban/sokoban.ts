// Sokoban with one box in RAGEN's size: push the box onto the target; it can be pushed, never pulled, so a careless push can make
// a level impossible. Every task is another level that can be solved; transitions are deterministic.

import { z } from 'zod';
import { Random } from '../../base/random.ts';
import { type Split, splits } from '../../base/vocabulary.ts';
import type { Environment, Task, Turn } from '../environment.ts';
import type { FailureClass } from '../failures.ts';
import { cellName, cellNames, gridTurn, MOVES, NO_MOVE, OVER, readMove, splitOfInstance } from '../grid.ts';
import { drawLevel, greedySolves, innerWalls, type Level, push, solve } from './level.ts';
import { drawLevelPage } from './page.ts';
import { levelView, levelViewCorpus } from './view.ts';

export const sokobanSettings = z.strictObject({
  size: z.int().min(5).max(8).default(6).describe('Rows and columns of a room, its walls included (5–8).'),
  maxSteps: z.int().min(5).max(100).default(20).describe('Steps after which an episode ends (5–100); levels need 2 to 15.'),
  levels: z.int().min(50).max(200_000).default(2000).describe('Different levels, over all splits (50–200000); half of them need a detour.'),
  reward: z
    .enum(['binary', 'gym'])
    .default('binary')
    .describe('What is paid. binary: 1 for a solved level. gym: −0.1 for each step, +1 for the box on its target and +10 for the level.'),
  observation: z
    .enum(['cells', 'grid'])
    .default('cells')
    .describe('What is shown: the names of cells (one word each), or the room in signs (# wall, _ floor, O target, X box, P you).'),
  view: z
    .enum(['page', 'short'])
    .default('page')
    .describe(
      'What a policy reads. `page`: every page. `short`: the room once, then only player, box and the steps that are left; each thing and its cell are one word.',
    ),
  seed: z.int().min(0).max(2_147_483_647).default(1).describe('Seed of the levels: another number, other levels.'),
});

export type SokobanState = {
  readonly task: string;
  readonly player: number;
  readonly box: number;
  readonly steps: number;
  readonly visited: readonly string[];
  readonly done: boolean;
};

export interface Sokoban extends Environment<SokobanState> {
  levelAt(state: Pick<SokobanState, 'task'>): Level;
}

export const SOKOBAN_FAILURES: readonly FailureClass[] = [
  {
    id: 'deadlock',
    title: 'Deadlocks',
    meaning: 'Deadlock: a push made the level impossible',
    counted: 'Episodes in which a push made the level impossible',
    detect(steps) {
      const at = steps.findIndex(({ facts }) => facts.deadlock === true);
      return at < 0 ? undefined : `“${steps[at]?.action}” at step ${at + 1} pushed the box where the target can no longer be reached.`;
    },
  },
  {
    id: 'wandering',
    title: 'Wandering',
    meaning: 'Wandering: the steps run out on cells that had been visited before',
    counted: 'Episodes that run out of steps while at least half of them led to cells visited before',
    detect(steps, { maxSteps }) {
      const again = steps.filter(({ facts }) => facts.repeated === true).length;
      return steps.length >= maxSteps && again * 2 >= steps.length
        ? `${again} of ${steps.length} steps led to places that had been seen.`
        : undefined;
    },
  },
];

type Settings = z.infer<typeof sokobanSettings>;
type LevelTask = Task & { readonly layout: Level };

function makeTasks({ size, levels, seed }: Settings): LevelTask[] {
  const random = Random.from('sokoban', seed, size);
  const known = new Set<string>();
  const tasks: LevelTask[] = [];
  let direct = 0;
  while (tasks.length < levels) {
    const level = drawLevel(size, random);
    // Half of the levels need a detour: pushing the box straight towards the target does not solve them.
    const tier = greedySolves(level) ? 'direct' : 'detour';
    if (tier === 'direct' && direct * 2 >= levels) continue;
    // Levels with the same walls and target differ only in where they begin: they stay in one split.
    const room = `${cellNames(level.walls, size)} ${cellName(level.target, size)}`;
    const id = `${room} ${level.player} ${level.box}`;
    if (known.has(id)) continue;
    known.add(id);
    if (tier === 'direct') direct++;
    tasks.push({
      id: `level-${tasks.length + 1}`,
      split: splitOfInstance('sokoban', room),
      instruction: 'Push the box onto the target.',
      category: `${level.walls.length - 4 * (size - 1) <= 3 ? 'open' : 'narrow'} room`,
      tier,
      target: room,
      level: tier === 'direct' ? 0 : 1,
      layout: level,
    });
  }
  return tasks;
}

export function createSokoban(input: unknown): Sokoban {
  const settings = sokobanSettings.parse(input ?? {});
  const { size, maxSteps } = settings;
  const tasks = makeTasks(settings);
  const layouts = new Map(tasks.map(({ id, layout }) => [id, layout]));
  const ordered = new Map<Split, readonly Task[]>();
  for (const split of splits)
    // Levels that need a detour are drawn last: without this the first ones of a split would hardly have any.
    ordered.set(split, Random.from('sokoban-order', split).shuffle(tasks.filter((task) => task.split === split)));
  const levelAt = ({ task }: Pick<SokobanState, 'task'>): Level => {
    const level = layouts.get(task);
    if (!level) throw new Error(`Sokoban has no task "${task}" with these settings`);
    return level;
  };
  const gym = settings.reward === 'gym';
  return {
    name: 'sokoban',
    settings,
    maxSteps,
    rewardRange: gym ? [-0.1, 10.9] : [0, 1],
    returnRange: gym ? [-0.1 * maxSteps, 10.9] : [0, 1],
    categories: ['open room', 'narrow room'],
    tiers: ['direct', 'detour'],
    levels: 2,
    tasks: (split, level = 1) => (ordered.get(split) ?? []).filter((task) => task.level <= level),
    reset(task) {
      const { player, box } = levelAt({ task: task.id });
      const state: SokobanState = { task: task.id, player, box, steps: 0, visited: [`${player} ${box}`], done: false };
      return turn(settings, levelAt(state), state, { reason: 'start', facts: { kind: 'start' } });
    },
    step: (state, action) => move(settings, levelAt(state), state, action),
    grammar: (state) => (state.done ? [] : MOVES),
    ...(settings.view === 'short' && { view: (state: SokobanState) => levelView(levelAt(state), state, maxSteps) }),
    oracle(state) {
      const next = state.done ? undefined : solve(levelAt(state), state)?.[0];
      return next && `go ${next}`;
    },
    lexicon: {
      *corpus() {
        if (settings.view === 'short') return yield* levelViewCorpus(size, maxSteps);
        for (let cell = 0; cell < size * size; cell++) yield `you ${cellName(cell, size)} box target walls none left`;
        for (let left = 0; left <= maxSteps; left++) yield String(left);
        yield 'TASK: Push the box onto the target. go left down right up # _ O X P S';
        yield 'The box is on the target. You are out of steps. A wall is in the way. Say go and left, down, right or up. The episode is over. any way to push it';
      },
    },
    diagnostics: { failures: SOKOBAN_FAILURES },
    draw: (observation) => drawLevelPage(observation, size),
    levelAt,
  };
}

function describe({ observation, maxSteps }: Settings, { size, walls, target }: Level, { player, box, steps }: SokobanState): string {
  const left = `left ${maxSteps - steps}`;
  if (observation === 'cells')
    return `you ${cellName(player, size)} box ${cellName(box, size)} target ${cellName(target, size)} walls ${cellNames(innerWalls({ size, walls }), size)} ${left}`;
  const sign = (cell: number): string => {
    if (walls.includes(cell)) return '#';
    if (cell === box) return cell === target ? '√' : 'X';
    if (cell === player) return cell === target ? 'S' : 'P';
    return cell === target ? 'O' : '_';
  };
  const rows = Array.from({ length: size }, (_, row) => Array.from({ length: size }, (__, column) => sign(row * size + column)).join(' '));
  return `${rows.join('\n')}\n${left}`;
}

function turn(settings: Settings, level: Level, state: SokobanState, rest: Partial<Turn<SokobanState>>): Turn<SokobanState> {
  const end = !state.done ? '' : state.box === level.target ? 'The box is on the target. ' : 'You are out of steps. ';
  return gridTurn(state, end + describe(settings, level, state), rest);
}

function move(settings: Settings, level: Level, state: SokobanState, action: string): Turn<SokobanState> {
  if (state.done) return turn(settings, level, state, OVER);
  const gym = settings.reward === 'gym';
  const cost = gym ? -0.1 : 0;
  const steps = state.steps + 1;
  const out = steps >= settings.maxSteps;
  const direction = readMove(action);
  if (direction === undefined) return turn(settings, level, { ...state, steps, done: out }, { ...NO_MOVE, reward: cost });
  const place = push(level, state, direction) ?? { player: state.player, box: state.box };
  const solved = place.box === level.target;
  const pushed = place.box !== state.box;
  const key = `${place.player} ${place.box}`;
  const repeated = state.visited.includes(key);
  const visited = repeated ? state.visited : [...state.visited, key];
  const deadlock = pushed && !solved && solve(level, place) === undefined;
  return turn(
    settings,
    level,
    { ...state, ...place, steps, visited, done: solved || out },
    {
      reward: solved ? (gym ? 10.9 : 1) : cost,
      reason: solved ? (gym ? 'solved: +1, +10, step: −0.1' : 'solved: +1') : gym ? 'step: −0.1' : 'only the solved level counts',
      success: solved,
      facts: { kind: pushed ? 'push' : 'move', repeated, deadlock },
    },
  );
}
