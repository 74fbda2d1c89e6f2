// Why an episode failed, in one of five classes, with the evidence in words. Knows no world: it reads the facts that worlds
// attach to their steps (kind, repeated, bought, answered, targetShown …), falls back on the actions themselves, and is told whether
// the target could be reached at all.

import type { Facts } from '../environment/environment.ts';

export const FAILURES = {
  'search-loop': 'Search loop: repeats itself and never buys',
  'wrong-purchase': 'Wrong purchase: ends with the wrong choice',
  unreachable: 'Unreachable target: no sequence of allowed actions reaches it',
  timeout: 'Timeout: runs out of steps without deciding or repeating itself',
  'invalid-actions': 'Invalid actions: at least half of its actions are invalid',
} as const;
export type FailureClass = keyof typeof FAILURES;
export const FAILURE_CLASSES: readonly FailureClass[] = ['search-loop', 'wrong-purchase', 'unreachable', 'timeout', 'invalid-actions'];

/** As much of a trajectory as a diagnosis needs. */
export interface Played {
  readonly success: boolean;
  readonly steps: readonly { readonly action: string; readonly valid: boolean; readonly facts: Facts }[];
}

export interface Diagnosis {
  readonly failure: FailureClass;
  /** What was seen, in words and numbers. */
  readonly evidence: string;
}

export interface DiagnosisContext {
  readonly maxSteps: number;
  /** False when the world says that the target cannot be reached under its settings. */
  readonly reachable: boolean;
}

/** Repeats from which an undecided episode counts as a loop. */
const LOOP_REPEATS = 2;

/** Null for a success. */
export function diagnose(played: Played, context: DiagnosisContext): Diagnosis | null {
  if (played.success) return null;
  const { steps } = played;
  const last = steps.at(-1);
  if (!context.reachable)
    return { failure: 'unreachable', evidence: 'The world’s settings leave no sequence of actions that reaches the target.' };
  const invalid = steps.filter((step) => !step.valid);
  if (steps.length > 0 && invalid.length * 2 >= steps.length) {
    return {
      failure: 'invalid-actions',
      evidence: `${invalid.length} of ${steps.length} actions were invalid, for example “${invalid[0]?.action}”.`,
    };
  }
  if (last && decided(last.facts, steps.length < context.maxSteps))
    return { failure: 'wrong-purchase', evidence: wrongDecision(last, steps) };
  const repeats = steps.filter((step, i) => isRepeat(step, steps.slice(0, i)));
  if (repeats.length >= LOOP_REPEATS) {
    const [favourite, times] = mostSaid(steps);
    const searches = steps.filter((step) => step.facts.kind === 'search').length;
    const what = searches > 0 ? `Searched ${searches} times` : `Acted ${steps.length} times`;
    const most = times > 1 ? ` (“${favourite}” ${times} times)` : '';
    return {
      failure: 'search-loop',
      evidence: `${what}, ${repeats.length} steps said again what had been said${most}, and never decided.`,
    };
  }
  const shown = steps.some((step) => step.facts.targetShown === true);
  const seen = shown
    ? ' The target had been shown.'
    : steps.some((step) => 'targetShown' in step.facts)
      ? ' The target was never shown.'
      : '';
  return { failure: 'timeout', evidence: `Used all ${steps.length} steps without deciding.${seen}` };
}

/** The last action was a decision: it bought or answered, or it ended the episode early. */
function decided(facts: Facts, endedEarly: boolean): boolean {
  return facts.bought !== undefined || facts.answered !== undefined || facts.kind === 'buy' || facts.kind === 'answer' || endedEarly;
}

function wrongDecision(last: Played['steps'][number], steps: Played['steps']): string {
  const what = `Decided with “${last.action}” after ${steps.length} ${steps.length === 1 ? 'step' : 'steps'}`;
  if (last.facts.right === true) return `${what}: the right thing, but not all that was asked for was right about it.`;
  const target = last.facts.targetShown ?? null;
  if (target === true) return `${what}, although the right one had been shown.`;
  if (target === false) return `${what}; the right one had never been shown.`;
  return `${what}, which was wrong.`;
}

/** The world's own word on it (shop: the same search in other words), else the very same action. */
function isRepeat(step: Played['steps'][number], before: Played['steps']): boolean {
  if (typeof step.facts.repeated === 'boolean') return step.facts.repeated;
  return before.some((earlier) => earlier.action === step.action);
}

function mostSaid(steps: Played['steps']): [string, number] {
  const counts = new Map<string, number>();
  for (const { action } of steps) counts.set(action, (counts.get(action) ?? 0) + 1);
  return [...counts].reduce((best, entry) => (entry[1] > best[1] ? entry : best), ['', 0] as [string, number]);
}
