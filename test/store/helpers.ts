// What the store's tests share: a fresh data folder and a store that are gone when the test ends.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Store } from '../../main/store/store.ts';
import { cleanUps } from './clean-ups.ts';

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'astrolab-store-'));
  cleanUps.push(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A store that is closed when the test ends. */
export function openStore(folder = temporaryFolder()): Store {
  const store = Store.open(folder);
  cleanUps.push(() => store.close());
  return store;
}
