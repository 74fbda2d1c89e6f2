// A bandit with K arms and a number of pulls: which arm pays best has to be found out by pulling. The arms' chances are drawn anew
// for every task and never shown. An episode succeeds when its expected loss against always pulling the best arm (the regret) stays
// below a share of what pulling at random would lose; the return is what was won, divided by the pulls.

import { z } from 'zod';
import { Random } from '../../base/random.ts';
import { type Split, splits } from '../../base/vocabulary.ts';
import type { Environment, Grammar, Task, Turn } from '../environment.ts';
import type { FailureClass } from '../failures.ts';
import { splitOfInstance } from '../grid.ts';
import { tidy } from '../grammar.ts';
import { drawBanditPage } from './page.ts';

export const banditSettings = z.strictObject({
  arms: z.int().min(2).max(10).default(3).describe('Arms (2–10).'),
  pulls: z.int().min(2).max(100).default(20).describe('Pulls of an episode (2–100).'),
  tolerance: z
    .number()
    .min(0.05)
    .max(1)
    .default(0.5)
    .describe('An episode succeeds when its regret is at most this share of the regret of pulling at random (0.05–1).'),
  machines: z.int().min(30).max(50_000).default(3000).describe('Different machines, over all splits (30–50000).'),
  view: z
    .enum(['page', 'short'])
    .default('page')
    .describe(
      'What a policy reads. `page`: the page. `short`: the wins and losses of each arm and the pulls that are left, numbers alone.',
    ),
  seed: z.int().min(0).max(2_147_483_647).default(1).describe('Seed of the machines: another number, other machines.'),
});
type Settings = z.infer<typeof banditSettings>;

export type BanditState = {
  readonly task: string;
  readonly seed: number;
  readonly steps: number;
  /** Wins and losses of each arm so far. */
  readonly wins: readonly number[];
  readonly losses: readonly number[];
  /** Expected loss against the best arm so far. */
  readonly regret: number;
  readonly done: boolean;
};

export interface Bandit extends Environment<BanditState> {
  chancesOf(state: Pick<BanditState, 'task'>): readonly number[];
}

export const armName = (arm: number): string => String.fromCharCode(97 + arm);

export const BANDIT_FAILURES: readonly FailureClass[] = [
  {
    id: 'never-tried',
    title: 'Best arm never tried',
    meaning: 'Best arm never tried: the arm that pays best was not pulled once',
    counted: 'Episodes in which the best arm was never pulled',
    detect: (steps) =>
      steps.some(({ facts }) => facts.best === true) ? undefined : `None of the ${steps.length} pulls was of the best arm.`,
  },
  {
    id: 'not-settled',
    title: 'Not settled',
    meaning: 'Not settled: the best arm was tried, and other arms were pulled too often',
    counted: 'Episodes that tried the best arm and still lost too much on others',
    detect(steps) {
      const best = steps.filter(({ facts }) => facts.best === true).length;
      return `${best} of ${steps.length} pulls were of the best arm.`;
    },
  },
];

type Machine = Task & { readonly chances: readonly number[] };

function makeTasks({ arms, machines, seed }: Settings): Machine[] {
  const random = Random.from('bandit', seed, arms);
  return Array.from({ length: machines }, (_, index): Machine => {
    const chances = Array.from({ length: arms }, () => Math.round(100 * random.next()) / 100);
    const [first = 0, second = 0] = chances.toSorted((a, b) => b - a);
    // Where two arms are nearly the same there is nothing to find out.
    if (first - second < 0.05) chances[chances.indexOf(second)] = Math.max(0, Math.round(100 * (first - 0.1)) / 100);
    const [best = 0, next = 0] = chances.toSorted((a, b) => b - a);
    const tier = best - next >= 0.3 ? 'clear' : 'close';
    const target = chances.join(' ');
    return {
      id: `machine-${index + 1}`,
      split: splitOfInstance('bandit', target),
      instruction: 'Win as often as possible.',
      category: best >= 0.7 ? 'generous' : 'mean',
      tier,
      target,
      level: tier === 'clear' ? 0 : 1,
      chances,
    };
  });
}

