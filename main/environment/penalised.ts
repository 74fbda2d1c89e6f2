// The same world with a price on invalid actions, for language models that answer freely: what it cannot parse costs reward, so that
// an algorithm which learns from the whole return learns to say what can be understood.

import type { Environment, Turn } from './environment.ts';

const originals = new WeakMap<Environment, Environment>();

/** The world without the price: demonstrations, and so references, do not depend on it. */
export const unpriced = (environment: Environment): Environment => originals.get(environment) ?? environment;

export function penalised(inner: Environment, penalty: number): Environment {
  if (penalty === 0) return inner;
  const charged = <T extends Turn>(turn: T): T =>
    turn.valid ? turn : { ...turn, reward: turn.reward - penalty, reason: `${turn.reason}; cannot be understood: −${penalty.toFixed(2)}` };
  const { stepMany } = inner;
  const [lowest, highest] = inner.rewardRange;
  const [worst, best] = inner.returnRange;
  const priced: Environment = {
    ...inner,
    settings: { world: inner.settings, invalidPenalty: penalty },
    rewardRange: [lowest - penalty, highest],
    returnRange: [worst - penalty * inner.maxSteps, best],
    step: (state, action) => charged(inner.step(state, action)),
    ...(stepMany && { stepMany: (moves: Parameters<typeof stepMany>[0]) => stepMany(moves).map(charged) }),
  };
  originals.set(priced, inner);
  return priced;
}
