// FrozenLake with RAGEN's sizes and rules: a random lake for every task, slippery ice on which a step goes the wanted way or to
// one of its sides with a chance of a third each, holes that end the episode, 1 for reaching the goal. Chance is decided by the
// seed of the episode and the number of the step, so an episode can be repeated and branched.

import { z } from 'zod';
import { Random } from '../../base/random.ts';
import { type Split, splits } from '../../base/vocabulary.ts';
import type { Environment, Task, Turn } from '../environment.ts';
import type { FailureClass } from '../failures.ts';
import { cellName, cellNames, gridTurn, MOVES, neighbour, NO_MOVE, OVER, readMove, splitOfInstance } from '../grid.ts';
import { distances, drawLake, type Lake, outcomes, type Plan, planFor } from './lake.ts';
import { drawLakePage } from './page.ts';
import { lakeView, lakeViewCorpus } from './view.ts';

export const lakeSettings = z.strictObject({
  size: z.int().min(3).max(8).default(4).describe('Rows and columns of a lake (3–8).'),
  frozen: z.number().min(0.5).max(1).default(0.8).describe('Chance that a cell is ice and not a hole (0.5–1).'),
  slippery: z
    .boolean()
    .default(true)
    .describe('On slippery ice a step goes the wanted way or to one of its sides, with a chance of a third each.'),
  maxSteps: z.int().min(1).max(100).default(20).describe('Steps after which an episode ends (1–100).'),
  lakes: z.int().min(30).max(200_000).default(5000).describe('Different lakes, over all splits (30–200000); small sizes run out earlier.'),
  observation: z
    .enum(['cells', 'grid'])
    .default('cells')
    .describe('What is shown: the names of cells (one word each), or the grid in signs (P you, _ ice, O hole, G goal).'),
  view: z
    .enum(['page', 'short'])
    .default('page')
    .describe(
      'What a policy reads. `page`: every page. `short`: the lake once, then only where it stands and the steps that are left; each thing and its cell are one word.',
    ),
  seed: z.int().min(0).max(2_147_483_647).default(1).describe('Seed of the lakes: another number, other lakes.'),
});

export type LakeState = {
  readonly task: string;
  readonly at: number;
  readonly steps: number;
  readonly seed: number;
  readonly visited: readonly number[];
  readonly done: boolean;
};

export interface FrozenLake extends Environment<LakeState> {
  lakeAt(state: LakeState): Lake;
  planAt(state: LakeState): Plan;
}

export const LAKE_FAILURES: readonly FailureClass[] = [
  {
    id: 'fell-in',
    title: 'Falls into holes',
    meaning: 'Fell in: a step ended in a hole',
    counted: 'Episodes that end in a hole',
    detect(steps) {
      const last = steps.at(-1);
      if (last?.facts.hole !== true) return undefined;
      const slipped = last.facts.slipped === true ? 'slipped into it' : 'walked into it';
      const risk = typeof last.facts.risk === 'number' ? ` (the chance of falling was ${Math.round(100 * last.facts.risk)}%)` : '';
      return `Fell into a hole with “${last.action}” at step ${steps.length}: ${slipped}${risk}.`;
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
        ? `${again} of ${steps.length} steps led to cells visited before.`
        : undefined;
    },
  },
];

type Settings = z.infer<typeof lakeSettings>;

/** All lakes are different, and each belongs to the split that its cells decide. */
function makeTasks({ size, frozen, lakes, seed }: Settings): (Task & { readonly lake: Lake })[] {
  const random = Random.from('frozenlake', seed, size, String(frozen));
  const known = new Set<string>();
  const tasks: (Task & { readonly lake: Lake })[] = [];
  for (let misses = 0; tasks.length < lakes && misses < 200;) {
    const lake = drawLake(size, frozen, random);
    if (known.has(lake.cells)) {
      misses++;
      continue;
    }
    misses = 0;
    known.add(lake.cells);
    const away = distances(lake)[lake.start] ?? 0;
    const tier = away <= 2 ? 'near' : away <= 4 ? 'middle' : 'far';
    tasks.push({
      id: `lake-${tasks.length + 1}`,
      split: splitOfInstance('frozenlake', lake.cells),
      instruction: 'Walk over the ice to the goal without falling into a hole.',
      category: lake.holes.length <= 2 ? 'few holes' : 'many holes',
      tier,
      target: lake.cells,
      level: tier === 'near' ? 0 : tier === 'middle' ? 1 : 2,
      lake,
    });
  }
  return tasks;
}

