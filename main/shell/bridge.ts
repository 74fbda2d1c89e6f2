// The guarded bridge between a window and the lab: who may call is checked here, what may be called and how by the lab (main/lab/answer.ts).

import { BrowserWindow, ipcMain } from 'electron';
import { CALL_CHANNEL, EVENT_CHANNEL } from '../../preload/channels.ts';
import type { EventName, Outcome, Payload } from '../../preload/contract.ts';
import { refusal } from './origin.ts';

/** Puts the lab's answers on the channel. */
export function answerCalls(answer: (name: unknown, input: unknown) => Promise<Outcome<unknown>>): void {
  ipcMain.handle(CALL_CHANNEL, ({ senderFrame }, name: unknown, input: unknown) => refusal(senderFrame) ?? answer(name, input));
}

/** Sends an event to one window. */
export function send<N extends EventName>(window: BrowserWindow, name: N, payload: Payload<N>): void {
  if (!window.webContents.isDestroyed()) window.webContents.send(EVENT_CHANNEL, name, payload);
}

/** Sends an event to every window. */
export function broadcast<N extends EventName>(name: N, payload: Payload<N>): void {
  relay(name, payload);
}

/** An event of the lab, which has checked it. */
export function relay(name: string, payload: unknown): void {
  for (const { webContents } of BrowserWindow.getAllWindows())
    if (!webContents.isDestroyed()) webContents.send(EVENT_CHANNEL, name, payload);
}
