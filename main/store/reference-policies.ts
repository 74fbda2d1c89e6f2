// Reference policies: made once from a recipe (world, tokenizer, model, demonstrations, seed), then found again by it.
// As with checkpoints, the weights file is on disk before the row exists.

import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { canonicalJson, parseCanonical, sha256 } from '../canonical.ts';
import { checkConfig, referenceKey } from '../config/config.ts';
import { CheckpointError, readCheckpoint } from '../engine/checkpoint.ts';
import { type ReferenceFile, UNFINISHED } from '../training/host.ts';
import type { Connection } from './database.ts';

export interface ReferencePolicy extends ReferenceFile {
  readonly createdAt: number;
}

interface Row {
  recipe: string;
  sha256: string;
  file: string;
  bytes: number;
  world: string;
  details: string;
  created_at: number;
}

export class ReferencePolicyStore {
  readonly #db: Connection;
  readonly #dataFolder: string;

  constructor(db: Connection, dataFolder: string) {
    this.#db = db;
    this.#dataFolder = dataFolder;
  }

  add(policy: ReferenceFile): void {
    this.#db
      .prepare('INSERT OR REPLACE INTO reference_policies VALUES (?, ?, ?, ?, ?, ?, ?)')
      .run(policy.recipe, policy.sha256, policy.file, policy.bytes, policy.world, canonicalJson(policy.details), Date.now());
  }

  /** The policy of a recipe, if its file is there and unaltered. */
  find(recipe: string): ReferencePolicy | undefined {
    const row = this.#db.prepare<[string], Row>('SELECT * FROM reference_policies WHERE recipe = ?').get(recipe);
    if (row === undefined) return undefined;
    const path = join(this.#dataFolder, ...row.file.split('/'));
    if (!existsSync(path) || sha256(readFileSync(path)) !== row.sha256) return undefined;
    return fromRow(row);
  }

  path(policy: Pick<ReferenceFile, 'file'>): string {
    return join(this.#dataFolder, ...policy.file.split('/'));
  }

  /** The file of a run's checkpoint, which another run takes for its reference. */
  checkpoint(run: number, update: number): string {
    const rows = this.#db
      .prepare<[number], { update_no: number; file: string }>('SELECT update_no, file FROM checkpoints WHERE run_id = ? ORDER BY update_no')
      .all(run);
    const row = rows.find((candidate) => candidate.update_no === update);
    if (row) return join(this.#dataFolder, ...row.file.split('/'));
    const kept = rows.map((candidate) => `${run}@${candidate.update_no}`).join(', ') || 'none';
    throw new Error(`There is no checkpoint ${run}@${update}. Checkpoints of run ${run}: ${kept}. Set reference.from to one of them`);
  }

  /**
   * Deletes what cloning left when it was stopped, where no run is left that would continue it: one that has not come to its end, be it in
   * the trash, with the same world, policy and settings of the reference. Returns how many files.
   */
  sweepUnfinished(): number {
    const folder = join(this.#dataFolder, 'references');
    const files = existsSync(folder) ? readdirSync(folder).filter((file) => file.endsWith(UNFINISHED)) : [];
    if (files.length === 0) return 0;
    const wanted = this.#wantedKeys();
    if (!wanted) return 0;
    const useless = files.map((file) => join(folder, file)).filter((path) => !mayContinue(path, wanted));
    for (const path of useless) rmSync(path, { force: true });
    return useless.length;
  }

  /** Keys of the references of all runs that have not come to their end; undefined where a config cannot be read, which may be any. */
  #wantedKeys(): ReadonlySet<string> | undefined {
    const rows = this.#db.prepare<[], { config: string }>(`SELECT config FROM runs WHERE state <> 'done'`).all();
    const keys = new Set<string>();
    for (const { config } of rows) {
      const { data } = checkConfig(parseCanonical(config));
      if (!data) return undefined;
      keys.add(referenceKey(data));
    }
    return keys;
  }

  list(): ReferencePolicy[] {
    return this.#db.prepare<[], Row>('SELECT * FROM reference_policies ORDER BY created_at DESC').all().map(fromRow);
  }
}

/** A file of before keys were noted may belong to any run; a damaged one to none. */
function mayContinue(path: string, wanted: ReadonlySet<string>): boolean {
  try {
    const { key } = readCheckpoint(path).notes;
    return key === undefined ? wanted.size > 0 : wanted.has(key);
  } catch (error) {
    if (error instanceof CheckpointError) return false;
    throw error;
  }
}

function fromRow(row: Row): ReferencePolicy {
  return {
    recipe: row.recipe,
    sha256: row.sha256,
    file: row.file,
    bytes: row.bytes,
    world: row.world,
    details: parseCanonical(row.details),
    createdAt: row.created_at,
  };
}