export function createFrozenLake(input: unknown): FrozenLake {
  const settings = lakeSettings.parse(input ?? {});
  const { size, maxSteps, slippery } = settings;
  const tasks = makeTasks(settings);
  const lakes = new Map(tasks.map(({ id, lake }) => [id, lake]));
  const ordered = new Map<Split, readonly Task[]>();
  for (const split of splits)
    ordered.set(
      split,
      tasks.filter((task) => task.split === split),
    );
  const plans = new Map<string, Plan>();
  const lakeAt = (state: Pick<LakeState, 'task'>): Lake => {
    const lake = lakes.get(state.task);
    if (!lake) throw new Error(`FrozenLake has no task "${state.task}" with these settings`);
    return lake;
  };
  const planAt = (state: LakeState): Plan => {
    const lake = lakeAt(state);
    let plan = plans.get(lake.cells);
    if (!plan) plans.set(lake.cells, (plan = planFor(lake, slippery, maxSteps)));
    return plan;
  };
  return {
    name: 'frozenlake',
    settings,
    maxSteps,
    rewardRange: [0, 1],
    returnRange: [0, 1],
    categories: ['few holes', 'many holes'],
    tiers: ['near', 'middle', 'far'],
    levels: 3,
    tasks: (split, level = 2) => (ordered.get(split) ?? []).filter((task) => task.level <= level),
    reset(task, seed) {
      const { start } = lakeAt({ task: task.id });
      const state: LakeState = { task: task.id, at: start, steps: 0, seed, visited: [start], done: false };
      return turn(settings, lakeAt(state), state, { reason: 'start', facts: { kind: 'start' } });
    },
    step: (state, action) => walk(settings, lakeAt(state), state, action),
    grammar: (state) => (state.done ? [] : MOVES),
    ...(settings.view === 'short' && { view: (state: LakeState) => lakeView(lakeAt(state), state, maxSteps) }),
    oracle: (state) => (state.done ? undefined : `go ${planAt(state).best(state.at, maxSteps - state.steps)}`),
    lexicon: {
      *corpus() {
        if (settings.view === 'short') return yield* lakeViewCorpus(size, maxSteps);
        for (let cell = 0; cell < size * size; cell++) yield `you ${cellName(cell, size)} goal holes none left`;
        for (let left = 0; left <= maxSteps; left++) yield String(left);
        yield 'TASK: Walk over the ice to the goal without falling into a hole. go left down right up P _ O G X';
        yield 'You reached the goal. You fell into a hole. You are out of steps. Say go and left, down, right or up. The episode is over. away from safe towards slip any way';
      },
    },
    chance: slippery,
    reseed: (state, seed) => ({ ...state, seed }),
    diagnostics: { failures: LAKE_FAILURES },
    draw: (observation, context) => drawLakePage(observation, context, size),
    lakeAt,
    planAt,
  };
}

/** The place in words or signs. */
function describe({ observation, maxSteps }: Settings, { size, cells, goal, holes }: Lake, { at, steps }: LakeState): string {
  const left = `left ${maxSteps - steps}`;
  if (observation === 'cells') return `you ${cellName(at, size)} goal ${cellName(goal, size)} holes ${cellNames(holes, size)} ${left}`;
  const signs = [...cells].map((cell, index) => (index === at ? (cell === 'O' ? 'X' : 'P') : cell === 'P' ? '_' : cell));
  const rows = Array.from({ length: size }, (_, row) => signs.slice(row * size, (row + 1) * size).join(' '));
  return `${rows.join('\n')}\n${left}`;
}

function turn(settings: Settings, lake: Lake, state: LakeState, rest: Partial<Turn<LakeState>>): Turn<LakeState> {
  const end = !state.done
    ? ''
    : state.at === lake.goal
      ? 'You reached the goal. '
      : lake.holes.includes(state.at)
        ? 'You fell into a hole. '
        : 'You are out of steps. ';
  return gridTurn(state, end + describe(settings, lake, state), rest);
}

function walk(settings: Settings, lake: Lake, state: LakeState, action: string): Turn<LakeState> {
  if (state.done) return turn(settings, lake, state, OVER);
  const steps = state.steps + 1;
  const out = steps >= settings.maxSteps;
  const wanted = readMove(action);
  if (wanted === undefined) return turn(settings, lake, { ...state, steps, done: out }, NO_MOVE);
  const ways = outcomes(wanted, settings.slippery);
  const way = Random.from('frozenlake-slip', state.seed, state.task, state.steps).pick(ways);
  const at = neighbour(state.at, way, lake.size) ?? state.at;
  const goal = at === lake.goal;
  const hole = lake.holes.includes(at);
  const risk = ways.filter((one) => lake.holes.includes(neighbour(state.at, one, lake.size) ?? state.at)).length / ways.length;
  const repeated = state.visited.includes(at);
  const next: LakeState = { ...state, at, steps, visited: repeated ? state.visited : [...state.visited, at], done: goal || hole || out };
  return turn(settings, lake, next, {
    reward: goal ? 1 : 0,
    reason: goal ? 'reached the goal: +1' : hole ? 'fell into a hole: 0' : out ? 'out of steps: 0' : 'only the goal counts',
    success: goal,
    facts: { kind: 'move', slipped: way !== wanted, hole, risk, repeated },
  });
}
