// A study that is over in a minute: two arms, one of them tuned, two seeds and one claim.

const SMALL = {
  threads: 1,
  'reference.demonstrations': 48,
  'reference.steps': 12,
  'reference.checkTasks': 4,
  'training.tasks': 8,
  'training.batch': 4,
};
export const TINY_STUDY = {
  title: 'A tiny study',
  question: 'Is a cluster the same laboratory?',
  base: {
    preset: 'shop-tiny',
    set: { ...SMALL, 'evaluation.tasks': 4, 'evaluation.finalTasks': 10 },
    parts: { 'evaluation.every': 0.5, 'checkpoints.every': 0.05 },
  },
  updates: 40,
  seeds: [1, 2],
  tuning: { trials: 2, seed: 101, tasks: 4 },
  arms: [
    { id: 'astar-po', title: 'A*PO', tune: true, set: { algorithm: 'astar-po' } },
    { id: 'reinforce', title: 'REINFORCE', set: { algorithm: 'reinforce' } },
  ],
  claims: [
    {
      id: 'heuristic',
      claim: 'A tiny policy does not reach the heuristic.',
      source: 'common sense',
      experiment: 'A*PO against the heuristic.',
      tests: [{ a: 'astar-po', b: 'heuristic', expect: 'lower' }],
    },
  ],
};
