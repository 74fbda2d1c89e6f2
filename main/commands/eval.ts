// `lab eval`: play fixed held-out tasks without learning and say how well it went: success with its interval, return, steps,
// per category and tier, and why episodes failed. Who plays is a run, or an agent that needs no learning (--agent with --world).

import { Option, type Command } from 'commander';
import { AGENT_NAMES, type AgentName, createAgent } from '../environment/agents.ts';
import type { Environment, Split, Task } from '../environment/environment.ts';
import { WORLDS } from '../environment/registry.ts';
import { evaluationSeed, type EvaluationTable, playAgent, tabulate } from '../evaluation/evaluate.ts';
import { evaluationText, summaryText } from '../evaluation/report.ts';
import { answer, CallError, note } from './output.ts';
import { addWorldOptions, makeEnvironment, namedWorld, type WorldOptions } from './world-options.ts';

interface EvalOptions extends WorldOptions {
  readonly world?: string;
  readonly agent?: AgentName | 'all';
  readonly split: Split;
  readonly tasks: number;
  readonly seed: number;
}

export function register(program: Command): void {
  addWorldOptions(program.command('eval [run]'))
    .description('evaluate a run, or an agent without learning, on fixed held-out tasks')
    .option('--world <name>', `the world, when an agent plays (${WORLDS.map(({ name }) => name).join(', ')})`)
    .addOption(new Option('--agent <name>', 'who plays instead of a run').choices([...AGENT_NAMES, 'all']))
    .addOption(new Option('--split <name>', 'which tasks').choices(['test', 'validation', 'train']).default('test'))
    .option('--tasks <n>', 'how many of them', wholeNumber('--tasks'), 500)
    .option('--seed <n>', 'decides the episodes’ own randomness', wholeNumber('--seed'), 1)
    .action((run: string | undefined, options: EvalOptions) => {
      if (run !== undefined && options.agent !== undefined) throw new CallError('Give a run or --agent, not both');
      if (run !== undefined) return evaluateRun(run, options);
      return evaluateAgents(options);
    });
}

/** Evaluating the policy of a run. */
function evaluateRun(run: string, _options: EvalOptions): never {
  throw new CallError(`Run ${run} cannot be evaluated again yet`, '`lab runs` shows the evaluation that training made');
}

function evaluateAgents(options: EvalOptions): void {
  if (options.agent === undefined) throw new CallError('Expected a run or --agent', 'npm run lab -- eval --world shop --agent random');
  const world = namedWorld(options.world);
  const environment = makeEnvironment(world, options);
  const tasks = chooseTasks(environment, options);
  const agents = options.agent === 'all' ? AGENT_NAMES : [options.agent];
  const tables = agents.map((agent) => {
    const player = createAgent(world, agent);
    const results = tasks.map((task) => playAgent(environment, player, task, evaluationSeed(task, options.seed)).result);
    return { name: agent, table: tabulate(results) };
  });
  const [only] = tables;
  const about = { world: world.name, split: options.split, tasks: tasks.length, seed: options.seed };
  if (tables.length === 1 && only) return answer({ agent: only.name, ...about, ...only.table }, evaluationText(only));
  const byAgent: Record<string, EvaluationTable> = Object.fromEntries(tables.map(({ name: agent, table }) => [agent, table]));
  return answer({ ...about, agents: byAgent }, summaryText(tables));
}

/** The first tasks of a split, in the world's fixed order. */
function chooseTasks(environment: Environment, options: EvalOptions): readonly Task[] {
  const all = environment.tasks(options.split);
  if (all.length === 0) throw new CallError(`${environment.name} has no ${options.split} tasks`);
  if (options.tasks < 1) throw new CallError(`--tasks takes at least 1, found ${options.tasks}`);
  if (all.length < options.tasks) note(`${environment.name} has ${all.length} ${options.split} tasks; all of them are played`);
  return all.slice(0, options.tasks);
}

function wholeNumber(option: string): (text: string) => number {
  return (text) => {
    if (!/^\d+$/.test(text)) throw new CallError(`${option} takes a whole number, not "${text}"`);
    return Number(text);
  };
}
