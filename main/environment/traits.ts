// What episodes have in common: properties that an episode has or does not have, so that successes can be compared with failures. A world
// declares its traits beside its failure classes; evaluation/conduct.ts counts them.

import type { PlayedStep } from './failures.ts';

export interface Trait {
  readonly id: string;
  /** For tables. */
  readonly title: string;
  /** What it means, in one sentence. */
  readonly meaning: string;
  detect(steps: readonly PlayedStep[]): boolean;
}

/** Of worlds in which things are searched, opened and bought by number. */
export const PURCHASE_TRAITS: readonly Trait[] = [
  {
    id: 'click-before-buy',
    title: 'opened what it bought',
    meaning: 'The page of a product that was bought had been opened before',
    detect: (steps) =>
      steps.some(
        ({ facts }, index) => facts.kind === 'buy' && steps.slice(0, index).some((earlier) => earlier.facts.clicked === facts.bought),
      ),
  },
  {
    id: 'first-search-finds',
    title: 'first search shows the target',
    meaning: 'The first search lists what is wanted',
    detect: (steps) => steps.find(({ facts }) => facts.kind === 'search')?.facts.targetShown === true,
  },
  {
    id: 'repeated-search',
    title: 'repeats a search',
    meaning: 'A search is repeated, in the same or other words for the same',
    detect: (steps) => steps.some(({ facts }) => facts.kind === 'search' && facts.repeated === true),
  },
];
