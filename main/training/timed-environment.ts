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
  const { view, batching } = inner;
  const environment: Environment = {
    ...inner,
    reset: (task, seed, level) => timed(() => inner.reset(task, seed, level)),
    step: (state, action) => timed(() => inner.step(state, action)),
    grammar: (state) => timed(() => inner.grammar(state)),
    ...(view && { view: (state) => timed(() => view(state)) }),
    ...(batching && {
      batching: {
        ...batching,
        stepMany: (moves) => timed(() => batching.stepMany(moves)),
        prefetch: (starts) => timed(() => batching.prefetch(starts)),
      },
    }),
  };
  return { environment, seconds: () => spent / 1000 };
}
