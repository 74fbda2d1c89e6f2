// Demonstrated episodes with human-like mistakes, from which a reference policy is cloned. Never on test targets: asking
// for the test split is an error.

import { Random } from '../base/random.ts';
import type { Demonstration, Environment, Imperfection, Task, World } from './environment.ts';
import type { Split } from '../base/vocabulary.ts';

/** Probability of each mistake: as given, else as the world declares. */
export const mistakesOf = ({ mistakes }: World, given: Imperfection = {}): Imperfection =>
  Object.fromEntries(Object.entries(mistakes).map(([name, { chance }]) => [name, given[name] ?? chance]));

export interface DemonstrationOptions {
  readonly count: number;
  readonly seed: number;
  readonly split?: Split;
  readonly level?: number;
  readonly imperfection?: Imperfection;
  /** So many of a task in a row, which begin alike and differ in their mistakes. */
  readonly group?: number;
  /** How often tasks of a tier come up in a round, such as `constrained:3, plain:0`; of those that are not named: once. */
  readonly tiers?: string;
}

/** The tasks of a round: all once, but for those of tiers that are wanted more often, or never. */
function roundOf(environment: Environment, split: Split, level: number, wanted: string): readonly Task[] {
  const times = new Map<string, number>();
  for (const [, tier = '', count] of wanted.matchAll(/([\w-]+):(\d+)/g)) {
    if (!environment.tiers.includes(tier)) {
      throw new Error(`reference.tiers: expected tiers of ${environment.name} (${environment.tiers.join(', ')}), found ${tier}`);
    }
    times.set(tier, Number(count));
  }
  const tasks = environment.tasks(split, level);
  if (tasks.length === 0) throw new Error(`${environment.name} has no ${split} tasks at level ${level}`);
  const round = tasks.flatMap((task) => Array.from({ length: times.get(task.tier) ?? 1 }, () => task));
  if (round.length === 0) throw new Error(`reference.tiers: expected a tier with tasks above 0, found none in ${wanted}`);
  return round;
}

/** `count` episodes over the tasks of a split: a whole round of them in random order before any comes up again. */
export function* demonstrations(world: World, environment: Environment, options: DemonstrationOptions): Generator<Demonstration> {
  const { count, seed, split = 'train', level = environment.levels - 1, group = 1 } = options;
  const imperfection = mistakesOf(world, options.imperfection);
  if (split === 'test') throw new Error('Demonstrations are never made on test tasks: take the split train or validation');
  const tasks = roundOf(environment, split, level, options.tiers ?? '');
  const order = Random.from('demonstration-order', environment.name, seed);
  let round: readonly Task[] = [];
  for (let number = 0; number < count; number++) {
    const place = Math.floor(number / group);
    if (number % (group * tasks.length) === 0) round = order.shuffle(tasks);
    const task = round[place % tasks.length];
    if (!task) break;
    const random = Random.from('demonstration', environment.name, seed, number);
    const turns: Demonstration['turns'][number][] = [];
    let turn = environment.reset(task, place, level);
    while (!turn.done) {
      const said = world.demonstrate(environment, turn, imperfection, random.next);
      turns.push({ observation: turn.observation, ...said });
      turn = environment.step(turn.state, said.action);
    }
    yield { task, seed: place, success: turn.success, turns };
  }
}
