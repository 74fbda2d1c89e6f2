// The same world with a stopwatch: how many seconds were spent inside it. The lab shows that it is a small part of a run.

import type { Environment } from '../environment/environment.ts';

export function timedEnvironment(inner: Environment): { environment: Environment; seconds: () => number } {
  let spent = 0;
  const timed = <T>(work: () => T): T => {
    const begin = performance.now();
    try {
      return work();
    } finally {
      spent += performance.now() - begin;
    }
  };
  const { view, stepMany, announce } = inner;
  const environment: Environment = {
    name: inner.name,
    settings: inner.settings,
    maxSteps: inner.maxSteps,
    rewardRange: inner.rewardRange,
    returnRange: inner.returnRange,
    categories: inner.categories,
    tiers: inner.tiers,
    levels: inner.levels,
    interchangeable: inner.interchangeable,
    ...(inner.concepts && { concepts: inner.concepts }),
    ...(inner.phrases && { phrases: inner.phrases }),
    ...(inner.prices && { prices: inner.prices }),
    ...(inner.digits && { digits: inner.digits }),
    ...(inner.chance !== undefined && { chance: inner.chance }),
    ...(inner.failures && { failures: inner.failures }),
    tasks: (split, level) => inner.tasks(split, level),
    reset: (task, seed, level) => timed(() => inner.reset(task, seed, level)),
    step: (state, action) => timed(() => inner.step(state, action)),
    ...(stepMany && { stepMany: (moves) => timed(() => stepMany(moves)) }),
    ...(announce && { announce: (starts) => timed(() => announce(starts)) }),
    ...(inner.concurrent !== undefined && { concurrent: inner.concurrent }),
    ...(inner.solvable && { solvable: inner.solvable }),
    ...(inner.openVocabulary !== undefined && { openVocabulary: inner.openVocabulary }),
    ...(inner.digits && { digits: inner.digits }),
    grammar: (state) => timed(() => inner.grammar(state)),
    ...(view && { view: (state) => timed(() => view(state)) }),
    oracle: (state) => inner.oracle(state),
    corpus: () => inner.corpus(),
  };
  return { environment, seconds: () => spent / 1000 };
}
