// What holds of every world, checked against one: the same properties that the repository's tests hold the built-in worlds to,
// as far as they make sense for a world that somebody else wrote.

import { createAgent } from '../environment/agents.ts';
import { demonstrations } from '../environment/demonstrations.ts';
import type { Environment, Task, Turn, World } from '../environment/environment.ts';
import { Random } from '../base/random.ts';
import { splits } from '../base/vocabulary.ts';

export interface CheckResult {
  readonly name: string;
  /** Null: it holds. */
  readonly problem: string | null;
}

const EPISODES = 20;

class Broken extends Error {}

function expect(holds: boolean, otherwise: string): void {
  if (!holds) throw new Broken(otherwise);
}

/** Runs a check; whatever it throws is its result. */
export async function attempt(name: string, check: () => void | Promise<void>): Promise<CheckResult> {
  try {
    await check();
    return { name, problem: null };
  } catch (error) {
    const hint = error instanceof Error && 'hint' in error && typeof error.hint === 'string' ? ` ${error.hint}` : '';
    return { name, problem: error instanceof Error ? `${error.message}${hint}` : String(error) };
  }
}

export async function checkWorld(world: World): Promise<CheckResult[]> {
  const opened: { environment?: Environment } = {};
  const begin = await attempt(`${world.name}: opens with its default settings`, () => void (opened.environment = world.create({})));
  const { environment } = opened;
  if (!environment) return [begin];
  const checks: readonly [string, () => void][] = [
    ['has training tasks, and no target in two splits', () => checkTasks(environment)],
    [`plays ${EPISODES} episodes to their end within maxSteps, with finite rewards in range`, () => checkEpisodes(world, environment)],
    ['gives the same pages for the same seed and actions', () => checkRepeatable(world, environment)],
    ['continues from a state that was saved, and branches from an earlier one', () => checkBranches(world, environment)],
    ['refuses what its grammar does not allow', () => checkRefusals(environment)],
    [
      'has words to train a tokenizer on',
      () => {
        const { lexicon } = environment as Partial<Environment>;
        expect(lexicon !== undefined, 'the environment has no lexicon; since 0.2.0 corpus() and interchangeable are fields of it');
        expect([...environment.lexicon.corpus()].join('').length > 0, 'lexicon.corpus() is empty');
      },
    ],
  ];
  const results = [begin];
  for (const [name, check] of checks) results.push(await attempt(`${world.name}: ${name}`, check));
  if (world.describe)
    results.push(
      await attempt(`${world.name}: its schema, where it has one, has the fields that world.json names`, async () => {
        const problem = (await world.describe?.())?.problem ?? null;
        expect(problem === null, problem ?? '');
      }),
    );
  if (world.demonstrates !== false)
    results.push(await attempt(`${world.name}: demonstrates the same for the same seed`, () => checkDemonstrations(world, environment)));
  return results;
}

function checkTasks(environment: Environment): void {
  const owner = new Map<string, string>();
  for (const split of splits) {
    for (const { id, target, split: own } of environment.tasks(split)) {
      expect(own === split, `tasks('${split}') answers the task ${id}, whose split is ${own}`);
      expect((owner.get(target) ?? split) === split, `the target ${target} is in the splits ${owner.get(target)} and ${split}`);
      owner.set(target, split);
    }
  }
  expect(environment.tasks('train').length > 0, "tasks('train') is empty");
}

/** All turns of an episode of the random agent; with `actions` of those actions. */
function play(world: World, environment: Environment, task: Task, seed: number): { turns: Turn[]; actions: string[] } {
  const random = Random.from('plugin-check', seed);
  const agent = createAgent(world, 'random');
  const turns = [environment.reset(task, seed)];
  const actions: string[] = [];
  for (let turn = turns[0]; turn && !turn.done; turn = turns.at(-1)) {
    expect(
      actions.length < environment.maxSteps,
      `an episode of task ${task.id} has not ended after maxSteps (${environment.maxSteps}) actions`,
    );
    const action = agent.act(environment, turn, random.next);
    actions.push(action);
    turns.push(environment.step(turn.state, action));
  }
  return { turns, actions };
}

/** A few tasks from all over the training split. */
function someTasks(environment: Environment, count: number): Task[] {
  const tasks = environment.tasks('train');
  return Array.from({ length: Math.min(count, tasks.length) }, (_, index) => tasks[Math.floor((index * tasks.length) / count)]).filter(
    (task) => task !== undefined,
  );
}

function checkEpisodes(world: World, environment: Environment): void {
  const [low, high] = environment.rewardRange;
  for (const [seed, task] of someTasks(environment, EPISODES).entries()) {
    const { turns, actions } = play(world, environment, task, seed);
    for (const [index, turn] of turns.entries()) {
      const where = `task ${task.id}, step ${index}${index === 0 ? '' : ` (“${actions[index - 1]}”)`}`;
      expect(Number.isFinite(turn.reward), `${where}: the reward is ${turn.reward}`);
      expect(turn.reward >= low - 1e-9 && turn.reward <= high + 1e-9, `${where}: the reward ${turn.reward} lies outside ${low} to ${high}`);
      expect(turn.done || environment.grammar(turn.state).length > 0, `${where}: the episode is not over, but nothing may be said`);
      expect(turn.done || !turn.success, `${where}: a success before the end`);
      const error = turn.facts.kind === 'world-error' ? String(turn.facts.error) : '';
      expect(error === '', `${where}: ${error}`);
    }
    expect(environment.grammar(turns.at(-1)?.state ?? null).length === 0, `task ${task.id}: something may be said after the end`);
  }
}

const pages = (turns: readonly Turn[]): string =>
  JSON.stringify(turns.map(({ observation, reward, done, success }) => [observation, reward, done, success]));

function checkRepeatable(world: World, environment: Environment): void {
  for (const [seed, task] of someTasks(environment, 5).entries()) {
    const first = pages(play(world, environment, task, seed).turns);
    const second = pages(play(world, environment, task, seed).turns);
    expect(first === second, `task ${task.id}: two episodes with the same seed and actions differ; draw all chance from the seed`);
  }
}

function checkBranches(world: World, environment: Environment): void {
  for (const [seed, task] of someTasks(environment, 5).entries()) {
    const { turns, actions } = play(world, environment, task, seed);
    const middle = Math.floor((actions.length - 1) / 2);
    const [from, next] = [turns[middle], turns[middle + 1]];
    const action = actions[middle];
    if (!from || !next || action === undefined) continue;
    const saved: Turn['state'] = JSON.parse(JSON.stringify(from.state));
    const again = environment.step(saved, action);
    expect(
      pages([again]) === pages([next]),
      `task ${task.id}: step ${middle + 1} again, from the saved state before it, gives another page`,
    );
    expect(pages([from]) === pages([turns[middle] ?? from]), `task ${task.id}: step changed the state that it was given`);
  }
}

function checkRefusals(environment: Environment): void {
  const [task] = environment.tasks('train');
  if (!task) return;
  const turn = environment.reset(task, 1);
  for (const action of ['', '\0', 'x'.repeat(100_000)]) {
    expect(!environment.step(turn.state, action).valid, `the action ${JSON.stringify(action.slice(0, 20))} counts as valid`);
  }
}

function checkDemonstrations(world: World, environment: Environment): void {
  const make = (): string => JSON.stringify([...demonstrations(world, environment, { count: 5, seed: 1 })]);
  expect(make() === make(), 'demonstrate() differs between two calls with the same random numbers');
}
