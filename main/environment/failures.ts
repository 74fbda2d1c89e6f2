// Why an episode failed: classes with a detector each. A few hold in every world (the target cannot be reached, actions are
// not possible, the steps run out); the others are declared by the worlds, which know what their facts mean.

import type { Facts } from './environment.ts';

/** As much of a trajectory as a diagnosis needs. */
export interface Played {
  readonly success: boolean;
  readonly steps: readonly PlayedStep[];
}

export interface PlayedStep {
  readonly action: string;
  readonly valid: boolean;
  readonly facts: Facts;
}

export interface DiagnosisContext {
  readonly maxSteps: number;
  /** False when the world says that the target cannot be reached under its settings. */
  readonly reachable: boolean;
}

export interface FailureClass {
  /** As it is stored with every episode; never renamed. */
  readonly id: string;
  /** For charts and tables. */
  readonly title: string;
  /** What it means, in one sentence. */
  readonly meaning: string;
  /** What is counted, for the glossary; "÷ all episodes" is added. */
  readonly counted: string;
  /** What was seen, in words and numbers; undefined where the episode did not fail this way. */
  detect(steps: readonly PlayedStep[], context: DiagnosisContext): string | undefined;
}

/** Of worlds in other processes: what the world itself says about it, or what went wrong with it. */
export const EXTERNAL_FAILURES: readonly FailureClass[] = [
  {
    id: 'world-error',
    title: 'Errors of the world',
    meaning: 'Error of the world: its program crashed, did not answer or answered with an error',
    counted: 'Episodes that an error of the world ended',
    detect: (steps) => {
      const facts = steps.at(-1)?.facts;
      return facts?.kind === 'world-error' ? String(facts.error ?? '') : undefined;
    },
  },
  {
    id: 'world-failure',
    title: 'Failures reported by the world',
    meaning: 'The world itself reports why the episode failed',
    counted: 'Failed episodes for which the world gives a reason',
    detect: (steps) => {
      const failure = steps.at(-1)?.facts.failure;
      return typeof failure === 'string' && failure !== 'world-error' ? `The world says: ${failure}.` : undefined;
    },
  },
];

const UNREACHABLE: FailureClass = {
  id: 'unreachable',
  title: 'Unreachable targets',
  meaning: 'Unreachable target: no sequence of allowed actions reaches it',
  counted: 'Episodes whose target no sequence of allowed actions reaches',
  detect: (_steps, { reachable }) => (reachable ? undefined : 'The world’s settings leave no sequence of actions that reaches the target.'),
};

const INVALID: FailureClass = {
  id: 'invalid-actions',
  title: 'Invalid actions',
  meaning: 'Invalid actions: at least half of its actions are invalid',
  counted: 'Failed episodes in which at least half of the actions were invalid',
  detect(steps) {
    const invalid = steps.filter((step) => !step.valid);
    if (steps.length === 0 || invalid.length * 2 < steps.length) return undefined;
    return `${invalid.length} of ${steps.length} actions were invalid, for example “${invalid[0]?.action}”.`;
  },
};

const TIMEOUT: FailureClass = {
  id: 'timeout',
  title: 'Timeouts',
  meaning: 'Timeout: uses all its steps without reaching the goal and without repeating itself',
  counted: 'Episodes that used all their steps without a decision and without a loop',
  detect(steps) {
    const shown = steps.some((step) => step.facts.targetShown === true);
    const known = steps.some((step) => 'targetShown' in step.facts);
    return `Used all ${steps.length} steps.${shown ? ' The target had been shown.' : known ? ' The target was never shown.' : ''}`;
  },
};

/** Repeats from which an episode without an end counts as a loop. */
const LOOP_REPEATS = 2;

/** What the world says about it (the same search in other words), else the very same action. */
function isRepeat(step: PlayedStep, before: readonly PlayedStep[]): boolean {
  if (typeof step.facts.repeated === 'boolean') return step.facts.repeated;
  return before.some((earlier) => earlier.action === step.action);
}

/** How many steps repeated earlier ones, and the favourite action, where there are enough of them for a loop. */
export function loopIn(steps: readonly PlayedStep[]): { readonly repeats: number; readonly favourite: string } | undefined {
  const repeats = steps.filter((step, index) => isRepeat(step, steps.slice(0, index))).length;
  if (repeats < LOOP_REPEATS) return undefined;
  const counts = new Map<string, number>();
  for (const { action } of steps) counts.set(action, (counts.get(action) ?? 0) + 1);
  const [action, times] = [...counts].reduce((best, entry) => (entry[1] > best[1] ? entry : best), ['', 0] as [string, number]);
  return { repeats, favourite: times > 1 ? ` (“${action}” ${times} times)` : '' };
}

/** For worlds that declare no classes: the episode ended before its steps ran out, or it went in circles. */
const FAILED_END: FailureClass = {
  id: 'failed-end',
  title: 'Failed ends',
  meaning: 'Failed end: an action ended the episode without success',
  counted: 'Episodes that ended early and without success',
  detect(steps, { maxSteps }) {
    const last = steps.at(-1);
    if (!last || steps.length >= maxSteps) return undefined;
    return `Ended with “${last.action}” after ${steps.length} ${steps.length === 1 ? 'step' : 'steps'}.`;
  },
};
const LOOP: FailureClass = {
  id: 'loop',
  title: 'Loops',
  meaning: 'Loop: repeats itself until its steps run out',
  counted: 'Episodes that repeat themselves until their steps run out',
  detect(steps) {
    const loop = loopIn(steps);
    return loop && `${loop.repeats} of ${steps.length} steps repeated an earlier one${loop.favourite}.`;
  },
};
export const USUAL_FAILURES: readonly FailureClass[] = [FAILED_END, LOOP];

/** All classes of a world in the order in which they are looked for; the first that fits is the episode's. */
export const failureClasses = (own: readonly FailureClass[] | undefined): readonly FailureClass[] => [
  UNREACHABLE,
  INVALID,
  ...(own ?? USUAL_FAILURES),
  TIMEOUT,
];
