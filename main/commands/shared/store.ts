// What commands that read or write runs share: the store of the data folder, and a run by its number or name.

import { recover } from '../../queue/recover.ts';
import { RunLocked } from '../../store/locks.ts';
import { Store } from '../../store/store.ts';
import { catalog } from './catalog.ts';
import { CallError, dataFolder, note } from './output.ts';

/** Opens the store for the length of `work`. */
export async function withStore<T>(work: (store: Store) => Promise<T> | T): Promise<T> {
  const store = Store.openOrLook(dataFolder(), catalog());
  try {
    if (store.readOnly) note(`${store.dataFolder} is read-only: opened for looking and exporting`);
    // A run whose process is gone is never shown as running.
    else recover(store);
    return await work(store);
  } catch (error) {
    if (store.readOnly && isReadOnlyWrite(error))
      throw new CallError(
        `${store.dataFolder} is read-only: nothing can be changed or trained there`,
        'Choose another folder with --data DIR, or make it writable',
      );
    if (error instanceof RunLocked) throw new CallError(error.message, 'Nothing was changed. `lab runs` shows how far it is');
    throw error;
  } finally {
    store.close();
  }
}

const isReadOnlyWrite = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_READONLY');

export function findRun(store: Store, reference: string): number {
  try {
    return store.runs.resolve(reference).id;
  } catch (error) {
    throw new CallError(error instanceof Error ? error.message : String(error), '`lab runs` lists the runs');
  }
}
