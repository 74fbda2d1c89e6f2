// Why an episode failed, with the evidence in words, and what the stored names of failures mean. Knows no world: the classes
// and their detectors come from environment/failures.ts and from the worlds themselves.

import type { Environment } from '../environment/environment.ts';
import { type DiagnosisContext, failureClasses, type Played } from '../environment/failures.ts';
import { allFailures, BUILT_IN_WORLDS, type Worlds } from '../environment/registry.ts';

export interface Diagnosis {
  readonly failure: string;
  /** What was seen, in words and numbers. */
  readonly evidence: string;
}

/** The first class that fits; null for a success. */
export function diagnose(
  environment: Pick<Environment, 'diagnostics' | 'maxSteps'>,
  played: Played,
  { reachable }: Pick<DiagnosisContext, 'reachable'>,
): Diagnosis | null {
  if (played.success) return null;
  for (const { id, detect } of failureClasses(environment.diagnostics?.failures)) {
    const evidence = detect(played.steps, { maxSteps: environment.maxSteps, reachable });
    if (evidence !== undefined) return { failure: id, evidence };
  }
  throw new Error(`No failure class of the world fits an episode of ${played.steps.length} steps; the last class must fit every one`);
}

/** The names of all classes of a world: what its evaluations count. */
export const failureNames = (environment: Pick<Environment, 'diagnostics'>): string[] =>
  failureClasses(environment.diagnostics?.failures).map(({ id }) => id);

/** What a stored class means; of one that no world knows any more, its name. */
export const failureMeaning = (catalog: Worlds, id: string): string =>
  allFailures(catalog).find((failure) => failure.id === id)?.meaning ?? id;

const BUILT_IN_ORDER = allFailures({ worlds: BUILT_IN_WORLDS }).map(({ id }) => id);

/** Classes of the built-in worlds in their order, then `classes` in theirs, then the others: for tables of stored results. */
export function inOrder(names: Iterable<string>, classes: readonly string[] = []): string[] {
  const order = [...BUILT_IN_ORDER, ...classes];
  const place = (name: string): number => (order.includes(name) ? order.indexOf(name) : order.length);
  return [...new Set(names)].sort((a, b) => place(a) - place(b) || (a < b ? -1 : 1));
}
