// Puts the calls on their channel. What answers them (schemas, store, queue) is loaded while the window comes up; a call
// that comes earlier waits for it.

import { ipcMain } from 'electron';
import { CALL_CHANNEL } from '../../preload/channels.ts';
import type { SettingsFile } from '../settings.ts';
import type { Caller } from './dispatch.ts';

/** Returns how to end it: training processes first, then the store. */
export function registerCalls(dataFolder: string, settings: SettingsFile): () => Promise<void> {
  const opened = import('./calls.ts').then(({ openCalls }) => openCalls(dataFolder, settings));
  ipcMain.handle(CALL_CHANNEL, async ({ senderFrame }, name: unknown, input: unknown) => {
    // Only a window's own top frame counts as a caller; its address is the browser's word, not the page's.
    const frame = senderFrame && senderFrame.parent === null ? senderFrame : null;
    const caller: Caller | null = frame && { url: frame.url };
    return (await opened).answer(caller, name, input);
  });
  return async () => (await opened).close();
}
