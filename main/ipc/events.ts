// Events from the main process to the page. A payload is parsed on departure, so a window never has
// to doubt it.

import { BrowserWindow } from 'electron';
import { EVENT_CHANNEL } from '../../preload/channels.ts';
import { events } from '../../preload/contract.ts';
import type { EventName, Payload } from '../../preload/contract.ts';

/** Sends an event to one window. */
export function tell<N extends EventName>(window: BrowserWindow, name: N, payload: Payload<N>): void {
  window.webContents.send(EVENT_CHANNEL, name, events[name].parse(payload));
}

export function broadcast<N extends EventName>(name: N, payload: Payload<N>): void {
  const parsed = events[name].parse(payload);
  for (const window of BrowserWindow.getAllWindows()) {
    if (!window.webContents.isDestroyed()) window.webContents.send(EVENT_CHANNEL, name, parsed);
  }
}
