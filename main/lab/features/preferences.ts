// What the user prefers for all runs: how many train at once, and which episodes new runs keep. In the database, because the queue needs it
// before any page is open.

import { availableParallelism } from 'node:os';
import { z } from 'zod';
import { MOST_CONCURRENT, retentions } from '../../base/vocabulary.ts';
import type { Store } from '../../store/store.ts';
import { type Handlers, nothing } from '../definition.ts';
import type { Lab } from '../lab.ts';

const preferences = z.object({
  concurrent: z.int().min(1).max(MOST_CONCURRENT),
  /** Which episodes new runs keep; null: as their preset says. */
  retention: z.enum(retentions).nullable(),
});
export type Preferences = z.infer<typeof preferences>;

export const calls = {
  'preferences.read': { input: nothing, answer: preferences.extend({ threads: z.number() }) },
  'preferences.change': { input: preferences, answer: preferences.extend({ threads: z.number() }) },
};

const KEY = 'preferences';
const DEFAULT: Preferences = { concurrent: 1, retention: null };

export function readPreferences(store: Store): Preferences {
  return store.settings.get(KEY, preferences, DEFAULT);
}

function writePreferences(store: Store, value: Preferences): void {
  store.settings.set(KEY, preferences.parse(value));
}

export function handlers(lab: Lab): Handlers<typeof calls> {
  const preferences = () => ({ ...readPreferences(lab.store), threads: availableParallelism() });

  return {
    'preferences.read': () => preferences(),

    'preferences.change': (wanted) => {
      writePreferences(lab.store, wanted);
      lab.queue.setConcurrent(wanted.concurrent);
      return preferences();
    },
  };
}
