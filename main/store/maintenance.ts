// Housekeeping: what the data folder holds, emptying the trash, giving space back, and what a run will need on disk.

import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { databaseFile } from './database.ts';
import { freeBytes } from './disk-space.ts';
import type { RetentionSettings } from './retention.ts';
import type { Store } from './store.ts';
import { sweepUnfinished } from './unfinished-references.ts';

export interface StorageUse {
  readonly database: number;
  readonly checkpoints: number;
  readonly references: number;
  readonly backups: number;
  readonly free: number;
}

/** Bytes by kind, and what the disk has left. */
export function storageUse(store: Store): StorageUse {
  const file = databaseFile(store.dataFolder);
  return {
    database: [file, `${file}-wal`, `${file}-shm`].reduce((sum, path) => sum + (existsSync(path) ? statSync(path).size : 0), 0),
    checkpoints: folderBytes(join(store.dataFolder, 'checkpoints')),
    references: folderBytes(join(store.dataFolder, 'references')),
    backups: folderBytes(join(store.dataFolder, 'backups')),
    free: freeBytes(store.dataFolder),
  };
}

/** Deletes runs for good: only those in the trash. Their checkpoint files go with them, and what only they would have continued. Returns how many. */
export function purge(store: Store, ids?: readonly number[]): number {
  const trash = store.runs.list({ deleted: true }).filter((run) => ids === undefined || ids.includes(run.id));
  for (const run of trash) {
    store.write(() => store.db.prepare('DELETE FROM runs WHERE id = ? AND deleted_at IS NOT NULL').run(run.id));
    store.checkpoints.sweep(run.uid, null);
  }
  if (trash.length > 0) dropUnusedTexts(store);
  store.write(() => sweepUnfinished(store.db, store.dataFolder, store.catalog));
  return trash.length;
}

/**
 * Deletes the checkpoint files of runs that are not there: an import that was ended while it wrote leaves them behind. Inside a
 * transaction, because one that is still under way holds the lock until its runs are there. Returns how many folders.
 */
export function sweepStrayCheckpoints(store: Store): number {
  const folder = join(store.dataFolder, 'checkpoints');
  if (!existsSync(folder)) return 0;
  return store.write(() => {
    const stray = readdirSync(folder).filter((uid) => store.runs.findByUid(uid) === undefined);
    for (const uid of stray) rmSync(join(folder, uid), { recursive: true, force: true });
    return stray.length;
  });
}

/** Texts that no step points to any more. */
function dropUnusedTexts(store: Store): void {
  store.write(() => {
    store.db
      .prepare(
        `DELETE FROM texts WHERE id NOT IN (SELECT observation FROM steps UNION SELECT facts FROM steps UNION SELECT final_text FROM episodes)`,
      )
      .run();
    store.dictionary.forget();
  });
}

/** Gives freed space back to the disk. Needs as much free space as the database is large. */
export function vacuum(store: Store): { readonly before: number; readonly after: number } {
  const size = (): number => statSync(databaseFile(store.dataFolder)).size;
  store.db.pragma('wal_checkpoint(TRUNCATE)');
  const before = size();
  if (freeBytes(store.dataFolder) < before * 1.1) {
    throw new Error(
      `Compacting needs ${before} bytes of free space and there are ${freeBytes(store.dataFolder)}. Nothing was changed; free some space first.`,
    );
  }
  store.db.exec('VACUUM');
  store.db.pragma('wal_checkpoint(TRUNCATE)');
  return { before, after: size() };
}

/** Measured by `npm run bench -- store` (docs/STORE.md); a run's episodes replace them as soon as there are some. */
const TYPICAL = { bytesPerStep: 270, bytesPerPoint: 6.5 } as const;

export interface PlannedRun {
  readonly updates: number;
  readonly episodesPerUpdate: number;
  readonly stepsPerEpisode: number;
  readonly metrics: number;
  readonly evaluations: number;
  readonly tasksPerEvaluation: number;
  readonly vstarEpisodes: number;
  readonly checkpointBytes: number;
  readonly checkpointsKept: number;
}

export interface DiskEstimate {
  readonly episodes: number;
  readonly metrics: number;
  readonly checkpoints: number;
  readonly total: number;
}

/** What a run will take on disk, in bytes. `bytesPerStep` from `measuredBytesPerStep` where there is data of that world. */
export function estimate(plan: PlannedRun, retention: RetentionSettings, bytesPerStep: number = TYPICAL.bytesPerStep): DiskEstimate {
  const perUpdate = {
    all: plan.episodesPerUpdate,
    nth: plan.episodesPerUpdate / retention.every,
    'best-worst': Math.min(plan.episodesPerUpdate, retention.ends * 2),
    evaluation: 0,
  }[retention.keep];
  const kept = plan.updates * perUpdate + plan.evaluations * plan.tasksPerEvaluation + (retention.vstar ? plan.vstarEpisodes : 0);
  const episodes = kept * plan.stepsPerEpisode * bytesPerStep;
  const metrics = plan.updates * plan.metrics * TYPICAL.bytesPerPoint;
  const checkpoints = plan.checkpointBytes * plan.checkpointsKept;
  return { episodes, metrics, checkpoints, total: episodes + metrics + checkpoints };
}

/** Bytes that a step of the newest episodes of a world takes, tokens included; undefined without any. */
export function measuredBytesPerStep(store: Store, world: string): number | undefined {
  const row = store.db
    .prepare<[string], { bytes: number | null; steps: number | null }>(
      // A blob holds the tokens of one episode or of several; those that begin before the newest 500 are a negligible part.
      `SELECT sum(coalesce(length(t.data), 0) + length(e.actions) + 60) AS bytes, sum(e.steps) AS steps FROM
         (SELECT * FROM episodes WHERE run_id = (SELECT id FROM runs WHERE world = ? AND episodes > 0 ORDER BY id DESC LIMIT 1) ORDER BY id DESC LIMIT 500) e
       LEFT JOIN episode_tokens t ON t.episode_id = e.id`,
    )
    .get(world);
  // Beside the blob: the row of each step and its share of the texts, about 60 bytes as the benchmark measures.
  return row?.steps ? (row.bytes ?? 0) / row.steps + 60 : undefined;
}

function folderBytes(folder: string): number {
  if (!existsSync(folder)) return 0;
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}
