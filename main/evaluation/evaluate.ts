// From episodes to an evaluation: each trajectory becomes one result with its failure class, and a list of results becomes the
// table that the command line, the window and the reports show. Who acted (a policy, an agent without learning) does not matter.

import { Random } from '../base/random.ts';
import type { Agent, Environment, Facts, Task } from '../environment/environment.ts';
import type { EvaluationResult } from './evaluation-report.ts';
import type { Trajectory } from '../rollout/trajectory.ts';
import type { Played } from '../environment/failures.ts';
import { diagnose, type Diagnosis, failureNames, inOrder } from './failures.ts';
import { type Proportion, mean, wilson } from '../base/statistics.ts';

export interface EvaluationTable {
  readonly success: Proportion;
  readonly return: number;
  readonly steps: number;
  readonly categories: Readonly<Record<string, Proportion>>;
  readonly tiers: Readonly<Record<string, Proportion>>;
  /** Every failure class of the world: how many, and as a share of all episodes. */
  readonly failures: Readonly<Record<string, { readonly count: number; readonly share: number }>>;
}

/** `classes` are the world's; without them the table has those that occur. */
export function tabulate(results: readonly EvaluationResult[], classes: readonly string[] = []): EvaluationTable {
  const share = (count: number) => (results.length === 0 ? 0 : count / results.length);
  const failures = Object.fromEntries(
    inOrder([...classes, ...results.flatMap(({ failure }) => failure ?? [])], classes).map((name) => {
      const count = results.filter((result) => result.failure === name).length;
      return [name, { count, share: share(count) }];
    }),
  );
  return {
    success: successOf(results),
    return: mean(results.map((result) => result.return)),
    steps: mean(results.map((result) => result.steps)),
    categories: breakdown(results, (result) => result.category),
    tiers: breakdown(results, (result) => result.tier),
    failures,
  };
}

export const successOf = (results: readonly EvaluationResult[]): Proportion =>
  wilson(results.filter((result) => result.success).length, results.length);

function breakdown(results: readonly EvaluationResult[], key: (result: EvaluationResult) => string): Record<string, Proportion> {
  const names = [...new Set(results.map(key))].sort();
  return Object.fromEntries(names.map((name) => [name, successOf(results.filter((result) => key(result) === name))]));
}

/** The metrics of an evaluation, as the recorder takes them. */
export function evaluationMetrics(table: EvaluationTable): Record<string, number> {
  return {
    'evaluation.success': table.success.rate,
    'evaluation.return': table.return,
    'evaluation.steps': table.steps,
    ...Object.fromEntries(Object.entries(table.failures).map(([name, { share }]) => [`evaluation.failure.${name}`, share])),
  };
}

/** The table of a world's evaluation: with every class of failure that the world knows. */
export const tabulateIn = (environment: Environment, results: readonly EvaluationResult[]): EvaluationTable =>
  tabulate(results, failureNames(environment));

/** Whether the world offers any way to the task's target. */
export function isReachable(environment: Environment, task: Task, level?: number): boolean {
  return environment.diagnostics?.solvable?.(task, level) ?? environment.reset(task, 0, level).facts.reachable !== false;
}

/** Finds out why a policy's episode failed, and notes the class on the trajectory. */
export function diagnoseTrajectory(trajectory: Trajectory, environment: Environment, task: Task, level?: number): Diagnosis | null {
  const reachable = trajectory.success || isReachable(environment, task, level);
  const diagnosis = diagnose(environment, trajectory, { reachable });
  trajectory.failure = diagnosis?.failure ?? null;
  return diagnosis;
}

export function resultOf(trajectory: Trajectory): EvaluationResult {
  const { task, category, tier, seed, success, failure } = trajectory;
  return { task, category, tier, seed, success, return: trajectory.return, steps: trajectory.steps.length, failure };
}

/** The seed of a task's episode in an evaluation: the same for every agent and run, so that they can be paired. */
export function evaluationSeed(task: Task, seed: number): number {
  return Random.from('evaluation', task.id, seed).integer();
}

export interface AgentEpisode extends Played {
  readonly result: EvaluationResult;
  readonly diagnosis: Diagnosis | null;
}

/** One episode of an agent that needs no learning. */
export function playAgent(environment: Environment, agent: Agent, task: Task, seed: number, level?: number): AgentEpisode {
  const random = Random.from('agent', agent.name, seed);
  let turn = environment.reset(task, seed, level);
  const reachable = turn.facts.reachable !== false;
  const steps: { action: string; valid: boolean; facts: Facts }[] = [];
  let total = 0;
  while (!turn.done) {
    const action = agent.act(environment, turn, random.next);
    turn = environment.step(turn.state, action);
    total += turn.reward;
    steps.push({ action, valid: turn.valid, facts: turn.facts });
  }
  const played = { success: turn.success, steps };
  const diagnosis = diagnose(environment, played, { reachable });
  const { id, category, tier } = task;
  const failure = diagnosis?.failure ?? null;
  return {
    ...played,
    diagnosis,
    result: { task: id, category, tier, seed, success: turn.success, return: total, steps: steps.length, failure },
  };
}
