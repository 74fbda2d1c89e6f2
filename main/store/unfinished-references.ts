// What cloning leaves when it is stopped: kept for the run that will continue it, deleted when there is none.

import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { RunConfig } from '../config/config.ts';
import { referenceKey } from '../config/identity.ts';
import type { Worlds } from '../environment/registry.ts';
import { CheckpointError, readCheckpoint } from '../engine/runtime/checkpoint.ts';
import { UNFINISHED } from '../training/host.ts';
import type { Connection } from './database.ts';

/**
 * Deletes the files that no run is left to continue: one that has not come to its end, be it in the trash, with the same world, policy and
 * settings of the reference. Returns how many files.
 */
export function sweepUnfinished(db: Connection, dataFolder: string, catalog: Worlds): number {
  const folder = join(dataFolder, 'references');
  const files = existsSync(folder) ? readdirSync(folder).filter((file) => file.endsWith(UNFINISHED)) : [];
  if (files.length === 0) return 0;
  const wanted = wantedKeys(db, catalog);
  if (!wanted) return 0;
  const useless = files.map((file) => join(folder, file)).filter((path) => !mayContinue(path, wanted));
  for (const path of useless) rmSync(path, { force: true });
  return useless.length;
}

/** Keys of the references of all runs that have not come to their end; undefined where a config does not fit, which may need any. */
function wantedKeys(db: Connection, catalog: Worlds): ReadonlySet<string> | undefined {
  const sql = `SELECT config, config_fault AS fault FROM runs WHERE state <> 'done'`;
  const rows = db.prepare<[], { config: string; fault: string | null }>(sql).all();
  if (rows.some(({ fault }) => fault !== null)) return undefined;
  const configs = rows.map(({ config }): RunConfig => JSON.parse(config));
  return new Set(configs.map((config) => referenceKey(catalog, config)));
}

/** A file without a key may belong to any run; a damaged one to none. */
function mayContinue(path: string, wanted: ReadonlySet<string>): boolean {
  try {
    const { key } = readCheckpoint(path).notes;
    return key === undefined ? wanted.size > 0 : wanted.has(key);
  } catch (error) {
    if (error instanceof CheckpointError) return false;
    throw error;
  }
}
