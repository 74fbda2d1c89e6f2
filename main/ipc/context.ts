// The services behind the calls: each is made when first asked for and then shared by all handlers. The store, the
// queue and the environments get their line here; a handler file receives the context and nothing else.

import type { EventName, Payload } from '../../preload/contract.ts';
import type { SettingsFile } from '../settings.ts';
import { Supervisor } from '../process/supervisor.ts';
import { broadcast } from './events.ts';
import { openLab } from './lab.ts';
import type { Lab } from './lab.ts';
import { spawnUtility } from './utility.ts';

export interface Context {
  readonly dataFolder: string;
  readonly settings: SettingsFile;
  readonly worker: Supervisor;
  /** The store and the queue; opened when first asked for. Throws with a hint when the database cannot be opened. */
  readonly lab: Lab;
  /** Tells every window. */
  readonly emit: <N extends EventName>(name: N, payload: Payload<N>) => void;
  /** Called once when the application quits. */
  close(): Promise<void>;
}

export function createContext(dataFolder: string, settings: SettingsFile): Context {
  let supervisor: Supervisor | undefined;
  let lab: Lab | undefined;
  return {
    dataFolder,
    settings,
    get worker() {
      return (supervisor ??= new Supervisor({ spawn: spawnUtility, onStatus: (status) => broadcast('worker.status', status) }));
    },
    get lab() {
      return (lab ??= openLab(dataFolder, spawnUtility, broadcast));
    },
    emit: broadcast,
    async close() {
      supervisor?.stop();
      await lab?.close();
    },
  };
}
