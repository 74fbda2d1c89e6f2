// The store and the queue of the window, opened together when a page first needs them. What the queue does is reported to
// every window through News; when the application quits, training processes end and their runs stay resumable.

import type { EventName, Payload } from '../../preload/contract.ts';
import type { LiveProgress, RunRow } from '../../preload/contract/runs.ts';
import type { RunSummary } from '../store/runs.ts';
import { Store } from '../store/store.ts';
import { launchWith } from '../process/launch.ts';
import { writerOptions } from '../queue/new-run.ts';
import { RunQueue } from '../queue/queue.ts';
import type { WorkerProcess } from '../process/supervisor.ts';
import { stageOf } from '../training/progress.ts';
import { CallFailure } from './dispatch.ts';
import { News } from './news.ts';
import type { Notifier } from './notify.ts';
import { OutsideChanges } from './outside.ts';
import { readPreferences } from './preferences.ts';
import { rowOf } from './rows.ts';

export interface Lab {
  readonly store: Store;
  readonly queue: RunQueue;
  /** A run as the list shows it. */
  row(run: RunSummary): RunRow;
  /** Notifies the windows that rows of the list have changed. */
  changed(...runs: readonly number[]): void;
  gone(runs: readonly number[]): void;
  close(): Promise<void>;
}

export function openLab(
  dataFolder: string,
  spawn: () => WorkerProcess,
  emit: <N extends EventName>(name: N, payload: Payload<N>) => void,
  notifier: Notifier,
): Lab {
  const store = openStore(dataFolder);
  const news = new News((changes) => emit('runs.changed', changes));
  /** What the runs of this queue do at this moment; of a paused one, what it did last. */
  const doing = new Map<number, LiveProgress>();
  const row = (run: RunSummary): RunRow => rowOf(store, run, doing.get(run.id) ?? null);
  // A deleted run's process may still report its end; the list must not get the run back by that.
  const notify = (run: RunSummary, what: 'changed' | 'progressed' = 'changed'): void => {
    if (run.deletedAt === null) news[what](run.id, () => row(store.runs.get(run.id)));
  };
  const queue = new RunQueue({
    store,
    launch: launchWith(spawn, dataFolder),
    concurrent: readPreferences(store).concurrent,
    writer: writerOptions,
    onChange: (run) => {
      if (run.state !== 'running' && run.state !== 'stopping' && run.state !== 'paused') doing.delete(run.id);
      notify(run);
      notifier.changed(run);
    },
    onReport: (run, report) => {
      if (report.type === 'progress') {
        const { phase, done, total, secondsLeft } = report;
        doing.set(run, { stage: stageOf(phase, report.update), phase, done, total, secondsLeft });
      }
      notify(store.runs.get(run), report.type === 'progress' ? 'progressed' : 'changed');
      if (report.type === 'event' && report.kind === 'alert') notifier.alert(store.runs.get(run), report.text);
    },
  });
  if (!store.readOnly) queue.start();
  const outside = new OutsideChanges(store, {
    onChanged: (run) => notify(run),
    onGone: (runs) => news.gone(runs),
  });
  return {
    store,
    queue,
    row,
    changed: (...runs) => runs.forEach((run) => notify(store.runs.get(run))),
    gone: (runs) => news.gone(runs),
    close: async () => {
      outside.stop();
      await queue.close();
      news.stop();
      store.close();
    },
  };
}

function openStore(dataFolder: string): Store {
  try {
    return Store.openOrLook(dataFolder);
  } catch (error) {
    throw new CallFailure(
      'store',
      error instanceof Error ? error.message : String(error),
      `Nothing was changed. The data folder is ${dataFolder}; a copy from before each upgrade is in its folder “backups”.`,
    );
  }
}
