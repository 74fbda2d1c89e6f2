// The same world with a price on invalid actions, for language models that answer freely: what it cannot parse costs reward, so that
// an algorithm which learns from the whole return learns to say what can be understood. It stays the same world: references, and evaluations
// by success, are those of any price; only V* depends on it (training/vstar-stage.ts).

import type { Environment, Turn } from './environment.ts';

export function penalised(inner: Environment, penalty: number): Environment {
  if (penalty === 0) return inner;
  const charged = <T extends Turn>(turn: T): T =>
    turn.valid ? turn : { ...turn, reward: turn.reward - penalty, reason: `${turn.reason}; cannot be understood: −${penalty.toFixed(2)}` };
  const { batching } = inner;
  const [lowest, highest] = inner.rewardRange;
  const [worst, best] = inner.returnRange;
  return {
    ...inner,
    rewardRange: [lowest - penalty, highest],
    returnRange: [worst - penalty * inner.maxSteps, best],
    step: (state, action) => charged(inner.step(state, action)),
    ...(batching && { batching: { ...batching, stepMany: (moves) => batching.stepMany(moves).map(charged) } }),
  };
}
