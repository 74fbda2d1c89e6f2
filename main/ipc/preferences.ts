// What the user prefers for all runs: how many train at once, and which episodes new runs keep. In the database, because
// the queue needs it before any page is open.

import { preferences } from '../../preload/contract/settings.ts';
import type { Preferences } from '../../preload/contract/settings.ts';
import type { Store } from '../store/store.ts';

const KEY = 'preferences';
const DEFAULT: Preferences = { concurrent: 1, retention: null };

export function readPreferences(store: Store): Preferences {
  return store.settings.get(KEY, preferences, DEFAULT);
}

export function writePreferences(store: Store, value: Preferences): void {
  store.settings.set(KEY, preferences.parse(value));
}
