// Puts the calls on their channel. One line per feature.

import { ipcMain } from 'electron';
import { CALL_CHANNEL, STREAM_CHANNEL } from '../../preload/channels.ts';
import type { calls } from '../../preload/contract.ts';
import type { Context } from './context.ts';
import { dispatch } from './dispatch.ts';
import type { Caller, Handlers } from './dispatch.ts';
import { compareHandlers } from './compare.ts';
import { metricHandlers } from './metrics.ts';
import { playHandlers } from './play.ts';
import { queueHandlers } from './queue.ts';
import { replayHandlers } from './replay.ts';
import { runHandlers } from './runs.ts';
import { settingsHandlers } from './settings.ts';
import { systemHandlers } from './system.ts';
import { trainingHandlers } from './training.ts';
import { webshopHandlers } from './webshop.ts';

export function registerCalls(context: Context): void {
  const handlers: Handlers<typeof calls> = {
    ...systemHandlers(context),
    ...trainingHandlers(context),
    ...runHandlers(context),
    ...queueHandlers(context),
    ...metricHandlers(context),
    ...replayHandlers(context),
    ...compareHandlers(context),
    ...playHandlers(context),
    ...webshopHandlers(context),
    ...settingsHandlers(context),
  };
  ipcMain.handle(CALL_CHANNEL, ({ senderFrame }, name: unknown, input: unknown) => {
    // Only a window's own top frame counts as a caller; its address is the browser's word, not the page's.
    const frame = senderFrame && senderFrame.parent === null ? senderFrame : null;
    const caller: Caller | null = frame && {
      url: frame.url,
      handOver: (port) => frame.postMessage(STREAM_CHANNEL, null, [port]),
    };
    return dispatch(handlers, caller, name, input);
  });
}