export function createBandit(input: unknown): Bandit {
  const settings = banditSettings.parse(input ?? {});
  const { arms, pulls } = settings;
  const tasks = makeTasks(settings);
  const machines = new Map(tasks.map((task) => [task.id, task.chances]));
  const ordered = new Map<Split, readonly Task[]>();
  for (const split of splits)
    ordered.set(
      split,
      tasks.filter((task) => task.split === split),
    );
  const names = Array.from({ length: arms }, (_, arm) => armName(arm));
  const grammar: Grammar = [
    [
      { kind: 'literal', text: 'pull ' },
      { kind: 'choice', options: names },
    ],
  ];
  const sayings = new Map(names.map((name) => [name, `pull ${name}`]));
  const chancesOf = ({ task }: Pick<BanditState, 'task'>): readonly number[] => {
    const chances = machines.get(task);
    if (!chances) throw new Error(`The bandit has no task "${task}" with these settings`);
    return chances;
  };
  return {
    name: 'bandit',
    settings,
    maxSteps: pulls,
    rewardRange: [0, 1 / pulls],
    returnRange: [0, 1],
    categories: ['generous', 'mean'],
    tiers: ['clear', 'close'],
    levels: 2,
    tasks: (split, level = 1) => (ordered.get(split) ?? []).filter((task) => task.level <= level),
    reset(task, seed) {
      chancesOf({ task: task.id });
      const none = names.map(() => 0);
      const state: BanditState = { task: task.id, seed, steps: 0, wins: none, losses: none, regret: 0, done: false };
      return turn(settings, state, { observation: `TASK: ${describe(settings, state)}`, reason: 'start', facts: { kind: 'start' } });
    },
    step: (state, action) => pull(settings, chancesOf(state), state, action),
    reseed: (state, seed) => ({ ...state, seed }),
    grammar: (state) => (state.done ? [] : grammar),
    ...(settings.view === 'short' && { view: (state: BanditState) => ({ text: inShort(settings, state), sayings }) }),
    oracle(state) {
      const chances = chancesOf(state);
      return state.done ? undefined : `pull ${armName(chances.indexOf(Math.max(...chances)))}`;
    },
    lexicon: {
      *corpus() {
        for (const name of names) yield `pull ${name} won lost`;
        for (let count = 0; count <= pulls; count++) yield `${count} won ${count} lost left ${count}`;
        yield 'TASK: Win as often as possible. You won. You lost. Say pull and an arm. The episode is over. try best so far untried any';
      },
    },
    chance: true,
    diagnostics: { failures: BANDIT_FAILURES },
    draw: (observation, context) => drawBanditPage(observation, context),
    chancesOf,
  };
}

/** Wins and losses of each arm and the pulls that are left, as numbers alone: `2 1 0 2 0 0 15`. */
const inShort = ({ pulls }: Settings, { wins, losses, steps }: BanditState): string =>
  [...wins.flatMap((won, arm) => [won, losses[arm] ?? 0]), pulls - steps].join(' ');

/** Every arm with its wins and losses: all there is to know. */
function describe({ pulls }: Settings, { wins, losses, steps }: BanditState): string {
  return `${wins.map((won, arm) => `${armName(arm)} ${won} won ${losses[arm] ?? 0} lost`).join(' ')} left ${pulls - steps}`;
}

function turn(settings: Settings, state: BanditState, rest: Partial<Turn<BanditState>>): Turn<BanditState> {
  return {
    state,
    observation: describe(settings, state),
    reward: 0,
    reason: 'lost: 0',
    done: state.done,
    valid: true,
    success: false,
    clickables: state.done ? [] : state.wins.map((_, arm) => armName(arm)),
    facts: {},
    ...rest,
  };
}

function pull(settings: Settings, chances: readonly number[], state: BanditState, action: string): Turn<BanditState> {
  if (state.done) {
    const over = { observation: 'The episode is over.', reason: 'the episode is over', valid: false, facts: { kind: 'invalid' } };
    return turn(settings, state, over);
  }
  const steps = state.steps + 1;
  const done = steps >= settings.pulls;
  const top = Math.max(...chances);
  const arm = chances.findIndex((_, index) => tidy(action) === `pull ${armName(index)}`);
  const chance = chances[arm];
  const regret = state.regret + top - (chance ?? 0);
  if (chance === undefined) {
    const said = { observation: 'Say pull and an arm.', reason: 'nothing happens', valid: false, facts: { kind: 'invalid', regret } };
    return turn(settings, { ...state, steps, regret, done }, said);
  }
  const won = Random.from('bandit-pull', state.seed, state.task, state.steps).next() < chance;
  const add = (counts: readonly number[], by: number): number[] => counts.map((count, index) => (index === arm ? count + by : count));
  const next: BanditState = { ...state, steps, wins: add(state.wins, won ? 1 : 0), losses: add(state.losses, won ? 0 : 1), regret, done };
  const average = chances.reduce((sum, value) => sum + value, 0) / chances.length;
  const allowed = settings.tolerance * settings.pulls * (top - average);
  return turn(settings, next, {
    observation: `You ${won ? 'won' : 'lost'}. ${describe(settings, next)}`,
    reward: won ? 1 / settings.pulls : 0,
    reason: won ? `won: +1/${settings.pulls}` : 'lost: 0',
    success: done && regret <= allowed + 1e-12,
    facts: { kind: 'pull', arm: armName(arm), won, best: chance === top, regret },
  });
}
