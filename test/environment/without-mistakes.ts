import type { Imperfection, World } from '../../main/environment/environment.ts';

/** No chance of a mistake; what recipes leave out is rather a habit and stays. */
export const withoutMistakes = ({ mistakes }: World): Imperfection =>
  Object.fromEntries(Object.entries(mistakes).flatMap(([name, { added }]) => (added ? [] : [[name, 0]])));
