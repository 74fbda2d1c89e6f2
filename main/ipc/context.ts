// The services behind the calls: each is made when first asked for and then shared by all handlers. The store, the
// queue and the environments get their line here; a handler file receives the context and nothing else.

import { BrowserWindow } from 'electron';
import type { EventName, Payload } from '../../preload/contract.ts';
import type { SettingsFile } from '../base/settings.ts';
import { Supervisor } from '../process/supervisor.ts';
import { broadcast } from './events.ts';
import { openLab } from './lab.ts';
import type { Lab } from './lab.ts';
import { createNotifier } from './notify.ts';
import { spawnUtility } from './utility.ts';

export interface Context {
  readonly dataFolder: string;
  readonly settings: SettingsFile;
  readonly worker: Supervisor;
  /** The store and the queue; opened when first asked for. Throws with a hint when the database cannot be opened. */
  readonly lab: Lab;
  /** Another window, on this address. */
  readonly openWindow: (address: string) => void;
  /** Sends an event to every window. */
  readonly emit: <N extends EventName>(name: N, payload: Payload<N>) => void;
  /** How many runs train now; opens nothing. */
  active(): number;
  /** Called once when the application quits. */
  close(): Promise<void>;
}

/** Brings a window to the front, on this run. */
function showRun(run: number): void {
  const window = BrowserWindow.getAllWindows()[0];
  window?.show();
  broadcast('window.navigate', { address: `/runs/${run}` });
}

export function createContext(dataFolder: string, settings: SettingsFile, openWindow: (address: string) => void): Context {
  let supervisor: Supervisor | undefined;
  let lab: Lab | undefined;
  const notifier = createNotifier((run) => showRun(run));
  return {
    dataFolder,
    settings,
    get worker() {
      return (supervisor ??= new Supervisor({ spawn: spawnUtility, onStatus: (status) => broadcast('worker.status', status) }));
    },
    get lab() {
      return (lab ??= openLab(dataFolder, spawnUtility, broadcast, notifier));
    },
    openWindow,
    emit: broadcast,
    active: () => lab?.store.runs.list().filter(({ state }) => state === 'running' || state === 'stopping').length ?? 0,
    async close() {
      supervisor?.stop();
      await lab?.close();
    },
  };
}
