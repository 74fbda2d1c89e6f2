// How an evaluation's episodes went, beyond how many succeeded: success on the tasks that can be solved at all, steps beside the oracle's, success
// against the share of the wanted words that may be said, and what successes have in common that failures have not. docs/metrics.md defines each.

import type { Environment, Task } from '../environment/environment.ts';
import type { PlayedStep } from '../environment/failures.ts';
import { mean, type Proportion, rankCorrelation, wilson } from '../base/statistics.ts';
import type { Split } from '../base/vocabulary.ts';
import { isReachable } from './evaluate.ts';
import type { EvaluationResult } from './evaluation-report.ts';

export interface ConductedEpisode {
  readonly task: Task;
  readonly seed: number;
  readonly success: boolean;
  readonly steps: number;
  /** What was done, where the episode was kept. */
  readonly played: readonly PlayedStep[] | null;
}

interface SharedTrait {
  readonly id: string;
  readonly title: string;
  readonly successes: Proportion;
  readonly failures: Proportion;
}

/** Tasks of which no word, some words or every word may be said. */
interface Covered {
  readonly words: 'none' | 'some' | 'all';
  readonly success: Proportion;
}

export interface Coverage {
  readonly bands: readonly Covered[];
  readonly categories: Readonly<Record<string, { readonly coverage: number; readonly success: number }>>;
  /** Rank correlation over the categories of coverage and success; null where all are covered alike. */
  readonly correlation: number | null;
  /** Failures at tasks with a word missing ÷ all failures. */
  readonly missing: Proportion;
}

export interface Conduct {
  /** Success among the tasks whose target some sequence of actions reaches. */
  readonly achievable: Proportion;
  /** Σ oracle steps ÷ Σ steps over successful episodes; null without any. */
  readonly efficiency: number | null;
  /** Mean steps ÷ the most there may be. */
  readonly stepShare: number;
  /** Empty where the world declares none or no episode was kept. */
  readonly traits: readonly SharedTrait[];
  /** Null where the world limits no words. */
  readonly coverage: Coverage | null;
}

export function conductOf(environment: Environment, episodes: readonly ConductedEpisode[]): Conduct {
  const possible = episodes.filter(({ task }) => isReachable(environment, task));
  const solved = episodes.filter(({ success }) => success);
  const oracle = solved.map(({ task, seed }) => oracleSteps(environment, task, seed));
  const known = solved.filter((_, index) => oracle[index] !== undefined);
  const spent = sum(known.map(({ steps }) => steps));
  return {
    achievable: share(possible, ({ success }) => success),
    efficiency: spent === 0 ? null : sum(oracle.flatMap((steps) => steps ?? [])) / spent,
    stepShare: mean(episodes.map(({ steps }) => steps)) / environment.maxSteps,
    traits: sharedTraits(environment, episodes),
    coverage: coverageOf(environment, episodes),
  };
}

/** Results of an evaluation with the episodes that were kept of it, in the same order. */
export function conductedEpisodes(
  environment: Environment,
  split: Split,
  results: readonly EvaluationResult[],
  played: (index: number) => readonly PlayedStep[] | null,
): ConductedEpisode[] {
  const tasks = new Map(environment.tasks(split).map((task) => [task.id, task]));
  return results.flatMap(({ task: id, seed, success, steps }, index) => {
    const task = tasks.get(id);
    return task ? [{ task, seed, success, steps, played: played(index) }] : [];
  });
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
const share = <T>(of: readonly T[], is: (one: T) => boolean): Proportion => wilson(of.filter(is).length, of.length);

/** Steps of whoever asks the world itself; undefined where it has no answer. */
function oracleSteps(environment: Environment, task: Task, seed: number): number | undefined {
  let turn = environment.reset(task, seed);
  for (let steps = 0; steps <= environment.maxSteps; steps++) {
    if (turn.done) return turn.success ? steps : undefined;
    const action = environment.oracle(turn.state);
    if (action === undefined) return undefined;
    turn = environment.step(turn.state, action);
  }
  return undefined;
}

function sharedTraits({ diagnostics }: Environment, episodes: readonly ConductedEpisode[]): SharedTrait[] {
  const traits = diagnostics?.traits ?? [];
  const kept = episodes.flatMap(({ success, played }) => (played ? [{ success, played }] : []));
  if (kept.length === 0) return [];
  return traits.map(({ id, title, detect }) => {
    const has = ({ played }: { readonly played: readonly PlayedStep[] }): boolean => detect(played);
    const successes = kept.filter(({ success }) => success);
    const failures = kept.filter(({ success }) => !success);
    return { id, title, successes: share(successes, has), failures: share(failures, has) };
  });
}

function coverageOf(environment: Environment, episodes: readonly ConductedEpisode[]): Coverage | null {
  const covered = episodes.map(({ task, success }) => ({
    category: task.category,
    success,
    words: environment.diagnostics?.coverage?.(task) ?? 1,
  }));
  if (covered.every(({ words }) => words === 1)) return null;
  const bandOf = (words: number): Covered['words'] => (words === 0 ? 'none' : words < 1 ? 'some' : 'all');
  const bands = (['none', 'some', 'all'] as const).flatMap((words): Covered[] => {
    const own = covered.filter((one) => bandOf(one.words) === words);
    return own.length === 0 ? [] : [{ words, success: share(own, ({ success }) => success) }];
  });
  const categories = Object.fromEntries(
    [...Map.groupBy(covered, ({ category }) => category)]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([category, own]) => [
        category,
        { coverage: mean(own.map(({ words }) => words)), success: share(own, ({ success }) => success).rate },
      ]),
  );
  const rows = Object.values(categories);
  const failures = covered.filter(({ success }) => !success);
  return {
    bands,
    categories,
    correlation: rankCorrelation(
      rows.map(({ coverage }) => coverage),
      rows.map(({ success }) => success),
    ),
    missing: share(failures, ({ words }) => words < 1),
  };
}
