// Checkpoint files and their rows. The order makes them safe: the file is complete and flushed before its row is stored. A crash in between leaves at most a file without a row, which
// `sweep` removes. A row whose file is gone or altered is never offered for resuming.

import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { sha256 } from '../base/canonical.ts';
import { folderInside } from '../base/paths.ts';
import type { CheckpointFile } from '../training/host.ts';
import type { Connection } from './database.ts';

export interface Checkpoint extends CheckpointFile {
  readonly run: number;
  /** Survives the pruning of old ones (the final one, the best one, those a user asked for). */
  readonly kept: boolean;
  readonly createdAt: number;
}

interface Row {
  run_id: number;
  update_no: number;
  file: string;
  sha256: string;
  bytes: number;
  kept: number;
  created_at: number;
}

const UNFINISHED = '-unfinished';

/** Whether the evaluation of the checkpoint's update is still to come. */
export const isUnfinished = ({ file }: Pick<CheckpointFile, 'file'>): boolean => file.endsWith(`${UNFINISHED}.safetensors`);

/** What the training process uses: files only, no database. */
export class CheckpointFiles {
  readonly #dataFolder: string;
  readonly #uid: string;

  constructor(dataFolder: string, runUid: string) {
    if (!/^[\w-]+$/.test(runUid)) throw new Error(`A run's uid has only letters, digits and dashes; found ${JSON.stringify(runUid)}`);
    this.#dataFolder = dataFolder;
    this.#uid = runUid;
  }

  /**
   * `write` puts a complete, flushed file at the path it is given (engine/checkpoint.ts does). A full disk shows as
   * ENOSPC, and earlier checkpoints are untouched. An unfinished one (training stopped inside an evaluation) has a name of its own:
   * the one that replaces it must not overwrite its file before its row.
   */
  save(update: number, write: (path: string) => void, unfinished = false): CheckpointFile {
    const file = `checkpoints/${this.#uid}/${String(update).padStart(8, '0')}${unfinished ? UNFINISHED : ''}.safetensors`;
    const path = this.path({ file });
    folderInside(this.#dataFolder, 'checkpoints', this.#uid);
    write(path);
    const data = readFileSync(path);
    return { update, file, sha256: sha256(data), bytes: data.byteLength };
  }

  path(checkpoint: Pick<CheckpointFile, 'file'>): string {
    return join(this.#dataFolder, ...checkpoint.file.split('/'));
  }
}

export class CheckpointStore {
  readonly #db: Connection;
  readonly #dataFolder: string;

  constructor(db: Connection, dataFolder: string) {
    this.#db = db;
    this.#dataFolder = dataFolder;
  }

  /** Records a file that is already durable. */
  add(run: number, checkpoint: CheckpointFile, kept: boolean): void {
    this.#db
      .prepare('INSERT OR REPLACE INTO checkpoints VALUES (?, ?, ?, ?, ?, ?, ?)')
      .run(run, checkpoint.update, checkpoint.file, checkpoint.sha256, checkpoint.bytes, kept ? 1 : 0, Date.now());
  }

  /** Oldest first. */
  list(run: number): Checkpoint[] {
    return this.#db.prepare<[number], Row>('SELECT * FROM checkpoints WHERE run_id = ? ORDER BY update_no').all(run).map(fromRow);
  }

  path(checkpoint: CheckpointFile): string {
    return join(this.#dataFolder, ...checkpoint.file.split('/'));
  }

  /** The newest checkpoint whose file is there and unaltered: where a run continues. */
  newestSound(run: number): Checkpoint | undefined {
    return this.list(run).findLast((checkpoint) => this.isSound(checkpoint));
  }

  /** Whether its file is there and unaltered. */
  isSound(checkpoint: CheckpointFile): boolean {
    const path = this.path(checkpoint);
    return existsSync(path) && statSync(path).size === checkpoint.bytes && sha256(readFileSync(path)) === checkpoint.sha256;
  }

  /** The file's content; throws when it was changed since. */
  readSound(checkpoint: CheckpointFile): Buffer {
    const path = this.path(checkpoint);
    const data = readFileSync(path);
    const found = sha256(data);
    if (found !== checkpoint.sha256)
      throw new Error(`${path} was changed or damaged: sha256 ${checkpoint.sha256} expected, ${found} found`);
    return data;
  }

  /** Removes rows after `lastUpdate`; their files go with the next `sweep`. */
  truncate(run: number, lastUpdate: number): void {
    this.#db.prepare('DELETE FROM checkpoints WHERE run_id = ? AND update_no > ?').run(run, lastUpdate);
  }

  /** Drops the rows of all but the newest `keep` checkpoints, the kept ones and the one with the best validation success. */
  prune(run: number, keep: number): void {
    this.#db
      .prepare(
        `DELETE FROM checkpoints WHERE run_id = ? AND kept = 0 AND update_no IS NOT (SELECT best_update FROM runs WHERE id = ?)
         AND update_no NOT IN (SELECT update_no FROM checkpoints WHERE run_id = ? ORDER BY update_no DESC LIMIT ?)`,
      )
      .run(run, run, run, keep);
  }

  keep(run: number, update: number): void {
    this.#db.prepare('UPDATE checkpoints SET kept = 1 WHERE run_id = ? AND update_no = ?').run(run, update);
  }

  /**
   * Deletes the files of a run that no row names (left by a crash or by pruning). While the run trains, files newer than
   * `before` are left alone: the next one may be under way. `run` is null when the run itself is gone. Returns how many.
   */
  sweep(runUid: string, run: number | null, before = Number.MAX_SAFE_INTEGER): number {
    const folder = join(this.#dataFolder, 'checkpoints', runUid);
    if (!existsSync(folder)) return 0;
    const named = new Set(run === null ? [] : this.list(run).map((checkpoint) => this.path(checkpoint)));
    const orphans = readdirSync(folder).filter((name) => {
      const update = /^\d+/.exec(name)?.[0];
      const old = before === Number.MAX_SAFE_INTEGER || (update !== undefined && Number(update) < before);
      return old && !named.has(join(folder, name));
    });
    for (const name of orphans) rmSync(join(folder, name), { force: true });
    if (run === null) rmSync(folder, { recursive: true, force: true });
    return orphans.length;
  }
}

/** Writes a file so that it is there completely or not at all, even when power is lost right after. */
export function writeDurably(path: string, data: Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true });
  const temporary = `${path}.${process.pid}.part`;
  try {
    const handle = openSync(temporary, 'w');
    try {
      for (let at = 0; at < data.byteLength;) at += writeSync(handle, data, at);
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  flushFolder(dirname(path));
}

/** Makes a rename survive a loss of power. Windows has no such call and needs none. */
function flushFolder(folder: string): void {
  if (process.platform === 'win32') return;
  const handle = openSync(folder, 'r');
  fsyncSync(handle);
  closeSync(handle);
}

function fromRow(row: Row): Checkpoint {
  return {
    run: row.run_id,
    update: row.update_no,
    file: row.file,
    sha256: row.sha256,
    bytes: row.bytes,
    kept: row.kept === 1,
    createdAt: row.created_at,
  };
}
