// The bridge: the only thing the page can reach outside itself. It runs in Electron's sandbox with two fixed
// channels and no knowledge of single calls: which exist and what they take is checked in the main process, against
// the contract. Functions and plain data cross; ipcRenderer itself never does.

import { contextBridge, ipcRenderer, webUtils } from 'electron';
import { CALL_CHANNEL, EVENT_CHANNEL } from './channels.ts';
import type { Bridge } from './contract.ts';

// One for each event that the page hears, of which there are more than ten.
ipcRenderer.setMaxListeners(0);

const bridge = {
  call: (name, input) => ipcRenderer.invoke(CALL_CHANNEL, name, input),
  listen: (name, listener) => {
    const forward = (_event: unknown, heard: string, payload: Parameters<typeof listener>[0]): void => {
      if (heard === name) listener(payload);
    };
    ipcRenderer.on(EVENT_CHANNEL, forward);
    return () => {
      ipcRenderer.off(EVENT_CHANNEL, forward);
    };
  },
  pathOf: (file) => webUtils.getPathForFile(file),
} satisfies Bridge;

contextBridge.exposeInMainWorld('astrolab', bridge);
