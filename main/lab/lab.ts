// The lab: the store, the queue and the worker process behind all calls. It is opened once in a process (main/lab/server.ts, or a command of
// the command line) and given to every feature. It knows nothing of Electron.

import { BUILT_IN, type Catalog } from '../config/catalog.ts';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectFolder } from '../base/paths.ts';
import { spawnChild } from '../process/child.ts';
import { launchWith } from '../process/launch.ts';
import { Supervisor } from '../process/supervisor.ts';
import { writerOptions } from '../queue/new-run.ts';
import { RunQueue } from '../queue/queue.ts';
import type { RunSummary } from '../store/runs.ts';
import { Store } from '../store/store.ts';
import { stageOf } from '../training/progress.ts';
import { CallFailure } from './definition.ts';
import type { Desktop } from './desktop.ts';
import { ExternalWrites } from './external-writes.ts';
import type { EventName, Payload, Read } from './features.ts';
import { readPreferences } from './features/preferences.ts';
import { News } from './news.ts';
import { Readers } from './readers.ts';
import { listStudies, type LiveProgress, rowOf, type RunRow } from './rows.ts';
import { createNotices } from './run-notices.ts';

/** Sends an event to every window. */
export type Emit = <N extends EventName>(name: N, payload: Payload<N>) => void;

export interface Lab {
  readonly dataFolder: string;
  /** Of the application. */
  readonly version: string;
  readonly desktop: Desktop;
  readonly emit: Emit;
  /** Opened when first asked for, together with the queue. Throws with a hint when the database cannot be opened. */
  readonly store: Store;
  readonly queue: RunQueue;
  /** A run as the list shows it. */
  row(run: RunSummary): RunRow;
  /** Runs a read of a feature in a thread with a read-only connection. */
  readonly read: Read;
  readonly readers: Pick<Readers, 'read' | 'renew'>;
  /** The worker process, for work that computes but does not train. */
  readonly worker: Supervisor;
  /** What runs can be made of: the built-in catalog, until the plug-ins are loaded. */
  readonly catalog: Catalog;
  useCatalog(catalog: Catalog): void;
  /** Notifies the windows that rows of the list have changed, or are gone. */
  changed(...runs: readonly number[]): void;
  gone(runs: readonly number[]): void;
  /** Sends the list of studies to the windows. */
  studiesChanged(): void;
  /** Called when the lab closes. */
  onClose(end: () => void): void;
  /** Training processes end first, so that their runs are stored as interrupted; then the store. */
  close(): Promise<void>;
}

export interface LabParts {
  readonly desktop: Desktop;
  readonly emit: Emit;
  /** A lab before this one has ended unexpectedly: what it trained is trained again. */
  readonly continues: boolean;
  /** So many runs train now. */
  readonly onTraining: (runs: number) => void;
}

export function createLab(dataFolder: string, parts: LabParts): Lab {
  const { desktop, emit } = parts;
  let supervisor: Supervisor | undefined;
  let opened: Opened | undefined;
  let catalog = BUILT_IN;
  let readers: Readers | undefined;
  const ends: (() => void)[] = [];
  const open = (): Opened => (opened ??= openRuns(dataFolder, catalog, parts));
  // The store first, so that there is a database to read.
  const readersOf = (): Readers => (readers ??= new Readers(dataFolder, open().store.readOnly));
  return {
    dataFolder,
    version: projectVersion(),
    desktop,
    emit,
    get store() {
      return open().store;
    },
    get queue() {
      return open().queue;
    },
    get catalog() {
      return catalog;
    },
    useCatalog: (next) => {
      catalog = next;
      if (opened) opened.store.catalog = next;
    },
    get worker() {
      return (supervisor ??= new Supervisor({ spawn: spawnChild, onStatus: (status) => emit('worker.status', status) }));
    },
    row: (run) => open().row(run),
    get readers() {
      return readersOf();
    },
    // A thread answers with what the feature's read returns, of which only the types know.
    read: ((...asked: Parameters<Readers['read']>) => readersOf().read(...asked)) as Read,
    changed: (...runs) => {
      const { store, changed } = open();
      for (const run of runs) changed(store.runs.summary(run));
    },
    gone: (runs) => open().news.gone(runs),
    studiesChanged: () => emit('studies.changed', listStudies(open().store)),
    onClose: (end) => ends.push(end),
    async close() {
      for (const end of ends) end();
      supervisor?.stop();
      readers?.close();
      await opened?.close();
    },
  };
}

interface Opened {
  readonly store: Store;
  readonly queue: RunQueue;
  readonly news: News;
  row(run: RunSummary): RunRow;
  changed(run: RunSummary): void;
  close(): Promise<void>;
}

/** The store, the queue that writes to it, and the news of both for the windows. */
function openRuns(dataFolder: string, catalog: Catalog, { desktop, emit, continues, onTraining }: LabParts): Opened {
  const store = openStore(dataFolder, catalog);
  const notices = createNotices((run, title, body) => void desktop.notify(run, title, body));
  const news = new News((changes) => emit('runs.changed', changes));
  /** What the runs of this queue do at this moment; of a paused one, what it did last. */
  const doing = new Map<number, LiveProgress>();
  const row = (run: RunSummary): RunRow => rowOf(store, run, doing.get(run.id) ?? null);
  // A deleted run's process may still report its end; the list must not get the run back by that.
  const notify = (run: RunSummary, what: 'changed' | 'progressed'): void => {
    if (run.deletedAt === null) news[what](run.id, () => row(store.runs.summary(run.id)));
  };
  const changed = (run: RunSummary): void => notify(run, 'changed');
  const queue = new RunQueue({
    store,
    launch: launchWith(spawnChild, dataFolder),
    concurrent: readPreferences(store).concurrent,
    writer: writerOptions,
    onChange: (run) => {
      if (run.state !== 'running' && run.state !== 'stopping' && run.state !== 'paused') doing.delete(run.id);
      changed(run);
      onTraining(queue.training);
      notices.changed(run);
    },
    onReport: (run, report) => {
      if (report.type === 'progress') {
        const { phase, done, total, secondsLeft } = report;
        doing.set(run, { stage: stageOf(phase, report.update), phase, done, total, secondsLeft });
      }
      notify(store.runs.summary(run), report.type === 'progress' ? 'progressed' : 'changed');
      if (report.type === 'event' && report.kind === 'alert') notices.alert(store.runs.get(run), report.text);
    },
  });
  if (!store.readOnly) queue.start({ continues });
  const external = new ExternalWrites(store, {
    onChanged: changed,
    onGone: (runs) => news.gone(runs),
    onStudies: () => emit('studies.changed', listStudies(store)),
  });
  return {
    store,
    queue,
    news,
    row,
    changed,
    close: async () => {
      external.stop();
      await queue.close();
      news.stop();
      store.close();
    },
  };
}

function openStore(dataFolder: string, catalog: Catalog): Store {
  try {
    return Store.openOrLook(dataFolder, catalog);
  } catch (error) {
    throw new CallFailure(
      'store',
      error instanceof Error ? error.message : String(error),
      `Nothing was changed. The data folder is ${dataFolder}; a copy from before each upgrade is in its folder “backups”.`,
    );
  }
}

function projectVersion(): string {
  const { version } = JSON.parse(readFileSync(join(projectFolder(), 'package.json'), 'utf8')) as { version: string };
  return version;
}
