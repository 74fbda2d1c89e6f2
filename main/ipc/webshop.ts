// WebShop's original data: which folder the user has, importing one (in a process of its own, with progress), stopping that.

import { statSync } from 'node:fs';
import { dialog } from 'electron';
import { z } from 'zod';
import type { WebshopState, webshopCalls } from '../../preload/contract/webshop.ts';
import { type Import, startImport } from '../environment/webshop/import.ts';
import type { Context } from './context.ts';
import { CallFailure } from './dispatch.ts';
import type { Handlers } from './dispatch.ts';

const IMPORTED = 'webshop.imported';
const imported = z
  .object({
    folder: z.string(),
    products: z.number(),
    goals: z.number(),
    index: z.string(),
    indexBytes: z.number(),
    notes: z.number(),
    seconds: z.number(),
  })
  .nullable();
/** An estimate from less than this share would jump about. */
const ENOUGH = 0.05;

/** The folder that was imported; without one the user is told where to do it. */
export function importedFolder(context: Context): string {
  const found = context.lab.store.settings.get(IMPORTED, imported, null);
  if (!found) throw new CallFailure('no-data', 'The original WebShop data was not imported yet.', 'Import it in Settings.');
  return found.folder;
}

export function webshopHandlers(context: Context): Handlers<typeof webshopCalls> {
  let running: { readonly work: Import; now: NonNullable<WebshopState['importing']> } | null = null;
  const state = (): WebshopState => ({
    imported: context.lab.store.settings.get(IMPORTED, imported, null),
    importing: running && running.now,
  });
  const tell = (): void => context.emit('webshop.changed', state());

  return {
    'webshop.state': () => state(),

    'webshop.choose': async () => {
      const { filePaths, canceled } = await dialog.showOpenDialog({
        title: 'The data folder of WebShop',
        buttonLabel: 'Choose',
        properties: ['openDirectory'],
      });
      return { folder: canceled ? null : (filePaths[0] ?? null) };
    },

    'webshop.import': async ({ folder }) => {
      if (running) throw new CallFailure('busy-import', `${running.now.folder} is being imported.`, 'Wait until it is done, or cancel it.');
      if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
        throw new CallFailure(
          'not-found',
          `There is no folder ${folder}.`,
          'Choose the folder that holds items_shuffle.json or items_shuffle_1000.json.',
        );
      }
      const began = performance.now();
      const work = startImport(folder, (share, what) => {
        if (!running) return;
        const seconds = (performance.now() - began) / 1000;
        running.now = { folder, share, what, secondsLeft: share < ENOUGH || share >= 1 ? null : (seconds / share) * (1 - share) };
        tell();
      });
      running = { work, now: { folder, share: 0, what: 'reading', secondsLeft: null } };
      tell();
      try {
        const found = await work.finished;
        context.lab.store.settings.set(IMPORTED, { folder, ...found, seconds: (performance.now() - began) / 1000 });
      } finally {
        running = null;
        tell();
      }
      return state();
    },

    'webshop.cancel': () => {
      running?.work.cancel();
      return {};
    },

    'webshop.forget': () => {
      context.lab.store.settings.remove(IMPORTED);
      tell();
      return state();
    },
  };
}
