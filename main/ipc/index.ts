// Puts the calls on their channel. What answers them (schemas, store, queue) is loaded while the window comes up; a call
// that comes earlier waits for it.

import { ipcMain } from 'electron';
import { CALL_CHANNEL } from '../../preload/channels.ts';
import type { SettingsFile } from '../base/settings.ts';
import type { Calls } from './calls.ts';
import type { Caller } from './dispatch.ts';

export interface Registered {
  /** How many runs train now; none before the first call was answered. */
  active(): number;
  /** Adds the runs of a file and shows them. */
  openFile(file: string): Promise<void>;
  /** Training processes end first, then the store. */
  close(): Promise<void>;
}

export function registerCalls(dataFolder: string, settings: SettingsFile, openWindow: (address: string) => void): Registered {
  let ready: Calls | null = null;
  const opened = import('./calls.ts').then(({ openCalls }) => (ready = openCalls(dataFolder, settings, openWindow)));
  ipcMain.handle(CALL_CHANNEL, async ({ senderFrame }, name: unknown, input: unknown) => {
    // Only a window's top frame counts as a caller; its address is the browser's word, not the page's.
    const frame = senderFrame && senderFrame.parent === null ? senderFrame : null;
    const caller: Caller | null = frame && { url: frame.url };
    return (await opened).answer(caller, name, input);
  });
  return {
    active: () => ready?.active() ?? 0,
    openFile: async (file) => (await opened).openFile(file),
    close: async () => (await opened).close(),
  };
}
