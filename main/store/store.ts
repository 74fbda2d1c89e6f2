// The store as one object: a connection and everything that reads and writes through it. The main process (or the
// command line) opens the one writer; pages, exports and workers may open as many readers as they like.

import { statSync } from 'node:fs';
import { BUILT_IN, type Catalog } from '../config/catalog.ts';
import { CheckpointStore } from './checkpoints.ts';
import { type Connection, databaseFile, isReadOnly, openCopy, openDatabase, openReader } from './database.ts';
import { Dictionary } from './dictionary.ts';
import { EpisodeNotes } from './episode-notes.ts';
import { EpisodeList } from './episodes.ts';
import { EvaluationStore } from './evaluations.ts';
import { EventStore } from './events.ts';
import { RunLocks } from './locks.ts';
import { MetricStore } from './metrics.ts';
import { ReferencePolicyStore } from './reference-policies.ts';
import { RunStore } from './runs.ts';
import { SettingStore } from './settings.ts';
import { StudyStore } from './studies.ts';
import { TrajectoryStore } from './trajectories.ts';
import { VstarCache } from './vstar-cache.ts';

export class Store {
  readonly dataFolder: string;
  /** What its configs are made of; replaced when plug-ins come or go. */
  catalog: Catalog;
  readonly db: Connection;
  readonly dictionary: Dictionary;
  readonly runs: RunStore;
  readonly locks: RunLocks;
  readonly metrics: MetricStore;
  readonly trajectories: TrajectoryStore;
  readonly episodes: EpisodeList;
  readonly notes: EpisodeNotes;
  readonly events: EventStore;
  readonly checkpoints: CheckpointStore;
  readonly evaluations: EvaluationStore;
  readonly vstar: VstarCache;
  readonly references: ReferencePolicyStore;
  readonly studies: StudyStore;
  readonly settings: SettingStore;
  /** Which file on which disk the connection is open on. */
  readonly #file: string;

  /** Opened for looking and exporting: the folder cannot be written to. */
  readonly readOnly: boolean;
  readonly #onClose: () => void;

  private constructor(dataFolder: string, catalog: Catalog, db: Connection, readOnly = false, onClose = (): void => {}) {
    this.catalog = catalog;
    this.readOnly = readOnly;
    this.#onClose = onClose;
    this.dataFolder = dataFolder;
    this.db = db;
    this.dictionary = new Dictionary(db);
    this.runs = new RunStore(db);
    this.locks = new RunLocks(db);
    this.metrics = new MetricStore(db, this.dictionary);
    this.trajectories = new TrajectoryStore(db, this.dictionary);
    this.episodes = new EpisodeList(db, this.dictionary);
    this.notes = new EpisodeNotes(db);
    this.events = new EventStore(db);
    this.checkpoints = new CheckpointStore(db, dataFolder);
    this.evaluations = new EvaluationStore(db, this.dictionary, this.runs);
    this.vstar = new VstarCache(db, this.dictionary);
    this.references = new ReferencePolicyStore(db, dataFolder);
    this.studies = new StudyStore(db);
    this.settings = new SettingStore(db);
    this.#file = identity(dataFolder);
  }

  /** The writer: creates and upgrades the database as needed. */
  static open(dataFolder: string, catalog: Catalog = BUILT_IN): Store {
    return new Store(dataFolder, catalog, openDatabase(databaseFile(dataFolder), { catalog }));
  }

  /** The writer, or, where the folder is read-only, a look at a copy of the database. */
  static openOrLook(dataFolder: string, catalog: Catalog = BUILT_IN): Store {
    if (!isReadOnly(dataFolder)) return Store.open(dataFolder, catalog);
    const { db, remove } = openCopy(databaseFile(dataFolder), catalog);
    return new Store(dataFolder, catalog, db, true, remove);
  }

  /** A reader: cannot write, never waits for the writer. */
  static read(dataFolder: string, catalog: Catalog = BUILT_IN): Store {
    return new Store(dataFolder, catalog, openReader(databaseFile(dataFolder)));
  }

  /** One transaction: all of it is stored, or nothing. */
  write<T>(work: () => T): T {
    return this.dictionary.write(work);
  }

  /**
   * Whether the data folder still holds the file that is open here. SQLite itself does not notice that the folder was moved,
   * deleted or unmounted: it continues writing into a file that nobody will find again.
   */
  present(): boolean {
    return identity(this.dataFolder) === this.#file;
  }

  close(): void {
    this.db.close();
    this.#onClose();
  }
}

/** The same for as long as the same database lies in the folder; empty when there is none. */
function identity(dataFolder: string): string {
  const found = statSync(databaseFile(dataFolder), { throwIfNoEntry: false });
  return found === undefined ? '' : `${found.dev} ${found.ino}`;
}
